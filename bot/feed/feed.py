"""One repository's feed: which sessions may use it, and what they sent."""

import asyncio
import hmac
import os
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

from bot.feed import tokens
from bot.feed.origin import Origin, claims_of
from bot.feed.tape import Tape, pieces_in
from convoy import ids
from convoy.commands import NoteHeard
from convoy.state import Attempt, Message, State
from convoy.text.plaintext import clean

LOOK_S: Final = 0.2
SILENT_S: Final = 60.0
"""A witness that has not asked for messages for so long is gone."""
LAST_BYTES: Final = 64 * 1024
"""How much of the end of what a session printed people are shown."""
KEPT_S: Final = 14 * 86_400
"""How long what a session printed is kept."""


def tape_file(folder: Path, session: str) -> Path:
    """Return where a bot in `folder` keeps what a session printed."""
    convoy, task, attempt = ids.parse_session(session)
    return folder / "feed" / convoy / f"{task}-{attempt}.jsonl"


def checkpoint_file(folder: Path, session: str) -> Path:
    """Return where a bot in `folder` keeps a session's newest checkpoint."""
    return tape_file(folder, session).with_suffix(".bundle")


def last_of(folder: Path, session: str) -> str:
    """Return the end of what a session printed, as people may see it; empty: nothing.

    Args:
        folder: of the bot that keeps it.
        session: its name.
    """
    try:
        data = tape_file(folder, session).read_bytes()
    except (FileNotFoundError, ValueError):
        return ""
    return clean("".join(piece.text for piece in pieces_in(data[-LAST_BYTES:])))


class Feed:
    """What the running sessions of one repository send; for one event loop."""

    def __init__(
        self,
        folder: Path,
        repository: str,
        state: Callable[[], State],
        reader: str = "",
        news: Callable[[], None] = lambda: None,
        origin: Callable[[], Origin | None] = lambda: None,
    ) -> None:
        """Serve a bot.

        Args:
            folder: the bot's own.
            repository: its full name.
            state: gives what the log says now.
            reader: the token of who may read; empty: nobody may.
            news: is called when `owed` has something new.
            origin: gives where the jobs of sessions come from, if the forge vouches
                for them.
        """
        self._origin = origin
        self._reader = reader
        self._folder = folder
        self._repository = repository
        self._state = state
        self._key = tokens.key_of(folder)
        self._news = news
        self._tapes: dict[str, Tape] = {}
        self._ears: dict[str, float] = {}
        self._heard: dict[str, int] = {}

    def admits(self, session: str, shown: str) -> bool:
        """Whether the token that was shown is the session's."""
        return tokens.fits(self._key, self._repository, session, shown)

    def token(self, session: str) -> str:
        """Return the token of a session: for its job alone."""
        return tokens.token_of(self._key, self._repository, session)

    def claims(self, session: str) -> Mapping[str, str] | None:
        """Return what the forge says of a running session's job; None: not known."""
        attempt, origin = self.attempt(session), self._origin()
        if attempt is None or attempt.run is None or origin is None:
            return None
        return claims_of(origin, attempt.run)

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

    async def messages(
        self, session: str, after: int, wait_s: float
    ) -> tuple[Message, ...]:
        """Return what people said to a running session after so many messages.

        Waits so long for one. Who asks has an engine that takes messages.
        """
        until = time.monotonic() + wait_s
        while (attempt := self.attempt(session)) is not None:
            self._ears[session] = time.monotonic()
            if new := attempt.messages[after:]:
                return new
            if time.monotonic() >= until:
                break
            await asyncio.sleep(LOOK_S)
        return ()

    def listens(self, session: str) -> bool:
        """Whether a session's engine takes messages, and its witness asked just now."""
        asked = self._ears.get(session)
        return asked is not None and time.monotonic() - asked < SILENT_S

    def note_heard(self, session: str, messages: int) -> None:
        """Let the log say how many messages the session's engine was given."""
        attempt = self.attempt(session)
        if attempt is None or not attempt.heard < messages <= len(attempt.messages):
            return
        if self._heard.get(session) != messages:
            self._heard[session] = messages
            self._news()

    def owed(self) -> Iterator[NoteHeard]:
        """Give what the log does not say yet; what it says already is forgotten."""
        for session, messages in list(self._heard.items()):
            attempt = self.attempt(session)
            if attempt is None or attempt.heard >= messages:
                del self._heard[session]
                continue
            convoy, task, number = ids.parse_session(session)
            yield NoteHeard(convoy=convoy, task=task, attempt=number, messages=messages)

    def keep(self, session: str, bundle: bytes) -> None:
        """Keep a session's checkpoint in the place of an earlier one; blocking.

        Whatever happens meanwhile, one of the two is there, whole.

        Raises:
            OSError: there is no room for it.
        """
        file = checkpoint_file(self._folder, session)
        file.parent.mkdir(parents=True, exist_ok=True)
        beside = file.with_suffix(".part")
        with beside.open("wb") as unfinished:
            unfinished.write(bundle)
            unfinished.flush()
            os.fsync(unfinished.fileno())
        beside.replace(file)

    def kept(self, session: str) -> bytes:
        """Return a session's newest checkpoint, unchecked; empty: there is none."""
        try:
            return checkpoint_file(self._folder, session).read_bytes()
        except OSError:
            return b""

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
            self.forget()
            tape = self._tapes[session] = Tape(tape_file(self._folder, session))
        return tape

    def forget(self) -> None:
        """Let go of sessions that have ended, and of files that are old."""
        for session in [each for each in self._tapes if self.attempt(each) is None]:
            del self._tapes[session]
            self._ears.pop(session, None)
        for file in (self._folder / "feed").glob("*/*.[bp]*"):  # .bundle, .part
            session = f"{file.parent.name}/{file.stem.replace('-', '/')}"
            if self.attempt(session) is None:
                file.unlink(missing_ok=True)
        oldest = time.time_ns() / 1e9 - KEPT_S
        for file in (self._folder / "feed").glob("*/*.jsonl"):
            if file.stat().st_mtime < oldest:
                file.unlink(missing_ok=True)
