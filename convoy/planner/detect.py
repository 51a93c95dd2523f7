"""Proposes the command that tests a project, judged by its files.

The first of this order wins: `make test`, pytest, `npm test`, `cargo test`, `go test`.
A Makefile with a `test` target is the project's own word on how all of its tests are
run. pytest stands before npm because a `package.json` beside a Python project mostly
builds its pages; cargo and go come last because they are conventions, and nobody had to
write them down.
"""

import json
import re
import tomllib
from collections.abc import Callable, Collection
from dataclasses import dataclass

Read = Callable[[str], str | None]
"""Gives a file's text by its path, None if it cannot be read."""

# The order in which GNU make looks for them.
# https://www.gnu.org/software/make/manual/html_node/Makefile-Names.html
_MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
_TARGETS = re.compile(r"(?P<names>[^\s#:=][^#:=]*?)\s*:(?![:=]*=)")
_TEST_FILE = re.compile(r"(?:(?:.*/)?tests?/(?:.*/)?)?(?:test_[^/]*|[^/]*_test)\.py")
# What `npm init` writes: https://docs.npmjs.com/cli/commands/npm-init
_NO_TEST = "no test specified"


@dataclass(frozen=True)
class Proposal:
    """A command and the reason for it."""

    command: str
    """The command as typed in a shell."""
    why: str
    """Half a sentence: what was found."""


def propose_ci(files: Collection[str], read: Read) -> Proposal | None:
    """Return the command that most likely runs the project's tests, None if unknown.

    Args:
        files: paths of the repository's files.
        read: called only with names at the top that are in `files`.
    """
    return next(iter(propose_all(files, read)), None)


def propose_all(files: Collection[str], read: Read) -> tuple[Proposal, ...]:
    """Return every command that may run the project's tests, the most likely first."""
    finders = (_make, _pytest, _npm, _cargo, _go)
    return tuple(filter(None, (finder(files, read) for finder in finders)))


def _make(files: Collection[str], read: Read) -> Proposal | None:
    for name in _MAKEFILES:
        if name in files:
            lines = (read(name) or "").splitlines()
            targets = (found for line in lines if (found := _TARGETS.match(line)))
            if any("test" in target["names"].split() for target in targets):
                return Proposal("make test", f"{name} has a target named test")
            return None
    return None


def _pytest(files: Collection[str], read: Read) -> Proposal | None:
    why = _pytest_settings(files, read)
    if not why:
        tests = sorted(name for name in files if _TEST_FILE.fullmatch(name))
        why = f"there is {tests[0]}" if tests else ""
    return Proposal("python -m pytest -q", why) if why else None


def _pytest_settings(files: Collection[str], read: Read) -> str:
    # https://docs.pytest.org/en/stable/reference/customize.html
    for name in ("pytest.ini", ".pytest.ini", "conftest.py"):
        if name in files:
            return f"there is {name}"
    for name, section in (("tox.ini", "[pytest]"), ("setup.cfg", "[tool:pytest]")):
        if name in files and section in (read(name) or "").splitlines():
            return f"{name} has {section}"
    if "pyproject.toml" in files and _names_pytest(read("pyproject.toml") or ""):
        return "pyproject.toml sets up pytest"
    return ""


def _names_pytest(pyproject: str) -> bool:
    try:
        tool = tomllib.loads(pyproject).get("tool")
    except (ValueError, RecursionError):  # other code reports this fault
        return False
    return isinstance(tool, dict) and "pytest" in tool


def _npm(files: Collection[str], read: Read) -> Proposal | None:
    if "package.json" not in files:
        return None
    try:
        package = json.loads(read("package.json") or "null")
    except (ValueError, RecursionError):
        return None
    scripts = package.get("scripts") if isinstance(package, dict) else None
    script = scripts.get("test") if isinstance(scripts, dict) else None
    if not isinstance(script, str) or not script.strip() or _NO_TEST in script:
        return None
    return Proposal("npm test", "package.json has a script named test")


def _cargo(files: Collection[str], _read: Read) -> Proposal | None:
    found = "Cargo.toml" in files
    return Proposal("cargo test", "there is Cargo.toml") if found else None


def _go(files: Collection[str], _read: Read) -> Proposal | None:
    found = "go.mod" in files
    return Proposal("go test ./...", "there is go.mod") if found else None
