"""What deliveries asked for, kept until the log holds what it led to.

A file holds what came in at once, written beside and renamed into place before any of
it is answered, so that a text is frozen as it was signed even if the bot dies. It never
changes, and goes when all of it is done: what was done of it before a crash is read
again, and twice is once. A folder, not a queue: the loop reads all of it each tick.
"""

import errno
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from itertools import count
from pathlib import Path
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
_File = dict[str, Kept]


class Inbox:
    """A folder of requests."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._left: dict[Path, _File] = {}
        """What each file that was read holds, without what is done."""
        for file in folder.glob(".*"):
            with suppress(FileNotFoundError):  # another process has just finished it
                if file.stat().st_mtime_ns < time_ns() - _STALE_NS:
                    file.unlink()

    def put(self, delivery: str, request: Kept) -> None:
        """Keep a request under its delivery's id; raises as `put_all`."""
        self.put_all({delivery: request})

    def put_all(self, requests: Mapping[str, Kept]) -> None:
        """Keep requests by their deliveries' ids; the same id again replaces it.

        When this returns they outlive the machine. Safe to call from many threads at
        once, also with the same id.

        Raises:
            ValueError: an id is not one that GitHub makes; nothing is kept.
            OSError: they cannot be written; nothing is kept.
        """
        for delivery in requests:
            check(delivery)
        name = f"{time_ns():020}-{os.getpid()}-{next(_numbers)}"
        beside = f"{self._folder}/.{name}"
        try:
            _write(beside, msgspec.json.encode(requests))
            os.rename(beside, f"{self._folder}/{name}.json")  # noqa: PTH104  hot
        except OSError:
            Path(beside).unlink(missing_ok=True)
            raise
        _settle(self._folder)

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

    def _kept(self) -> _File:
        files = sorted(self._folder.glob("*.json"))
        self._left = {file: self._left.get(file) or _read(file) for file in files}
        found: _File = {}
        for left in self._left.values():
            found |= left
        return found

    def done(self, delivery: str) -> None:
        """Forget a request that was read; safe to call twice."""
        for file, left in [*self._left.items()]:
            if left.pop(delivery, None) is not None and not left:
                file.unlink(missing_ok=True)
                del self._left[file]


def check(delivery: str) -> None:
    """Check an id of a delivery.

    Raises:
        ValueError: it is not one that GitHub makes.
    """
    if not _NAME.fullmatch(delivery):
        raise ValueError(f"{delivery[:80]!r} is not a delivery id")


def _read(file: Path) -> _File:
    return msgspec.json.decode(file.read_bytes(), type=_File)


def _settle(folder: Path) -> None:
    """Bring a folder's own list of names to the disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


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
