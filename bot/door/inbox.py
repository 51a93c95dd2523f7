"""Keeps the requests in deliveries on disk until the log holds their results.

A file holds the requests that arrived together. It is renamed into place before any of
them is answered, so the signed text survives the bot's death. A file never changes and
is deleted when all its requests are done; after a crash all are read again, and doing
one twice is harmless. A folder, not a queue: each tick reads all of it. A file that
cannot be read, as one of another version, is set aside by name and stops nothing.

Each file costs two disk waits and takes the interpreter's lock several times, however
many requests it holds; so what arrives while one is written goes into the next: under
load the files grow, and the answers stay quick. `Wake` tells the loop.
"""

import asyncio
import errno
import os
import re
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import datetime
from itertools import count
from pathlib import Path
from time import monotonic, time_ns
from typing import Final, Literal, get_args

import msgspec

_numbers = count()
_STALE_NS: Final = 3_600 * 10**9
"""An unfinished file this old was left by a process that died."""
UNREADABLE: Final = ".unreadable"
"""Added to the name of a file that is set aside."""


Trigger = Literal["label", "mention", "assignee", "schedule"]
"""What happened to the issue: it got the label, mentions the bot, was assigned to the
bot, or was opened by the bot on schedule."""


class StartRequest(
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
    plan_only: bool = False
    """Whether the plan waits for a person, whatever the configuration says."""
    edited: bool = False
    """Whether a look, not a delivery, found the issue edited since its labelling."""


class Remark(msgspec.Struct, frozen=True, kw_only=True, tag="commented"):
    """Somebody wrote a comment that may hold commands."""

    issue: int
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
    bot: bool = False
    """Whether a bot wrote it: at most it asks for work, where it is listed."""


class Ticked(msgspec.Struct, frozen=True, kw_only=True, tag="ticked"):
    issue: int
    comment: int
    boxes: tuple[str, ...]
    by: str


class CheckAction(msgspec.Struct, frozen=True, kw_only=True, tag="rerequested"):
    """Somebody pressed "Re-run", or a button, on a check that the bot made."""

    convoy: str
    task: int
    """0: the convoy itself."""
    by: str
    verb: str = "retry"
    commit: str = ""
    """The commit that the check is on; empty: not known."""


Kept = StartRequest | Remark | Review | Ticked | CheckAction
_File = dict[str, Kept]


class Inbox:
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
        self.put_all({delivery: request})

    def put_all(self, requests: Mapping[str, Kept]) -> None:
        """Keep requests by their deliveries' ids; a repeated id replaces its request.

        When this returns, the requests survive a crash; if it raises, nothing is kept.
        Safe to call from many threads at once, even with the same id.
        """
        for delivery in requests:
            _check_delivery_id(delivery)
        name = f"{time_ns():020}-{os.getpid()}-{next(_numbers)}"
        beside = f"{self.folder}/.{name}"
        try:
            data = msgspec.json.encode(requests)
            # With O_DSYNC a write returns when the disk has the data and its size.
            how = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_DSYNC
            handle = os.open(beside, how, 0o600)
            try:
                if os.write(handle, data) != len(data):
                    full = errno.ENOSPC
                    raise OSError(full, os.strerror(full), beside)
            finally:
                os.close(handle)
            os.rename(beside, f"{self.folder}/{name}.json")  # noqa: PTH104  hot
        except OSError:
            Path(beside).unlink(missing_ok=True)
            raise
        handle = os.open(self.folder, os.O_RDONLY)
        try:  # its list of names is on the disk, too
            os.fsync(handle)
        finally:
            os.close(handle)

    def requests(self) -> dict[str, StartRequest]:
        """Return the waiting requests for convoys, by delivery id, oldest first."""
        kept = self._kept().items()
        return {name: each for name, each in kept if isinstance(each, StartRequest)}

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
                    f"cannot read the request in {file.name} ({error}), so brat moved "
                    f"it to {aside}: repeat the request with a label or a comment"
                )
            return {}

    def done(self, delivery: str) -> None:
        """Forget a request that was read; safe to call twice."""
        for file, left in [*self._left.items()]:
            if left.pop(delivery, None) is not None and not left:
                file.unlink(missing_ok=True)
                del self._left[file]


