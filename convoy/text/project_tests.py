"""A project's tests: the command that runs them, and what failed in its output.

The forms are those that the runners print by themselves, as in `tests/convoy/outputs`:
pytest, unittest, Jest, Vitest, Mocha, Node's runner, Go, Cargo, Maven and Gradle. Where
no test ran, the errors of compilers and linters are read instead. Only paths inside the
repository count as places: an absolute path is the machine's own.

Of the commands that its files propose the first of this order wins: `make test`,
pytest, `npm test`, cargo, go, Maven, Gradle, `make check`. A Makefile with a `test`
target is the project's own word on how all of its tests are run. pytest stands before
npm because a `package.json` beside a Python project mostly builds its pages; the others
come last because they are conventions, and nobody had to write them down; `make check`
is often no more than a linter.
"""

import json
import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Final

from msgspec import Struct

from convoy.text.strangers_data import TooMuch, toml_table

HEADLINE_NAMES: Final = 3
TEST_LINE_CHARS: Final = 200
_NAME: Final = re.compile(
    r"""^(?:
      (?:FAILED|ERROR|SUBFAIL(?:ED)?(?:\[.*?\](?=[ (]))?+(?:\(.*?\)(?=[ ]))?+)
      [ ](?P<pytest>\S+\.py(?:::[^\s\[]++(?:\[.*\]|\[\S*)?)?)(?:[ ]-[ ].*)?
    | (?:FAIL|ERROR):[ ](?P<unittest>\w+[ ]\([\w.]+\)(?:[ ]\(.*\))?)
    | [ ]{2}●[ ](?P<jest>.+)
    | [ ]?FAIL[ ]{1,2}(?P<vitest>\S+[ ]>[ ].+)
    | [ ]*not[ ]ok[ ]\d+[ ]-[ ](?P<tap>.+)
    | [ ]*✖[ ](?P<node>.+?)[ ]\([\d.]+ms\)
    | [ ]{4,}\d+\)[ ](?P<mocha>.+)
    | [ ]*---[ ]FAIL:[ ](?P<go>\S+)[ ]\([\d.]+s\)
    | test[ ](?P<cargo>\S.*?)[ ]\.\.\.[ ]FAILED
    | (?P<cargo_quiet>\S.*?)[ ]---[ ]FAILED
    | \[ERROR\][ ]{2,3}(?P<maven>\w[\w.]*:\d+.*)
    | (?P<gradle>\w[\w.$]*[ ]>[ ].+)[ ]FAILED
    )$""",
    re.VERBOSE,
)
_ERROR: Final = re.compile(
    r"""^(?:
      \S+\.\w+:\d+(?::\d+)?:[ ](?!warning|note|info|\w*Warning:)\S.*
    | \S+\.\w+\(\d+,\d+\):[ ]error[ ].+
    | error\[E\d+\]:[ ].+
    | ✖[ ]{3}\S.*[ ]\[[a-z-]+\]
    )$""",
    re.VERBOSE | re.MULTILINE,
)
"""What compilers say of a place: C, Go, linters and others, TypeScript, Rust; and
what commitlint says of a message.
"""
_NO_NEWS: Final = re.compile(
    r"""
      \[ERROR\][ >-]*(?:\[Help[ ]|Re-run[ ]|To[ ]see[ ]the[ ]full|For[ ]more[ ]info|$)
    | npm[ ](?:ERR!|error)[ ](?:A[ ]complete[ ]log|[ ]|$) | npm[ ]notice
    | BUILD[ ]FAILED[ ]in[ ] | \d+[ ]actionable[ ]tasks?:
    | \#[ ](?:cancelled|skipped|todo|duration_ms)[ ]\d
    | Node\.js[ ]v\d | evaluation[ ]failed[ ]: | info[ ]Visit[ ]
    """,
    re.VERBOSE,
)
"""What Maven, npm, Gradle, Node, tox and Yarn say at last, whatever failed."""
_MOCHA: Final = re.compile(r"^[ ]{2}\d+ failing$", re.MULTILINE)
"""Mocha's sum: without it, a number with a bracket is an item of somebody's list."""
_TELLS: Final = re.compile(
    r"\b(?:\w*error|fatal|\w*exception|failed|assert\w*|cannot|can't|not found|denied"
    r"|refused|no such)\b(?!:? 0\b)",
    re.IGNORECASE,
)
_SETTING: Final = re.compile(r"[A-Za-z_]\w*=")
"""A line by which somebody shows a variable."""
_TAIL: Final = re.compile(r"[ ]*(?:# (?:SKIP|TODO)\b.*)$")


def failing_tests(text: str) -> tuple[str, ...]:
    """Return the failing tests that a clean text names, each once, in its order."""
    is_mocha = _MOCHA.search(text) is not None
    names: dict[str, None] = {}
    for line in text.splitlines():
        found = _NAME.match(line.rstrip()) if len(line) < 10 * TEST_LINE_CHARS else None
        if found is None or _TAIL.search(line):
            continue
        if found.lastgroup != "mocha" or is_mocha:
            names[(found[found.lastgroup or 0]).strip()] = None
    return tuple(names)


def headline(text: str) -> str:
    """Return one line that says what failed: the tests, else the last line that tells.

    Empty: the text has no word.
    """
    names = failing_tests(text) or compiler_errors(text)
    if not names:
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        news = [line for line in lines if not _NO_NEWS.match(line)]
        telling = [line for line in news if _TELLS.search(line)]
        others = [line for line in news if not _SETTING.match(line)]
        found = (each[-1] for each in (telling, others, news, lines) if each)
        return next(found, "")[:TEST_LINE_CHARS]
    shown = ", ".join(name[:TEST_LINE_CHARS] for name in names[:HEADLINE_NAMES])
    more = len(names) - HEADLINE_NAMES
    return f"{shown}, and {more} more" if more > 0 else shown


