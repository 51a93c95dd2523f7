"""How fast a log on one machine takes events from one writer, who signs each commit."""

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
from grite.wal import WAL_REF, Log
from tests.world.local_log import appended
from tests.world.log_keys import LOG_KEY

ROUND, ROUNDS = 100, 8
PLAIN_ROUND: Final = 10
"""Events a round by git itself, which starts a process for each."""
ACTOR: Final = bytes(range(16))
BEGUN_MS: Final = 1_700_000_000_000


def event(number: int, actor: bytes = ACTOR) -> Event:
    """Return an event of 383 bytes, as long as one of the demo's."""
    text = f"Task {number} of make-the-auth-tests-pass was queued.".ljust(290, ".")
    return Event(bytes(16), actor, BEGUN_MS + number, CommentAdded(text))


def one_writer(folder: Path, repeats: int) -> dict[str, object]:
    """Durable appends a second, one writer and one event each, in turn."""
    ours, theirs, plain = (folder / f"{name}.git" for name in ("a", "b", "c"))
    for path in (ours, theirs, plain):
        ensure_mirror(path)
    log, repo = Log(ours, LOG_KEY.writer()), pygit2.Repository(str(theirs))

    head: str | None = None

    def by_us(number: int) -> None:
        nonlocal head
        one = event(number)
        head = appended(log, [one], after=head, actor=ACTOR, at_ms=one.ts)

    def by_grite(number: int) -> None:
        grite_protocol.append(repo, event(number))

    def by_git(number: int) -> None:
        _fast_import(plain, event(number))

    spent = dict.fromkeys((by_us, by_grite, by_git), 0.0)
    ratios: list[float] = []
    for number in range(ROUNDS * repeats):
        us = _timed(by_us, number * ROUND, ROUND)
        grite = _timed(by_grite, number * ROUND, ROUND)
        git = _timed(by_git, number * ROUND, PLAIN_ROUND)
        spent[by_us] += us
        spent[by_grite] += grite
        spent[by_git] += git
        ratios.append(grite / us)
    many = ROUNDS * repeats
    files = repo[str(grite_protocol.head_of(repo))].peel(pygit2.Tree)["events"].id
    written = pygit2.Repository(str(ours))[str(log.head())].peel(pygit2.Tree)
    assert written["events"].id == files, "not the same bytes"
    return {
        "ours_per_s": round(many * ROUND / spent[by_us]),
        "grite_per_s": round(many * ROUND / spent[by_grite]),
        "git_fast_import_per_s": round(many * PLAIN_ROUND / spent[by_git]),
        "ratio_to_grite_median": round(sorted(ratios)[many // 2], 2),
        "ratio_aim": 1.0,
    }


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
