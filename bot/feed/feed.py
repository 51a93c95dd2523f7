"""One repository's feed: which sessions may use it, and what they sent."""

import hmac
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from bot.feed import tokens
from bot.feed.tape import Tape
from convoy import ids
from convoy.state import Attempt, State

KEPT_S: Final = 14 * 86_400
"""How long what a session printed is kept."""


def tape_file(folder: Path, session: str) -> Path:
    """Return where a bot in `folder` keeps what a session printed."""
    convoy, task, attempt = ids.parse_session(session)
    return folder / "feed" / convoy / f"{task}-{attempt}.jsonl"


class Feed:
    """What the running sessions of one repository send; for one event loop."""

    def __init__(
        self,
        folder: Path,
        repository: str,
        state: Callable[[], State],
        reader: str = "",
    ) -> None:
        """Serve a bot.

        Args:
            folder: the bot's own.
            repository: its full name.
            state: gives what the log says now.
            reader: the token of who may read; empty: nobody may.
        """
        self._reader = reader
        self._folder = folder
        self._repository = repository
        self._state = state
        self._key = tokens.key_of(folder)
        self._tapes: dict[str, Tape] = {}

    def admits(self, session: str, shown: str) -> bool:
        """Whether the token that was shown is the session's."""
        return tokens.fits(self._key, self._repository, session, shown)

    def shows(self, token: str) -> bool:
        """Whether who shows this token may read what sessions print."""
        wanted, given = self._reader.encode(), token.encode(errors="replace")
        return bool(wanted) and hmac.compare_digest(wanted, given)

    def attempt(self, session: str) -> Attempt | None:
        """Return the running attempt of that name; None: none such runs."""
        try:
            name, number, attempt = ids.parse_session(session)
        except ValueError:
            return None
        convoy = self._state().convoys.get(name)
        task = convoy.in_session(number) if convoy else None
        if task is None or task.attempt is None or task.attempt.number != attempt:
            return None
        return task.attempt

    def has(self, session: str) -> bool:
        """Whether anything of a session was kept, or may still come."""
        try:
            file = tape_file(self._folder, session)
        except ValueError:
            return False
        return file.exists() or self.attempt(session) is not None

    def tape(self, session: str) -> Tape:
        """Return what the session printed; begins it the first time."""
        tape = self._tapes.get(session)
        if tape is None:
            self._forget()
            tape = self._tapes[session] = Tape(tape_file(self._folder, session))
        return tape

    def _forget(self) -> None:
        """Let go of sessions that have ended, and of files that are old."""
        for session in [each for each in self._tapes if self.attempt(each) is None]:
            del self._tapes[session]
        oldest = time.time_ns() / 1e9 - KEPT_S
        for file in (self._folder / "feed").glob("*/*.jsonl"):
            if file.stat().st_mtime < oldest:
                file.unlink(missing_ok=True)
