"""A session's answer: the file that the task asked for, else the last message."""

from pathlib import Path
from typing import Final

from convoy.events.session_events import TaskStarted
from convoy.kinds import KINDS
from convoy.planner import ANSWER_CHARS
from runner.box.hostile_file import read_hostile

_BYTES: Final = 4 * ANSWER_CHARS


def answer(started: TaskStarted, folder: Path, said: str) -> str:
    """Return the answer, cut to the bot's limit, or "" if there is none.

    Args:
        started: the session.
        folder: the agent's, after it has ended; whatever lies there may be a trap.
        said: the agent's last message, redacted.
    """
    file = folder / (KINDS[started.kind].answer_file)
    written = read_hostile(file, _BYTES).decode(errors="replace").strip()
    return (written or said)[:ANSWER_CHARS]
