"""Logs as long as wanted: what one run of the demo logged, told again and again.

Each time it is another convoy and later; all else, commit by commit and event by event,
is what the bot and its runners wrote in that run. So chunks are as long as theirs.
"""

import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Final

from msgspec.structs import replace

from brat.repository import registration as registrations
from brat.repository.log_reader import Reader
from convoy.model import ids
from convoy.model.state import Convoy
from grite import entry, git
from grite.event import Event, kind_of, payload_of
from grite.objects import WAL_MAIL
from grite.remote import ensure_mirror
from grite.wal import WAL_REF, Log
from tests.world.local_log import set_head
from tests.world.log_keys import LOG_KEY

DEADLINE_S: Final = 600.0
PAUSE_MS: Final = 60_000
"""Between one convoy's end and the next one's beginning."""
Push = tuple[Event, ...]


@dataclass(frozen=True)
class Demo:
    """What the demo logged, and of which convoy."""

    convoy: Convoy
    actor: bytes
    """The bot."""
    pushes: tuple[Push, ...]
    """One a commit."""

    def told(self, number: int) -> Iterator[Push]:
        """Give the commits of its convoy as one that issue `number` asked for."""
        old = self.convoy.name
        new = f"{old.removesuffix(f'-{self.convoy.issue}')}-{number}"
        tasks = [task.number for task in self.convoy.tasks]
        issues = {ids.issue_of(old, 0): ids.issue_of(new, 0)} | {
            ids.issue_of(old, task): ids.issue_of(new, task) for task in tasks
        }
        first, last = self.pushes[0][0].ts, self.pushes[-1][-1].ts
        later = number * (last - first + PAUSE_MS)
        for push in self.pushes:
            yield tuple(
                replace(
                    event,
                    issue=issues.get(event.issue, event.issue),
                    ts=event.ts + later,
                    kind=kind_of(
                        event.kind.tag, _renamed(payload_of(event.kind), old, new)
                    ),
                )
                for event in push
            )


@cache
def demo() -> Demo:
    """Run the demo, once in this process, and return what it logged."""
    with TemporaryDirectory(prefix="brat-demo-") as name:
        folder = Path(name) / "demo"
        argv = [sys.executable, "-I", "-m", "brat", "demo", "--dir", str(folder)]
        subprocess.run(argv, check=True, capture_output=True, timeout=DEADLINE_S)
        bare = registrations.bare_path(folder, registrations.read(folder))
        state = Reader(bare).read()
        log = Log(bare)
        pushes = tuple(found.events for found in log.read(str(log.head())))
        (convoy,) = state.convoys.values()
        (actor,) = state.bots
        return Demo(convoy, bytes.fromhex(actor), pushes)


def pushes(events: int) -> Iterator[Push]:
    """Give commits, convoy after convoy, until at least `events` are given."""
    given = 0
    for number in count(1):
        for push in demo().told(number):
            if given >= events:
                return
            given += len(push)
            yield push


def write_signed(path: Path, pushes: Iterable[Push]) -> None:
    """Write a log of signed commits to the bare repository at `path`, in one pack."""
    ensure_mirror(path)
    log, actor = Log(path, LOG_KEY.writer()), demo().actor
    head: str | None = None
    for push in pushes:
        at_ms = push[-1].ts
        head = log.write(push, parent=head, actor=actor, at_ms=at_ms)
    set_head(log, str(head), None)
    git.run(["repack", "-adq"], cwd=path, deadline_s=DEADLINE_S)
    git.run(["prune-packed", "-q"], cwd=path, deadline_s=DEADLINE_S)


def write(path: Path, pushes: Iterable[Push]) -> list[str]:
    """Write a log to the bare repository at `path`, in one pack; return its commits.

    They are those that `Log.write` makes; `git fast-import` makes them faster.
    """
    ensure_mirror(path)
    commits: list[str] = []
    with _importer(path) as (stream, answers):
        for push in pushes:
            stream.write(_asked(push, commits[-1] if commits else None))
            stream.flush()
            commits.append(answers.readline().decode().strip())
    assert Log(path).head() == commits[-1]
    return commits


@contextmanager
def _importer(path: Path) -> Iterator[tuple[IO[bytes], IO[bytes]]]:
    with subprocess.Popen(
        ["git", "fast-import", "--quiet", "--depth=50"],
        cwd=path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as git:
        assert git.stdin is not None
        assert git.stdout is not None
        yield git.stdin, git.stdout
        git.stdin.close()
        assert git.wait(DEADLINE_S) == 0


def _asked(push: Push, parent: str | None) -> bytes:
    """Return what asks for a commit and for its id."""
    actor = demo().actor
    at = max((event.ts for event in push if event.actor == actor), default=push[-1].ts)
    who = f"grite <{WAL_MAIL}> {at // 1000} +0000"
    message = f"WAL: {len(push)} events from {actor.hex()[:8]}".encode()
    lines = [
        f"commit {WAL_REF}\nmark :1\nauthor {who}\ncommitter {who}\n".encode(),
        _data(message),
        b"deleteall\n",
    ]
    for name, data in entry.files(push, parent, actor).items():
        lines += [f"M 100644 inline {name}\n".encode(), _data(data)]
    return b"".join([*lines, b"get-mark :1\n"])


def _data(data: bytes) -> bytes:
    return b"data %d\n%b\n" % (len(data), data)


def _renamed(payload: object, old: str, new: str) -> object:
    if isinstance(payload, str):
        return payload.replace(old, new)
    if isinstance(payload, tuple):
        return tuple(_renamed(part, old, new) for part in payload)
    return payload
