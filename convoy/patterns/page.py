"""The table of brat's own patterns in docs/workflows.md, made from their files.

`python -m convoy.patterns.page docs` writes it; a test fails while it is not right.
"""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from convoy.patterns.registry import BUILT_IN, built_in
from convoy.text.generated import remade

BEGIN: Final = "<!-- patterns: made by python -m convoy.patterns.page docs -->\n"
END: Final = "<!-- end of patterns -->\n"


def table() -> str:
    """Return the patterns as a Markdown table."""
    rows = ["| pattern | what it is for | inputs |", "|---|---|---|"]
    for name in BUILT_IN:
        inputs = ", ".join(_inputs(name)) or "none"
        rows.append(f"| `{name}` | {built_in(name).description} | {inputs} |")
    return "".join(f"{row}\n" for row in rows)


def _inputs(name: str) -> Iterator[str]:
    for key, each in built_in(name).inputs.items():
        default = f" (`{each.default}`)" if each.default else ""
        needed = " (must be given)" if each.default is None else default
        yield f"`{key}`{needed}: {each.description}"


def with_table(page: str) -> str:
    """Return the page with the table between its two marks made anew.

    Raises:
        ValueError: a mark is missing.
    """
    return remade(page, BEGIN, END, table())


def main(argv: Sequence[str]) -> int:
    """Write the page in the folder that `argv` names; safe to call twice."""
    page = Path(argv[0]) / "workflows.md"
    page.write_text(with_table(page.read_text("utf-8")), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
