"""The patterns there are: those of a repository, and those that brat brings along."""

from collections.abc import Callable, Collection
from importlib import resources
from typing import Final

from convoy.patterns import PatternError
from convoy.patterns.template import NAME, Template, template
from convoy.text.nearest import did_you_mean
from convoy.text.plaintext import clean, cut

FOLDER: Final = ".brat/workflows/"
NONE: Final = "none"
"""Whoever says so wants no pattern, whatever is configured."""
BUILT_IN: Final = (
    *("writer-reviewer", "tdd", "scout", "architect-builder", "debate", "best-of"),
    *("research", "understanding", "maintenance", "spec"),
)
"""In the order of the list; each a file of this package."""


def own(files: Collection[str]) -> dict[str, str]:
    """Return the file of each pattern that a repository brings, by name.

    Args:
        files: paths of a commit.
    """
    found: dict[str, str] = {}
    for file in sorted(files):
        name, _, ending = file.removeprefix(FOLDER).partition(".")
        if not file.startswith(FOLDER) or ending not in ("yml", "yaml"):
            continue
        if NAME.fullmatch(name) and name != NONE:
            found.setdefault(name, file)
    return found


def named(name: str, files: Collection[str], text_of: Callable[[str], str]) -> Template:
    """Return a pattern by its name; a repository's own goes before brat's.

    Args:
        name: as somebody said it.
        files: paths of a commit, at least those in FOLDER.
        text_of: reads one of them.

    Raises:
        PatternError: there is none of that name, or it has faults.
    """
    ours = own(files)
    if name in ours:
        return template(text_of(ours[name]), name, ours[name])
    if name in BUILT_IN:
        return built_in(name)
    known = sorted({*ours, *BUILT_IN})
    raise PatternError(
        f'there is no pattern "{cut(clean(name), 60)}"; there are {", ".join(known)}'
        f"{did_you_mean(name, known)}"
    )


def built_in(name: str) -> Template:
    """Return one of brat's own."""
    return template(built_in_text(name), name, f"{name}.yml")


def built_in_text(name: str) -> str:
    """Return the file of one of brat's own."""
    file = resources.files("convoy.patterns") / "builtin" / f"{name}.yml"
    return file.read_text("utf-8")
