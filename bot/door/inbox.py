"""What deliveries asked for, kept until the log holds what it led to.

One file a request, written beside and renamed into place before the delivery is
answered, so that a text is frozen as it was signed even if the bot dies at once.
A folder, not a queue: the loop reads all of it each tick, and twice is once.
"""

import errno
import os
import re
from contextlib import suppress
from datetime import datetime
from itertools import count
from pathlib import Path
from threading import Lock
from time import time_ns
from typing import Final, Literal

import msgspec

_NAME = re.compile(r"[0-9A-Za-z-]{1,64}")
_numbers = count()
_STALE_NS: Final = 3_600 * 10**9
"""What is unfinished for so long was left by a process that died."""


Trigger = Literal["label", "mention", "assignee", "schedule"]
"""What was done to the issue: it got the label, it names the bot, the bot got it, or
the bot itself opened it when its time came."""


class Request(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag="labelled"
):
    """Somebody asks for a convoy; the issue's text is as it was at that moment."""

    issue: int
    title: str
    text: str
    by: str
    trigger: Trigger = "label"
    bot: int = 0
    """The id of who asks on the forge, when that is no person."""
    added: str = ""
    """What who asks says beside the issue."""
    pattern: str = ""
    """The pattern they want; empty: what is configured."""
    inputs: dict[str, str] = {}
    """What they say to fill its template."""
    edited: bool = False
    """Found by a look and not by a delivery, and edited since it was labelled."""


class Remark(msgspec.Struct, frozen=True, kw_only=True, tag="commented"):
    """Somebody wrote a comment that may hold commands."""

    issue: int
    """Or the number of the pull request it stands on."""
    comment: int
    text: str
    by: str
    on_pull: bool
    title: str = ""
    """Of the issue, as it was when the comment was written; so is its text."""
    body: str = ""
    at: datetime | None = None
    """When it was written, of one that was found by a look and not by a delivery."""
    edited: bool = False
    """So found, and edited since it was written."""


Verdict = Literal["approved", "changes_requested", "commented"]


class Review(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag="reviewed"
):
    """Somebody approved a pull request's head, asked for changes, or gave commands."""

    pull: int
    review: int
    verdict: Verdict
    commit: str
    """The head that was reviewed."""
    text: str
    by: str
    late: bool = False
    """Found by a look and not by a delivery: the text may have been edited since."""


class Ticked(msgspec.Struct, frozen=True, kw_only=True, tag="ticked"):
    """Somebody ticked boxes in a comment of the bot."""

    issue: int
    comment: int
    boxes: tuple[str, ...]
    """The keys of those that were not ticked before."""
    by: str


Kept = Request | Remark | Review | Ticked


class Inbox:
    """A folder of requests."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._tickets = count()
        self._settled = 0
        """Renames with smaller tickets are on the disk."""
        self._settling = Lock()
        for file in folder.glob(".*"):
            with suppress(FileNotFoundError):  # another process has just finished it
                if file.stat().st_mtime_ns < time_ns() - _STALE_NS:
                    file.unlink()

    def put(self, delivery: str, request: Kept) -> None:
        """Keep a request under its delivery's id; the same id again replaces it.

        When this returns it outlives the machine. Safe to call from many threads at
        once, also with the same id.

        Raises:
            ValueError: the id is not one that GitHub makes.
            OSError: it cannot be written; nothing is kept.
        """
        if not _NAME.fullmatch(delivery):
            raise ValueError(f"{delivery[:80]!r} is not a delivery id")
        beside = f"{self._folder}/.{delivery}.{os.getpid()}-{next(_numbers)}"
        try:
            _write(beside, msgspec.json.encode(request))
            os.rename(beside, f"{self._folder}/{delivery}.json")  # noqa: PTH104  hot
        except OSError:
            Path(beside).unlink(missing_ok=True)
            raise
        self._settle()

    def requests(self) -> dict[str, Request]:
        """Return the labelled issues that wait, by delivery id, oldest first."""
        kept = self._kept().items()
        return {name: each for name, each in kept if isinstance(each, Request)}

    def remarks(self) -> dict[str, Remark]:
        """Return the comments that wait, by delivery id, oldest first."""
        kept = self._kept().items()
        return {name: each for name, each in kept if isinstance(each, Remark)}

    def signs(self) -> dict[str, Review | Ticked]:
        """Return the reviews and ticks that wait, by delivery id, oldest first."""
        kept = self._kept().items()
        return {name: each for name, each in kept if isinstance(each, Review | Ticked)}

    def _settle(self) -> None:
        """Bring the folder's own list of names to the disk; many share one turn."""
        ticket = next(self._tickets)
        with self._settling:
            if ticket < self._settled:
                return  # a turn that began after our rename has ended
            began = next(self._tickets)
            handle = os.open(self._folder, os.O_RDONLY)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)
            self._settled = began

    def _kept(self) -> dict[str, Kept]:
        files = sorted(self._folder.glob("*.json"), key=lambda f: f.stat().st_mtime_ns)
        return {
            file.stem: msgspec.json.decode(file.read_bytes(), type=Kept)
            for file in files
        }

    def done(self, delivery: str) -> None:
        """Forget a request; safe to call twice."""
        (self._folder / f"{delivery}.json").unlink(missing_ok=True)


def _write(name: str, data: bytes) -> None:
    """Write a file and bring it to the disk.

    Raises:
        OSError: there is no room for it.
    """
    # With O_DSYNC a write returns when the disk has it, and all it takes to read it.
    how = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_DSYNC
    handle = os.open(name, how, 0o600)
    try:
        if os.write(handle, data) != len(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), name)
    finally:
        os.close(handle)