def is_delivery_id(text: str) -> bool:
    """Whether a text has the form of the ids that GitHub gives deliveries."""
    return re.fullmatch(r"[0-9A-Za-z-]{1,64}", text) is not None


def _check_delivery_id(delivery: str) -> None:
    if not is_delivery_id(delivery):
        raise ValueError(f"{delivery[:80]!r} is not a delivery id")


WRITES_AT_ONCE: Final = 2
"""The most files written at once: under low load no request waits for another."""


class _Together:
    """Requests for one inbox that one file will hold."""

    def __init__(self) -> None:
        self.requests: _File = {}
        self.written: asyncio.Future[None] | None = None
        """None: more may come."""


class InboxWriter:
    """Writes requests to the disk from one event loop."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(WRITES_AT_ONCE, "inbox")
        self._turns = asyncio.Semaphore(WRITES_AT_ONCE)
        self._next: dict[Inbox, _Together] = {}

    async def keep(self, inbox: Inbox, delivery: str, kept: Kept) -> None:
        """Return once the inbox holds the request and it would survive a crash."""
        _check_delivery_id(delivery)
        file = self._next.setdefault(inbox, _Together())
        file.requests[delivery] = kept
        async with self._turns:
            if file.written is None:  # the first whose turn it is writes for all
                del self._next[inbox]
                write = asyncio.get_running_loop().run_in_executor
                file.written = write(self._threads, inbox.put_all, file.requests)
            await asyncio.shield(file.written)

    async def close(self) -> None:
        """Wait for the writes under way, and end."""
        await asyncio.to_thread(self._threads.shutdown)


WorldPart = Literal[
    "issues", "pulls", "comments", "runs", "checks", "refs", "shown", "rights"
]
RIGHTS_PART: Final = "rights"
"""What the bot may do: only a hint tells of it, so it is never suspect by itself."""
ALL_PARTS: Final[frozenset[str]] = frozenset(get_args(WorldPart)) - {RIGHTS_PART}


class Wake:
    """A bell with a memory; for one event loop."""

    def __init__(self, ticking: Callable[[], float] = monotonic) -> None:
        self._parts: set[str] = set(ALL_PARTS)
        self._bell = asyncio.Event()
        self.kept = 0
        self._more_kept = asyncio.Event()
        self._ticking = ticking
        self._looked_at = ticking()
        self.polls = False
        """Whether nobody rings while people wait: then each look covers everything."""

    def up(self, part: str) -> None:
        self._parts.add(part)
        self._bell.set()

    def keep(self) -> None:
        self.kept += 1
        self._more_kept.set()
        self._more_kept = asyncio.Event()

    async def more_kept(self, known: int) -> int:
        """Return how many requests were kept, once they are not `known` any more."""
        while self.kept == known:
            await self._more_kept.wait()
        return self.kept

    def all(self) -> None:
        self.suspect()
        self._bell.set()

    def suspect(self) -> None:
        """Make the next look cover everything, without waking the loop."""
        self._parts |= ALL_PARTS

    def take(self) -> frozenset[str]:
        """Return the parts that may have changed since the last take; forget them."""
        parts = ALL_PARTS if self.polls else frozenset(self._parts)
        if parts >= ALL_PARTS:
            self._looked_at = self._ticking()
        self._parts.clear()
        self._bell.clear()
        return parts

    async def wait(self, timeout_s: float) -> None:
        """Return when `up` is called, or after `timeout_s`: then all is suspect."""
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                await self._bell.wait()
        if not self._bell.is_set() or self._ticking() - self._looked_at >= timeout_s:
            self.suspect()
