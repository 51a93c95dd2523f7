"""The list of decisions, made from their titles."""

from pathlib import Path

HEAD = """\
# Decisions

What would be hard to take back, or was chosen against a good alternative. The newest
is the last; a later one may change what an earlier one says, and then names it.

"""


def page(folder: Path) -> str:
    """Return README.md of the folder: a line for each decision in it."""
    found = sorted(folder.glob("[0-9]*.md"))
    titles = [each.read_text("utf-8").split("\n", 1)[0][2:] for each in found]
    return HEAD + "".join(
        f"- [{title}]({each.name})\n" for title, each in zip(titles, found, strict=True)
    )
