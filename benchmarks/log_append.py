"""How fast a log on one machine takes events from one writer.

Each side moves the log's ref after each event, in a repository that stays open. It is
compared on both sides' terms: each commit signed, as brat's are, and none, as grite's.
"""

import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pygit2

from benchmarks import grite_protocol
from grite import chunk
from grite.event import CommentAdded, Event
from grite.remote import ensure_mirror
from grite.signatures import Sign, Writer
from grite.wal import WAL_REF, Log
from tests.world.log_keys import LOG_KEY

ROUND, ROUNDS = 20, 40
PLAIN_ROUND: Final = 2
"""Events a round by git itself, which starts a process for each."""
ACTOR: Final = bytes(range(16))
BEGUN_MS: Final = 1_700_000_000_000


def event(number: int, actor: bytes = ACTOR) -> Event:
    """Return an event of 383 bytes, as long as one of the demo's."""
    text = f"Task {number} of make-the-auth-tests-pass was queued.".ljust(290, ".")
    return Event(bytes(16), actor, BEGUN_MS + number, CommentAdded(text))


def one_writer(folder: Path, repeats: int) -> dict[str, object]:
    """Durable appends a second, one writer and one event each, in turn."""
    plain = folder / "plain.git"
    ensure_mirror(plain)
    sides: dict[str, tuple[Callable[[int], None], Callable[[int], None]]] = {
        "signed": (
            _by_us(folder / "a.git", LOG_KEY.writer()),
            _by_grite(folder / "b.git", LOG_KEY.sign),
        ),
        "unsigned": (_by_us(folder / "c.git", None), _by_grite(folder / "d.git", None)),
    }
    spent = dict.fromkeys(sides, (0.0, 0.0))
    ratios: dict[str, list[float]] = {name: [] for name in sides}
    by_git = 0.0
    many = ROUNDS * repeats
    for number in range(many):
        for name, (by_us, by_grite) in sides.items():
            us = _timed(by_us, number * ROUND, ROUND)
            grite = _timed(by_grite, number * ROUND, ROUND)
            spent[name] = spent[name][0] + us, spent[name][1] + grite
            ratios[name].append(grite / us)
        by_git += _timed(
            lambda at: _fast_import(plain, event(at)), number * ROUND, PLAIN_ROUND
        )
    events = {_events_of(folder / f"{name}.git") for name in "abcd"}
    assert len(events) == 1, "not the same bytes"
    return {
        "ours_per_s": round(many * ROUND / spent["signed"][0]),
        "grite_per_s": round(many * ROUND / spent["signed"][1]),
        "git_fast_import_per_s": round(many * PLAIN_ROUND / by_git),
        "ratio_to_grite_median": round(sorted(ratios["signed"])[many // 2], 2),
        "ratio_unsigned_median": round(sorted(ratios["unsigned"])[many // 2], 2),
        "ratio_aim": 1.2,
    }


def _by_us(path: Path, writer: Writer | None) -> Callable[[int], None]:
    ensure_mirror(path)
    log, repo = Log(path, writer), pygit2.Repository(str(path))
    head: str | None = None

    def append(number: int) -> None:
        nonlocal head
        one = event(number)
        head = log.write([one], parent=head, actor=ACTOR, at_ms=one.ts)
        repo.references.create(WAL_REF, head, force=True)

    return append


def _by_grite(path: Path, sign: Sign | None) -> Callable[[int], None]:
    ensure_mirror(path)
    repo = pygit2.Repository(str(path))

    def append(number: int) -> None:
        grite_protocol.append(repo, event(number), sign)

    return append


def _events_of(path: Path) -> str:
    """Return the id of the folder that holds the newest event."""
    repo = pygit2.Repository(str(path))
    return str(repo[str(grite_protocol.head_of(repo))].peel(pygit2.Tree)["events"].id)


def _timed(append: Callable[[int], None], first: int, many: int) -> float:
    begun = time.perf_counter()
    for number in range(first, first + many):
        append(number)
    return time.perf_counter() - begun


def _fast_import(path: Path, one: Event) -> None:
    """Log an event by git's own fastest way, without the files around it."""
    data, who = chunk.encode([one]), f"g <g@local> {one.ts // 1000} +0000"
    known = subprocess.run(
        ["git", "rev-parse", "--verify", "--quiet", WAL_REF],
        cwd=path,
        capture_output=True,
        check=False,
    ).stdout.decode()
    since = f"from {known.strip()}\n" if known else ""
    stream = (
        f"commit {WAL_REF}\ncommitter {who}\ndata 0\n{since}deleteall\n"
        f"M 100644 inline e.bin\ndata {len(data)}\n"
    ).encode()
    subprocess.run(
        ["git", "fast-import", "--quiet"], cwd=path, input=stream + data, check=True
    )
