"""The webhook door against a minimal probot app, under the same load.

Both verify the signature, parse the payload, and bring one record to the disk before
they answer. The load is a process of its own and does not wait for answers: a delivery
that is answered late does not delay the next one, and its time counts from the moment
it was due.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import psutil

from benchmarks.door_load import Load, Result
from tests.world.npm import installed

Figures = dict[str, object]
HERE: Final = Path(__file__).parent
SECRET: Final = "made-up-secret-of-the-webhook"  # noqa: S105  made up, as it says
RATE: Final = 200
SECONDS: Final = 60
WARM_UP: Final = 2_000
AT_ONCE: Final = 32
BURST: Final = 4_000
MEMORY: Final = 10_000
"""Deliveries over which memory is watched."""


def door(folder: Path, _: int) -> Figures:
    """200 deliveries a second for a minute, then as many as go; brat, then probot."""
    modules = installed(HERE / "probot")
    assert (modules / "probot").is_dir()
    brat = [sys.executable, "-m", "benchmarks.door_server"]
    probot = ["node", str(HERE / "probot" / "app.js")]
    ours, theirs = _run(folder / "brat", brat), _run(folder / "probot", probot)
    return {
        **{f"brat_{name}": figure for name, figure in ours.items()},
        **{f"probot_{name}": figure for name, figure in theirs.items()},
        "p99_ratio": _ratio(ours["p99_ms"], theirs["p99_ms"]),
        "cpu_ratio": _ratio(ours["cpu_ms_each"], theirs["cpu_ms_each"]),
        "rate_ratio": _ratio(ours["most_per_s"], theirs["most_per_s"]),
        "memory_aim_percent": 5,
    }


def _ratio(one: float, other: float) -> float:
    return round(one / other, 2)


def _run(folder: Path, argv: list[str]) -> dict[str, float]:
    folder.mkdir()
    with _served([*argv, str(folder), SECRET]) as (port, process):
        _load(Load(port=port, secret=SECRET, count=WARM_UP, at_once=AT_ONCE))
        before = _memory(process)
        paced = _load(
            Load(port=port, secret=SECRET, count=RATE * SECONDS, per_second=RATE)
        )
        after, began = _memory(process), _cpu_s(process)
        burst = _load(Load(port=port, secret=SECRET, count=BURST, at_once=AT_ONCE))
        worked_s = _cpu_s(process) - began
    kept = _kept(folder)
    assert kept == WARM_UP + RATE * SECONDS + BURST, f"{kept} were kept"
    return {
        "p50_ms": paced.p50_ms,
        "p99_ms": paced.p99_ms,
        "most_per_s": round(BURST / burst.seconds),
        "cpu_ms_each": round(worked_s / BURST * 1000, 3),
        "memory_mb": round(after / 1e6, 1),
        "growth_percent_over_10000": round(
            (after - before) / before * 100 * MEMORY / (RATE * SECONDS), 1
        ),
    }


def _kept(folder: Path) -> int:
    """Count what the disk holds: of brat's files each holds several, by their ids."""
    files = [json.loads(file.read_bytes()) for file in folder.glob("*.json")]
    return sum(1 if "issue" in file else len(file) for file in files)


@contextmanager
def _served(argv: list[str]) -> Iterator[tuple[int, psutil.Process]]:
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        try:
            yield int(child.stdout.readline()), psutil.Process(child.pid)
        finally:
            child.terminate()


def _memory(process: psutil.Process) -> int:
    return int(process.memory_info().rss)


def _cpu_s(process: psutil.Process) -> float:
    spent = process.cpu_times()
    return float(spent.user + spent.system)


def _load(load: Load) -> Result:
    """Run the load in a process of its own."""
    told = json.dumps(load.__dict__)
    argv = [sys.executable, "-m", "benchmarks.door_load", told]
    done = subprocess.run(argv, check=True, stdout=subprocess.PIPE, text=True)
    return Result(**json.loads(done.stdout))
