"""The tests that failed, read from what a test runner printed. Pure.

The forms are those that the runners print by themselves, as in `tests/convoy/outputs`:
pytest, unittest, Jest, Vitest, Mocha, Node's runner, Go, Cargo, Maven and Gradle. Where
no test ran, the errors of compilers and linters are read instead.
"""

import re
from collections.abc import Iterator
from typing import Final

MOST: Final = 3
"""How many names a headline has."""
LINE_CHARS: Final = 200
_NAME: Final = re.compile(
    r"""^(?:
      (?:FAILED|ERROR|SUBFAIL(?:ED)?(?:\[.*?\])?(?:\(.*?\))?)
      [ ](?P<pytest>\S+\.py(?:::\S+?(?:\[.*\])?)?)(?:[ ]-[ ].*)?
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
      \S+\.\w+:\d+(?::\d+)?:[ ](?!warning|note|info)\S.*
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
      \[ERROR\][ ]*(?:\[Help[ ]|Re-run[ ]|To[ ]see[ ]the[ ]full|For[ ]more[ ]info|$)
    | npm[ ](?:ERR!|error)[ ](?:A[ ]complete[ ]log|[ ]|$) | npm[ ]notice
    | BUILD[ ]FAILED[ ]in[ ] | \d+[ ]actionable[ ]tasks?:
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
    return tuple(dict.fromkeys(_names(text)))


def headline(text: str) -> str:
    """Return one line that says what failed: the tests, else the last line that tells.

    Returns:
        "" where the text has no word.
    """
    names = failing_tests(text) or errors(text)
    if not names:
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        news = [line for line in lines if not _NO_NEWS.match(line)]
        telling = [line for line in news if _TELLS.search(line)]
        others = [line for line in news if not _SETTING.match(line)]
        found = (each[-1] for each in (telling, others, news, lines) if each)
        return next(found, "")[:LINE_CHARS]
    shown = ", ".join(name[:LINE_CHARS] for name in names[:MOST])
    more = f", and {len(names) - MOST} more" if len(names) > MOST else ""
    return f"{shown}{more}"


def errors(text: str) -> tuple[str, ...]:
    """Return the errors of compilers that a clean text names, each once."""
    return tuple(dict.fromkeys(_ERROR.findall(text)))


def _names(text: str) -> Iterator[str]:
    is_mocha = _MOCHA.search(text) is not None
    for line in text.splitlines():
        found = _NAME.match(line.rstrip()) if len(line) < 10 * LINE_CHARS else None
        if found is None or _TAIL.search(line):
            continue
        if found.lastgroup == "mocha" and not is_mocha:
            continue
        yield (found[found.lastgroup or 0]).strip()
