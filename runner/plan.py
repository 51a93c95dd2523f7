"""What a session answers: the file it was asked for, else its last words."""

import os
import stat
from pathlib import Path
from typing import Final

from convoy.events import TaskStarted
from convoy.planner import ANSWER_CHARS, FILE, REPLY

_BYTES: Final = 4 * ANSWER_CHARS


def answer(started: TaskStarted, folder: Path, said: str) -> str:
    """Return the answer, cut to what the bot takes; empty: there is none.

    Args:
        started: the session.
        folder: the agent's, after it has ended; whatever lies there may be a trap.
        said: the agent's last message, redacted.
    """
    file = folder / (FILE if started.kind == "plan" else REPLY)
    return (_written(file) or said)[:ANSWER_CHARS]


def _written(file: Path) -> str:
    try:
        # Never a link to somewhere else, and no pipe that nobody writes to.
        number = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return ""
    with os.fdopen(number, "rb") as source:
        if not stat.S_ISREG(os.fstat(number).st_mode):
            return ""
        return source.read(_BYTES).decode(errors="replace").strip()
