"""Keeps the requests in deliveries on disk until the log holds their results.

A file holds the requests that arrived together. It is renamed into place before any of
them is answered, so the signed text survives the bot's death. A file never changes and
is deleted when all its requests are done; after a crash all are read again, and doing
one twice is harmless. A folder, not a queue: each tick reads all of it. A file that
cannot be read, as one of another version, is set aside by name and stops nothing.
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
"""An unfinished file this old was left by a process that died."""
UNREADABLE: Final = ".unreadable"
"""Added to the name of a file that is set aside."""


Trigger = Literal["label", "mention", "assignee", "schedule"]
"""What happened to the issue: it got the label, mentions the bot, was assigned to the
bot, or was opened by the bot on schedule."""


class Request(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag="labelled"
):
    """A request for a convoy, with the issue's text at that moment."""

    issue: int
    title: str
    text: str
    by: str
    trigger: Trigger = "label"
    bot: int = 0
    """The requester's id on the forge if the requester is a bot, else 0."""
    added: str = ""
    """The requester's text in addition to the issue's."""
    pattern: str = ""
    """The pattern that the requester names; empty: the configured one."""
    inputs: dict[str, str] = {}
    """The inputs for the pattern's template."""
    plan_only: bool = False
    """Whether the plan waits for a person, whatever the configuration says."""
    edited: bool = False
    """Whether a look, not a delivery, found the issue edited since its labelling."""


class Remark(msgspec.Struct, frozen=True, kw_only=True, tag="commented"):
    """Somebody wrote a comment that may hold commands."""

    issue: int
    """The number of the issue or pull request with the comment."""
    comment: int
    text: str
    by: str
    on_pull: bool
    title: str = ""
    """The issue's title when the comment was written; `body` is its text then."""
    body: str = ""
    node: str = ""
    """The comment's global id; empty: not known."""
    at: datetime | None = None
    """When a comment found by a look was written; None: a delivery brought it."""
    edited: bool = False
    """Whether a comment found by a look was edited since it was written."""


ReviewVerdict = Literal["approved", "changes_requested", "commented"]


class Review(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag="reviewed"
):
    """A review: an approval of a pull request's head, change requests, or commands."""

    pull: int
    review: int
    verdict: ReviewVerdict
    commit: str
    """The head that was reviewed."""
    text: str
    by: str
    node: str = ""
    """The review's global id; empty: not known."""
    late: bool = False
    """Whether a look, not a delivery, found it: its text may have been edited since."""


class Ticked(msgspec.Struct, frozen=True, kw_only=True, tag="ticked"):
    """Somebody ticked boxes in a comment of the bot."""

    issue: int
    comment: int
    boxes: tuple[str, ...]
    """The keys of the newly ticked boxes."""
    by: str


class CheckAction(msgspec.Struct, frozen=True, kw_only=True, tag="rerequested"):
    """Somebody pressed "Re-run", or a button, on a check that the bot made."""

    convoy: str
    task: int
    """0: the convoy itself."""
    by: str
    verb: str = "retry"
    """What the button stands for."""
    commit: str = ""
    """The commit that the check is on; empty: not known."""


Kept = Request | Remark | Review | Ticked | CheckAction
_File = dict[str, Kept]


class Inbox:
    """A folder of requests."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.notices: list[str] = []
        """Sentences for people on files that were set aside; whoever tells them clears
        it."""
        self._left: dict[Path, _File] = {}
        """The requests in each file read so far, without those that are done."""
        for file in folder.glob(".*"):
            with suppress(FileNotFoundError):  # another process has just finished it
                if file.stat().st_mtime_ns < time_ns() - _STALE_NS:
                    file.unlink()

    def put(self, delivery: str, request: Kept) -> None:
        """Keep a request under its delivery's id; raises like `put_all`."""
        self.put_all({delivery: request})

    def put_all(self, requests: Mapping[str, Kept]) -> None:
        """Keep requests by their deliveries' ids; a repeated id replaces its request.

        When this returns, the requests survive a crash. Safe to call from many threads
        at once, even with the same id.

        Raises:
            ValueError: an id is not of GitHub's form; nothing is kept.
            OSError: the requests cannot be written; nothing is kept.
        """
        for delivery in requests:
            check(delivery)
        name = f"{time_ns():020}-{os.getpid()}-{next(_numbers)}"
        beside = f"{self.folder}/.{name}"
        try:
            _write(beside, msgspec.json.encode(requests))
            os.rename(beside, f"{self.folder}/{name}.json")  # noqa: PTH104  hot
        except OSError:
            Path(beside).unlink(missing_ok=True)
            raise
        _settle(self.folder)

    def requests(self) -> dict[str, Request]:
        """Return the waiting requests for convoys, by delivery id, oldest first."""
        kept = self._kept().items()
        return {name: each for name, each in kept if isinstance(each, Request)}

    def remarks(self) -> dict[str, Remark]:
        """Return the waiting comments, by delivery id, oldest first."""
        kept = self._kept().items()
        return {name: each for name, each in kept if isinstance(each, Remark)}

    def signs(self) -> dict[str, Review | Ticked | CheckAction]:
        """Return the reviews, ticks and re-runs, by delivery id, oldest first."""
        kept = self._kept().items()
        signs = Review | Ticked | CheckAction
        return {name: each for name, each in kept if isinstance(each, signs)}

    def waiting(self) -> tuple[str, ...]:
        """Return the ids of all deliveries with a waiting request."""
        return tuple(self._kept())

    def _kept(self) -> _File:
        files = sorted(self.folder.glob("*.json"))
        self._left = {file: self._left.get(file) or self._read(file) for file in files}
        found: _File = {}
        for left in self._left.values():
            found |= left
        return found

    def _read(self, file: Path) -> _File:
        try:
            return msgspec.json.decode(file.read_bytes(), type=_File)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            aside = file.with_name(file.name + UNREADABLE)
            with suppress(FileNotFoundError):  # another reader has just done it
                file.rename(aside)
                self.notices.append(
                    f"what was asked for in {file.name} cannot be read ({error}); "
                    f"it is kept as {aside}: ask again, by a label or a comment"
                )
            return {}

    def done(self, delivery: str) -> None:
        """Forget a request that was read; safe to call twice."""
        for file, left in [*self._left.items()]:
            if left.pop(delivery, None) is not None and not left:
                file.unlink(missing_ok=True)
                del self._left[file]


def check(delivery: str) -> None:
    """Check a delivery's id.

    Raises:
        ValueError: the id is not of GitHub's form.
    """
    if not _NAME.fullmatch(delivery):
        raise ValueError(f"{delivery[:80]!r} is not a delivery id")


def _settle(folder: Path) -> None:
    """Flush a folder's list of names to the disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _write(name: str, data: bytes) -> None:
    """Write a file and flush it to the disk.

    Raises:
        OSError: there is no room for the file.
    """
    # With O_DSYNC a write returns when the disk has the data and its size.
    how = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_DSYNC
    handle = os.open(name, how, 0o600)
    try:
        if os.write(handle, data) != len(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), name)
    finally:
        os.close(handle)
