"""The places in files where tests failed, read from what a test runner printed. Pure.

Only paths inside the repository count: an absolute path is the machine's own.
"""

import re
from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from convoy.text.failing_tests import LINE_CHARS, failing_tests

MOST: Final = 10
"""How many places are named at most."""
_LINE: Final = 10 * LINE_CHARS
_BEFORE: Final = re.compile(
    r"[ \t]*(?:at (?:.* \()?|\u276f |--> |thread .* panicked at )?(?:\./)?"
)
"""What stands before a place: in Jest, Mocha, Vitest, of rustc and a panic of Rust."""
_PLACE: Final = re.compile(
    r"(?P<path>(?:[\w@+.-]+/)*[\w@+.-]+\.[A-Za-z]\w*):(?P<line>\d{1,9})(?::\d+)?"
    r"(?:\)|:|: (?P<says>.*))?$"
)
"""What pytest, Go, compilers and linters print of a place."""
_EXPLAINED: Final = re.compile(r"E {3}(?P<says>\S.*)$")
"""How pytest begins the lines that explain a failure; its place follows."""
_FOREIGN: Final = frozenset({"..", "node_modules", "site-packages", ".venv", "vendor"})


class Place(Struct, frozen=True):
    """A line of a file, and what is wrong there."""

    path: str
    """From the repository's top, with slashes."""
    line: int
    """From 1; where only the file is known, 1."""
    says: str


def failing_places(text: str) -> tuple[Place, ...]:
    """Return where tests failed or errors stand in a clean text, each line once.

    Where no line names a place, the files of the tests that failed are returned.
    """
    names = failing_tests(text)
    says = names[0] if names else "it failed here"
    found = {(one.path, one.line): one for one in _places(text, says)}
    if not found:
        files = ((name.partition("::")[0], name) for name in names if "::" in name)
        found = {(path, 1): Place(path, 1, name) for path, name in files if _own(path)}
    return tuple(found.values())[:MOST]


def _places(text: str, says: str) -> Iterator[Place]:
    explained = ""
    for whole in text.splitlines():
        line = whole[:_LINE].rstrip()
        if told := _EXPLAINED.match(line):
            explained = explained or told["says"]
        before = _BEFORE.match(line)
        found = _PLACE.match(line, before.end() if before else 0)
        if found and _own(found["path"]):
            what = explained or (found["says"] or "").strip() or says
            yield Place(found["path"], max(1, int(found["line"])), what)
            explained = ""


def _own(path: str) -> bool:
    """Whether a path is of a file that the repository may hold."""
    return not path.startswith("/") and _FOREIGN.isdisjoint(path.split("/"))
