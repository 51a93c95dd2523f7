"""How long it takes to know what a log says: cold, warm, and behind a checkpoint.

Each figure comes from a process of its own (benchmarks/log_child.py).
"""

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate, chain, islice
from pathlib import Path
from statistics import median
from typing import Any, Final

import pygit2

from benchmarks import bare_loop, log_append, log_history
from brat.local import forge_process
from brat.repository import registration as registrations
from brat.repository.log_reader import CACHE
from brat.repository.registration import FORGE_FOLDER, Registration, Source
from convoy.log import record as states
from convoy.log.record import NOTHING_READ, Reading, follow
from grite import checkpoint, git
from grite.wal import WAL_REF, Log
from tests.world.local_log import appended
from tests.world.log_keys import LOG_KEY

DEADLINE_S: Final = 600.0
SIZES: Final = (10_000, 100_000, 300_000)
COLD: Final = 100_000
NEW: Final = 10
TAIL: Final = 2_000
"""Events after the newest checkpoint: as many as there ever are."""
MADE_MS: Final = 1_700_000_000_000
Run = dict[str, Any]


def child(mode: str, *args: str) -> Run:
    """Run one measurement in a process of its own and return what it found."""
    argv = [sys.executable, "-m", "benchmarks.log_child", mode, *args]
    done = subprocess.run(argv, check=True, capture_output=True, timeout=DEADLINE_S)
    found: Run = json.loads(done.stdout)
    return found


# --- cold and warm --------------------------------------------------------------------


def reading(folder: Path, repeats: int) -> dict[str, object]:
    """Read and fold 100,000 events cold, and again with ten new ones."""
    ours, theirs = folder / "ours.git", folder / "grite.git"
    pushes = list(log_history.pushes(COLD))
    log_history.write_signed(ours, pushes)
    # One commit an event, in one pack: better than grite would have it.
    log_history.write(theirs, ((event,) for push in pushes for event in push))
    cold, warm, grite, plain = [], [], [], []
    news = chain.from_iterable(log_history.pushes(2 * COLD))
    later = islice(news, sum(map(len, pushes)), None)
    for _ in range(repeats):
        (ours / CACHE / "state.json").unlink(missing_ok=True)
        cold.append(child("read", str(ours)))
        grite.append(child("grite", str(theirs)))
        plain.append(child("git", str(ours)))
        _append(Log(ours, LOG_KEY.writer()), tuple(islice(later, NEW)))
        warm.append(child("read", str(ours)))
    return {
        "events": sum(map(len, pushes)),
        "chunks": len(pushes),
        "chunk_sizes": dict(sorted(Counter(map(len, pushes)).items())),
        "cold_s": _seconds(cold),
        "cold_s_median": median(_seconds(cold)),
        "cold_s_aim": 2.5,
        "cold_cpu_s": [run["cpu_s"] for run in cold],
        "cold_memory_mb": max(run["memory_mb"] for run in cold),
        "grite_form_read_and_not_folded_s": _seconds(grite),
        "git_prints_ours_s": _seconds(plain),
        "new_events": NEW,
        "warm_ms": [round(s * 1000, 1) for s in _seconds(warm)],
        "warm_ms_median": round(median(_seconds(warm)) * 1000, 1),
        "warm_ms_aim": 50,
        "warm_cpu_ms": [round(run["cpu_s"] * 1000) for run in warm],
    }


def _append(log: Log, news: log_history.Push) -> None:
    actor = log_history.demo().actor
    appended(log, news, after=log.head(), actor=actor, at_ms=news[-1].ts)


def _seconds(runs: list[Run]) -> list[float]:
    return [run["seconds"] for run in runs]


# --- a fresh clone --------------------------------------------------------------------


def starting(folder: Path, repeats: int) -> dict[str, object]:
    """Start a bot on a fresh clone, over HTTP, with and without a checkpoint."""
    rows = {
        place.size: _started(place, repeats) for place in _places(folder / "log.git")
    }
    medians = [row["s_median"] for row in rows.values()]
    return {
        "events_after_the_checkpoint": TAIL,
        **{f"{size}_events": row for size, row in rows.items()},
        "s_aim": 1.0,
        "slowest_to_fastest": round(max(medians) / min(medians), 2),
        "memory_mb_aim": 200,
    }


@dataclass(frozen=True)
class _Place:
    """A forge with a log of `size` events, and the newest checkpoint in it."""

    size: int
    folder: Path
    known: Registration
    checkpoint: str
    """Its ref."""
    checkpoint_mb: float

    @property
    def bare(self) -> Path:
        return registrations.bare_path(self.folder, self.known)


def _places(log: Path) -> Iterator[_Place]:
    """Give a forge for each size; their logs are beginnings of one and the same."""
    pushes = list(log_history.pushes(max(SIZES)))
    commits = log_history.write(log, pushes)
    ends = list(accumulate(map(len, pushes)))
    known = NOTHING_READ
    for size in SIZES:
        head = next(at for at, end in enumerate(ends) if end >= size)
        marked = next(at for at, end in enumerate(ends) if end >= ends[head] - TAIL)
        known = follow(Log(log), commits[marked], known)
        yield _place(log, size, commits[head], known)


def _place(log: Path, size: int, head: str, kept: Reading) -> _Place:
    folder = log.parent / str(size)
    folder.mkdir()
    source = Source(
        path=bare_loop.make_origin(folder, None),
        branch="main",
        name="project",
        person="you",
    )
    known = registrations.register(folder, source)
    bare = registrations.bare_path(folder, known)
    data, at = states.encode_reading(kept), str(kept.head)
    repo, made = pygit2.Repository(str(log)), checkpoint.ref_of(MADE_MS)
    writer, words = LOG_KEY.writer(), [log_append.event(0)]
    # The newest commit vouches for the chain: no other signature is looked at.
    top = Log(log, writer).write(
        words, parent=head, actor=log_append.ACTOR, at_ms=MADE_MS
    )
    pointed = {WAL_REF: top, made: checkpoint.write(repo, data, at, MADE_MS, writer)}
    for ref, commit in pointed.items():
        repo.references.create(ref, commit, force=True)
    fetch = ["fetch", "--quiet", log.as_uri(), *(f"+{ref}:{ref}" for ref in pointed)]
    git.run(fetch, cwd=bare, deadline_s=DEADLINE_S)
    return _Place(size, folder, known, made, round(len(data) / 1e6, 2))


def _started(place: _Place, repeats: int) -> Run:
    with forge_process.forge(
        place.folder / FORGE_FOLDER, 0, log=place.folder / "forge.log"
    ) as (url, _):
        remote = f"{url}/{place.known.repository}.git"

        def start(name: str) -> Run:
            return child(
                "start", remote, place.known.bot_token, str(place.folder / name)
            )

        behind = [start(f"with-{number}.git") for number in range(repeats)]
        pygit2.Repository(str(place.bare)).references.delete(place.checkpoint)
        whole = start("without.git")
    assert all(run["state"] == whole["state"] for run in behind), "not the same state"
    return {
        "convoys": whole["convoys"],
        "checkpoint_mb": place.checkpoint_mb,
        "s": _seconds(behind),
        "s_median": median(_seconds(behind)),
        "cpu_s": [run["cpu_s"] for run in behind],
        "memory_mb": max(run["memory_mb"] for run in behind),
        "git_memory_mb": max(run["git_memory_mb"] for run in behind),
        "without_a_checkpoint_s": whole["seconds"],
        "without_a_checkpoint_memory_mb": whole["memory_mb"],
    }
