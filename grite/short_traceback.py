"""An exception as a few short lines: what it says, and where it happened.

Neither local variables nor lines of source are shown, whatever the exception holds: one
of them may be a token, and a service has no time to write megabytes.
"""

import logging
import sys
import traceback
from collections.abc import Iterator
from types import TracebackType
from typing import Final

from grite import git
from grite.errors import GitFailed

ExcInfo = (
    tuple[type[BaseException], BaseException, TracebackType | None]
    | tuple[None, None, None]
)

SAID_CHARS: Final = 300
FIRST_FRAMES: Final = 3
LAST_FRAMES: Final = 8
LINES: Final = 36
DEPTH: Final = 3
"""How many causes of an exception, and how many of a group, are told."""


LINE_CHARS: Final = 2_000
"""The most characters of what is logged beside an exception."""


class _ShortFormatter(logging.Formatter):
    """Writes log lines that are short and without secrets, whoever logs them."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802  its name
        record.message = short_line(record.message)
        return super().formatMessage(record)

    def formatException(self, ei: ExcInfo) -> str:  # noqa: N802  its name
        return "" if ei[1] is None else short_traceback(ei[1])


def log_warnings() -> None:
    """Send this process's warnings and errors to stderr, each short."""
    handler = logging.StreamHandler()
    handler.setFormatter(_ShortFormatter())
    logging.basicConfig(handlers=[handler], level=logging.WARNING)


def short_line(text: str) -> str:
    """Return the beginning of a text, without secrets."""
    return git.redacted(text[: 2 * LINE_CHARS])[:LINE_CHARS]


def short_traceback(error: BaseException) -> str:
    """Return at most `LINES` lines that tell an exception and its causes."""
    lines = list(_lines(error, DEPTH))
    if len(lines) > LINES:
        lines[LINES - 1 :] = ["..."]
    return "\n".join(lines)


def _lines(error: BaseException, depth: int) -> Iterator[str]:
    yield f"{type(error).__qualname__}: {said(error)}"
    if isinstance(error, GitFailed):
        yield f"    by: {short_line(' '.join(error.argv))}"
    yield from _frames(error)
    if depth == 0:
        return
    if isinstance(error, BaseExceptionGroup):
        for one in error.exceptions[:DEPTH]:
            yield from _told("one of the group", one, depth)
    cause = error.__cause__
    if cause is None and not error.__suppress_context__:
        cause = error.__context__
    if cause is not None:
        yield from _told("after", cause, depth)


def _told(how: str, error: BaseException, depth: int) -> Iterator[str]:
    first, *others = _lines(error, depth - 1)
    yield f"{how} {first}"
    yield from others


def said(error: BaseException) -> str:
    """Return what an exception says, in one short line without secrets."""
    try:
        # More is read than is shown: a secret that is cut would not be known as one.
        text = str(error)[: SAID_CHARS * 4]
    except Exception as broken:  # noqa: BLE001  an exception whose text cannot be made
        text = f"(its text cannot be read: {type(broken).__name__})"
    line = " ".join(git.redacted(text).split())
    return line if len(line) <= SAID_CHARS else f"{line[: SAID_CHARS - 1]}…"


def _frames(error: BaseException) -> Iterator[str]:
    """Give the first and the last frames, the innermost last."""
    frames = list(traceback.walk_tb(error.__traceback__))
    left_out = len(frames) - FIRST_FRAMES - LAST_FRAMES
    for number, (frame, line) in enumerate(frames):
        if FIRST_FRAMES <= number < FIRST_FRAMES + left_out:
            if number == FIRST_FRAMES:
                yield f"    ... {left_out} more"
            continue
        code = frame.f_code
        yield f"    {_place(code.co_filename)}:{line} in {code.co_qualname}"


def _place(file: str) -> str:
    """Return a file's path as modules are named, where it lies on Python's path."""
    folders = (each for each in sys.path if each and file.startswith(f"{each}/"))
    folder = max(folders, key=len, default=None)
    return file if folder is None else file.removeprefix(f"{folder}/")
