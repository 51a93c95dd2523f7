"""Group commit: processes that log at the same time share one commit.

For events that depend on no state, such as claims; what was decided on a state goes by
`Log.append`. Each process adds its events to a file beside the log and waits for a
lock; who has it logs all that wait. Locks are the operating system's, so that those of
a dead process are free.
"""

import errno
import fcntl
import os
import struct
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import Final

from grite import chunk
from grite.errors import Conflict, Rewritten
from grite.event import Event
from grite.objects import writing
from grite.wal import Log

FOLDER: Final = "grite-waiting"
_LOCK: Final = "lock"
_LINE: Final = "line"
_BATCH: Final = "batch-"
"""A line that is being logged, and the head before it: `batch-<commit>`. Whoever comes
after a death finds by it what was logged, so that nothing is logged twice."""
_MARK: Final = b"WAIT"
_HEAD: Final = struct.Struct("<4s16s16sI")
"""Before each chunk in the line: a mark, its name, its hash and its length."""


class Group:
    """Logs events together with others; not for several threads at once."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._folder = log.folder / FOLDER
        with writing(self._folder):
            self._folder.mkdir(exist_ok=True)

    def append(self, events: Sequence[Event], *, actor: bytes, at_ms: int) -> str:
        """Log `events` after what is there; return a head of the log that has them.

        When this returns, they survive the death of every process. A process that dies
        in it has logged them once or not at all.

        Args:
            events: at least one; kept together and in this order.
            actor: 16 bytes, the writer of the commit if this process makes it.
            at_ms: now, unix ms.

        Raises:
            ValueError: no event, or text that is not valid Unicode.
            Unavailable: the folder cannot be written.
        """
        if not events:
            raise ValueError("an entry of the log holds at least one event")
        name, data = uuid.uuid4().bytes, chunk.encode(events)
        with writing(self._folder):
            self._stand_in_line(_head(name, data) + data)
            with _locked(self._folder / _LOCK, fcntl.LOCK_EX):
                self._log_all(name, actor, at_ms)
        return str(self._log.head())

    def _stand_in_line(self, data: bytes) -> None:
        line = self._folder / _LINE
        while True:
            with _locked(line, fcntl.LOCK_SH) as file:
                if _is_at(file, line):
                    if os.write(file, data) < len(data):
                        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                    return

    def _log_all(self, mine: bytes, actor: bytes, at_ms: int) -> None:
        """Log all that wait, unless somebody has logged `mine` with his own."""
        names = os.listdir(self._folder)  # noqa: PTH208  names alone, and often
        for name in names:
            if name.startswith(_BATCH):
                self._log_batch(self._folder / name, actor, at_ms)
        line = self._folder / _LINE
        if _LINE not in names or mine not in dict(_waiting(line.read_bytes())):
            return
        batch = self._folder / f"{_BATCH}{self._log.head() or ''}"
        with _locked(line, fcntl.LOCK_EX):  # nobody is writing into it
            line.rename(batch)
        self._log_batch(batch, actor, at_ms)

    def _log_batch(self, batch: Path, actor: bytes, at_ms: int) -> None:
        events = [
            event
            for _, data in _waiting(batch.read_bytes())
            for event in chunk.decode(data).events
        ]
        before = batch.name.removeprefix(_BATCH) or None
        head = self._log.head()
        while not self._is_logged(events[:1], head, before):
            new = self._log.write(events, parent=head, actor=actor, at_ms=at_ms)
            try:
                self._log.set_head(new, head)
            except Conflict:  # somebody who does not stand in line
                head = self._log.head()
            else:
                break
        batch.unlink()

    def _is_logged(
        self, events: Sequence[Event], head: str | None, before: str | None
    ) -> bool:
        """Whether the first event is in the log after `before`, or there is none."""
        if not events:
            return True
        if head is None or head == before:
            return False
        try:
            entries = self._log.read(head, since=before)
        except Rewritten:
            entries = self._log.read(head)
        return any(event.id == events[0].id for e in entries for event in e.events)


@contextmanager
def _locked(path: Path, how: int) -> Iterator[int]:
    """Open a file and hold its lock for as long as the block lasts."""
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        fcntl.flock(file, how)
        yield file
    finally:
        os.close(file)


def _is_at(file: int, path: Path) -> bool:
    """Whether an open file still has its name."""
    try:
        return os.path.samestat(os.fstat(file), path.stat())
    except FileNotFoundError:
        return False


def _head(name: bytes, data: bytes) -> bytes:
    digest = blake2b(name + data, digest_size=16).digest()
    return _HEAD.pack(_MARK, name, digest, len(data))


def _waiting(line: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Give name and chunk of each who waits.

    Half of one is passed over: whoever wrote it died, or was told of the full disk.
    """
    at = line.find(_MARK)
    while 0 <= at <= len(line) - _HEAD.size:
        _, name, _, size = _HEAD.unpack_from(line, at)
        start, end = at + _HEAD.size, at + _HEAD.size + size
        data = line[start:end]
        if line[at:start] == _head(name, data):
            yield name, data
            at = line.find(_MARK, end)
        else:
            at = line.find(_MARK, at + 1)
