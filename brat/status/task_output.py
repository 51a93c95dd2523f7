"""A session's output on this machine: live from the feed, whole from its job's log.

The runner has redacted it; this module removes control codes, for it goes to screens.
"""

import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bot.door.feed import pieces_in, tape_file
from brat.forge.service.run_processes import Place
from brat.repository.registration import BOT_FOLDER, FORGE_FOLDER
from convoy.model import ids
from convoy.model.state import Convoy, Task
from convoy.text import clean

LOOK_S: Final = 0.3
PATIENCE_S: Final = 3.0
"""How long a session's first output may take to reach the feed."""
LAST_BYTES: Final = 64 * 1024
"""How many bytes of the output's end people see at first."""
Running = Callable[[], bool]
"""Whether the session still runs."""
_COMMAND: Final = re.compile(r"^::[^\n]*\n?", re.MULTILINE)
"""Workflow commands, such as the marks around an agent's words."""


@dataclass(frozen=True)
class Printed:
    """The files of one session's output; either may be missing."""

    tape: Path
    """The output that the session sent while it ran."""
    log: Path
    """The job's log: complete once the job has ended."""

    def last(self, *, running: bool) -> str:
        """Return the end of the output so far; empty: there is none."""
        if self._is_live(running=running):
            return shown("".join(_texts(_end_of(self.tape))))
        return shown(_end_of(self.log).decode(errors="replace"))

    def follow(self, running: Running) -> Iterator[str]:
        """Yield the output from its beginning until the session has ended."""
        until = time.monotonic() + PATIENCE_S
        while running() and not self.tape.exists() and time.monotonic() < until:
            time.sleep(LOOK_S)
        if self._is_live(running=running()):
            return _followed_tape(self.tape, running)
        return _followed_log(self.log, running)

    def _is_live(self, *, running: bool) -> bool:
        return self.tape.exists() and (running or not self.log.exists())


def of(folder: Path, convoy: Convoy, task: Task) -> Printed:
    """Return the files of the output of a task's newest session."""
    session = ids.session_name(convoy.name, task.number, task.started)
    return of_session(folder, session, task.newest_run or 0)


def of_session(folder: Path, session: str, run: int) -> Printed:
    """Return the files of one session's output."""
    place = Place(folder / FORGE_FOLDER / "runs" / str(run))
    return Printed(tape=tape_file(folder / BOT_FOLDER, session), log=place.log)


def shown(text: str) -> str:
    """Return output as people may see it. Pure."""
    return clean(_COMMAND.sub("", text))


def _end_of(file: Path) -> bytes:
    """Return the last bytes of a file, starting at the beginning of a line."""
    try:
        with file.open("rb") as source:
            start = max(0, file.stat().st_size - LAST_BYTES)
            source.seek(start)
            data = source.read()
    except FileNotFoundError:
        return b""
    return data.partition(b"\n")[2] if start else data


def _texts(data: bytes) -> Iterator[str]:
    return (piece.text for piece in pieces_in(data))


def _followed_tape(tape: Path, running: Running) -> Iterator[str]:
    """Yield the pieces by number: a shorter file may replace this one."""
    last = -1
    while True:
        ended = not running()
        for piece in pieces_in(tape.read_bytes()):
            if piece.number > last:
                last = piece.number
                yield shown(piece.text)
        if ended:
            return
        time.sleep(LOOK_S)


def _followed_log(log: Path, running: Running) -> Iterator[str]:
    place = 0
    while True:
        ended = not running()
        if log.exists():
            with log.open("rb") as source:
                source.seek(place)
                chunk = source.read()
            whole = chunk.rpartition(b"\n")[0] + b"\n" if b"\n" in chunk else b""
            whole = chunk if ended else whole
            place += len(whole)
            if whole:
                yield shown(whole.decode(errors="replace"))
        if ended:
            return
        time.sleep(LOOK_S)