def compiler_errors(text: str) -> tuple[str, ...]:
    """Return the errors of compilers that a clean text names, each once."""
    return tuple(dict.fromkeys(_ERROR.findall(text)))


MOST_PLACES: Final = 10
_LINE: Final = 10 * TEST_LINE_CHARS
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


class FailingPlace(Struct, frozen=True):
    path: str
    """From the repository's top, with slashes."""
    line: int
    """From 1; where only the file is known, 1."""
    says: str


def failing_places(text: str) -> tuple[FailingPlace, ...]:
    """Return where tests failed or errors stand in a clean text, each line once.

    Where no line names a place, the files of the tests that failed are returned.
    """
    names = failing_tests(text)
    says = names[0] if names else "it failed here"
    found: dict[tuple[str, int], FailingPlace] = {}
    explained = ""
    for whole in text.splitlines():
        line = whole[:_LINE].rstrip()
        if told := _EXPLAINED.match(line):
            explained = explained or told["says"]
        before = _BEFORE.match(line)
        place = _PLACE.match(line, before.end() if before else 0)
        if place and _own(place["path"]):
            what = explained or (place["says"] or "").strip() or says
            path, number = place["path"], max(1, int(place["line"]))
            found[path, number] = FailingPlace(path, number, what)
            explained = ""
    if not found:
        files = ((name.partition("::")[0], name) for name in names if "::" in name)
        found = {
            (path, 1): FailingPlace(path, 1, name) for path, name in files if _own(path)
        }
    return tuple(found.values())[:MOST_PLACES]


def _own(path: str) -> bool:
    """Whether a path is of a file that the repository may hold."""
    return not path.startswith("/") and _FOREIGN.isdisjoint(path.split("/"))


TextOf = Callable[[str], str | None]
"""Gives a file's text by its path, None if it cannot be read."""

# The order in which GNU make looks for them.
# https://www.gnu.org/software/make/manual/html_node/Makefile-Names.html
_MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
_TARGETS = re.compile(r"(?P<names>[^\s#:=][^#:=]*):(?![:=]*=)")
_TEST_FILE = re.compile(r"(?:(?=(?:.*/)?tests?/).*/)?(?:test_[^/]*|[^/]*_test)\.py")
_BY_FILE = (
    *(("Cargo.toml", "cargo test"), ("go.mod", "go test ./...")),
    *(("mvnw", "./mvnw -q verify"), ("pom.xml", "mvn -q verify")),
    *(("gradlew", "./gradlew check"), ("build.gradle", "gradle check")),
    ("build.gradle.kts", "gradle check"),
)
# What `npm init` writes: https://docs.npmjs.com/cli/commands/npm-init
_NO_TEST = "no test specified"


@dataclass(frozen=True)
class Proposal:
    command: str
    """The command as typed in a shell."""
    why: str
    """Half a sentence: what was found."""


def propose_ci(files: Collection[str], read: TextOf) -> Proposal | None:
    """Return the command that most likely runs the project's tests, None if unknown.

    `read` is called only with names at the top that are in `files`.
    """
    return next(iter(propose_all(files, read)), None)


def propose_all(files: Collection[str], read: TextOf) -> tuple[Proposal, ...]:
    """Return every command that may run the project's tests, the most likely first."""
    found = [finder(files, read) for finder in (_make, _pytest, _npm)]
    found += [Proposal(run, f"{at} exists") for at, run in _BY_FILE if at in files]
    found.append(_make(files, read, "check"))
    return tuple(filter(None, found))


def _make(
    files: Collection[str], read: TextOf, wanted: str = "test"
) -> Proposal | None:
    for name in _MAKEFILES:
        if name in files:
            lines = (read(name) or "").splitlines()
            targets = (found for line in lines if (found := _TARGETS.match(line)))
            if any(wanted in target["names"].split() for target in targets):
                return Proposal(f"make {wanted}", f"{name} has a target named {wanted}")
            return None
    return None


def _pytest(files: Collection[str], read: TextOf) -> Proposal | None:
    why = _pytest_settings(files, read)
    if not why:
        tests = sorted(name for name in files if _TEST_FILE.fullmatch(name))
        why = f"{tests[0]} exists" if tests else ""
    return Proposal("python -m pytest -q", why) if why else None


def _pytest_settings(files: Collection[str], read: TextOf) -> str:
    # https://docs.pytest.org/en/stable/reference/customize.html
    for name in ("pytest.ini", ".pytest.ini", "conftest.py"):
        if name in files:
            return f"{name} exists"
    for name, section in (("tox.ini", "[pytest]"), ("setup.cfg", "[tool:pytest]")):
        if name in files and section in (read(name) or "").splitlines():
            return f"{name} has {section}"
    text = (read("pyproject.toml") if "pyproject.toml" in files else "") or ""
    try:
        tool = toml_table(text).get("tool")
    except (TooMuch, ValueError, RecursionError):  # other code reports this fault
        return ""
    has_pytest = isinstance(tool, dict) and "pytest" in tool
    return "pyproject.toml configures pytest" if has_pytest else ""


def _npm(files: Collection[str], read: TextOf) -> Proposal | None:
    if "package.json" not in files:
        return None
    try:
        package = json.loads((read("package.json") or "null").removeprefix("\ufeff"))
    except (ValueError, RecursionError):
        return None
    scripts = package.get("scripts") if isinstance(package, dict) else None
    script = scripts.get("test") if isinstance(scripts, dict) else None
    if not isinstance(script, str) or not script.strip() or _NO_TEST in script:
        return None
    return Proposal("npm test", "package.json has a script named test")
