"""`make bench`: the figures of docs/benchmarks.md, as ratios within one run."""

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from benchmarks import (
    bare_loop,
    fleet,
    log_append,
    log_intake,
    log_reading,
    proxy,
    seeing,
    witness,
)
from benchmarks.checkout_cost import checkout_cost
from benchmarks.commands import commands
from benchmarks.door import door
from benchmarks.eyes import eyes
from benchmarks.fleet import Load
from benchmarks.forge_cost import forge_cost
from benchmarks.hostile_reading import hostile_reading
from benchmarks.intake_labels import intake_labels
from benchmarks.planning import planning
from benchmarks.poisoned_hour import poisoned_hour
from benchmarks.slow_ci import slow_ci
from benchmarks.stay import stay
from benchmarks.task_cost import task_cost

Figures = dict[str, object]


def whole_loop(folder: Path, repeats: int) -> Figures:
    """50 tasks of one second on 10 slots: brat against the bare loop, in turn."""
    load = Load(seconds=[1.0] * 50, slots=10)
    source = fleet.project(folder / "source", load)
    ratios, bare, brat = [], [], []
    for number in range(repeats):
        place = folder / f"bare-{number}"
        place.mkdir()
        bare.append(bare_loop.run(50, 10, load.seconds, load.ci, place, source))
        brat.append(fleet.run(folder / f"brat-{number}", source, load).wall_s)
        ratios.append(brat[-1] / bare[-1])
    return {
        "bare_loop_s": _rounded(bare),
        "brat_s": _rounded(brat),
        "ratio_median": round(sorted(ratios)[len(ratios) // 2], 2),
        "ratio_aim": 1.2,
    }


def three_jobs(folder: Path, _: int) -> Figures:
    """The seed's three jobs, scaled to 15, 10 and 5 s: one at a time against brat."""
    load = Load(seconds=[15.0, 10.0, 5.0], slots=3)
    idle = Load(seconds=[0.0] * 3, slots=3)
    source = fleet.project(folder / "source", load)
    place = folder / "bare"
    place.mkdir()
    one_at_a_time = bare_loop.run(3, 1, load.seconds, load.ci, place, source)
    source_idle = fleet.project(folder / "source-idle", idle)
    overhead = fleet.run(folder / "idle", source_idle, idle).wall_s
    brat = fleet.run(folder / "brat", source, load).wall_s
    bound = max(load.seconds) + overhead
    return {
        "one_at_a_time_s": round(one_at_a_time, 2),
        "brat_s": round(brat, 2),
        "overhead_s": round(overhead, 2),
        "critical_path_plus_overhead_s": round(bound, 2),
        "ratio_to_that_bound": round(brat / bound, 3),
        "ratio_aim": 1.05,
        "times_faster": round(one_at_a_time / brat, 2),
    }


BENCHMARKS: dict[str, Callable[[Path, int], Figures]] = {
    "whole-loop": whole_loop,
    "three-jobs": three_jobs,
    "ci-checkout": checkout_cost,
    "slow-ci": slow_ci,
    "forge-cost": forge_cost,
    "task-cost": task_cost,
    "commands": commands,
    "door": door,
    "eyes": eyes,
    "stay": stay,
    "log-append": log_append.one_writer,
    "log-intake": log_intake.results,
    "log-read": log_reading.reading,
    "log-start": log_reading.starting,
    "planning": planning,
    "intake": intake_labels,
    "poisoned-hour": poisoned_hour,
    "hostile-reading": hostile_reading,
    "witness": witness.overhead,
    "proxy": proxy.overhead,
    "dashboard": seeing.dashboard,
    "status": seeing.status,
}


def main() -> None:
    """Run the named benchmarks (all by default) and print a JSON line for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=[*BENCHMARKS])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--before", type=Path, help="the lines of an earlier run")
    args = parser.parse_args()
    lines = args.before.read_text().splitlines() if args.before else []
    before = {line["benchmark"]: line for line in map(json.loads, lines)}
    for name in args.names:
        used = _used_share()
        with tempfile.TemporaryDirectory(prefix=f"brat-{name}-") as folder:
            figures = BENCHMARKS[name](Path(folder), args.repeats)
        is_busy = max(used, _used_share()) > BUSY
        told = {"benchmark": name, "busy": is_busy, **figures}
        if name in before:
            told["changed"] = _changed(before[name], figures)
        print(json.dumps(told), flush=True)


BUSY: Final = 0.1
"""The share of the machine's processors that other work may take."""


def _used_share() -> float:
    """Return the share of all processors that was used in one second."""

    def ticks() -> tuple[int, int]:
        cpu = [int(each) for each in Path("/proc/stat").read_text().split()[1:9]]
        return sum(cpu), cpu[3] + cpu[4]  # idle, and waiting for a disk

    begun = ticks()
    time.sleep(1)
    every, idle = (now - then for now, then in zip(ticks(), begun, strict=True))
    return 1 - idle / every if every else 0.0


def _changed(before: Figures, figures: Figures) -> dict[str, list[float]]:
    """Return the figures that differ by more than a tenth: what they were, and are."""
    return {
        key: [was, now]
        for key, now in figures.items()
        if isinstance(now, int | float)
        and isinstance(was := before.get(key), int | float)
        if abs(now - was) > abs(was) / 10
    }


def _rounded(values: list[float]) -> list[float]:
    return [round(value, 2) for value in values]


if __name__ == "__main__":
    main()
