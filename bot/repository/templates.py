"""Reads the plan templates that a commit holds."""

from pathlib import Path

from convoy.patterns import MOST_BYTES, PATTERNS_FOLDER, Template, named_pattern
from grite import git


def template_at(path: Path, commit: str, name: str) -> Template:
    """Return a pattern by its name; blocking.

    Args:
        path: the repository, bare or not.
        commit: one of its commits; a repository's own patterns are read from it.
        name: the pattern's name, as a person typed it.

    Raises:
        PatternError: no pattern has that name, or it has faults.
    """
    return named_pattern(
        name, files_in(path, commit), lambda file: text_at(path, commit, file)
    )


def files_in(path: Path, commit: str) -> tuple[str, ...]:
    """Return the files in the folder of templates, without those in its subfolders."""
    found = git.run(
        ["ls-tree", "-z", "--name-only", commit, "--", PATTERNS_FOLDER], cwd=path
    )
    names = found.stdout.decode(errors="replace").split("\0")
    return tuple(filter(None, names))


def text_at(path: Path, commit: str, file: str) -> str:
    """Return a template's text, cut to one byte more than a template may have."""
    found = git.run(["cat-file", "blob", f"{commit}:{file}"], cwd=path)
    return found.stdout[: MOST_BYTES + 1].decode(errors="replace")
