"""What a witness costs: the time before and after its agent, and memory beside it.

1, 10, 50 and 200 sessions are started together on one machine, each with its key proxy;
the peer is the bare loop's process per task, on the same project in the same run.
"""

import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Final

from benchmarks import bare_loop, witness_place
from benchmarks.witness_place import RUNNER, Place

AT_ONCE: Final = (1, 10, 50, 200)
FILES: Final = 50
DEADLINE_S: Final = 300.0
LOOK_S: Final = 0.25
"""Files tell their own times, and looking takes time from what is measured."""
ONE_MB: Final = 35
"""What a session may take, by which is chosen how many of them this machine holds."""
MEMORY_KB: Final = "Pss:"


def overhead(folder: Path, repeats: int) -> dict[str, object]:
    """Measure each number of sessions; the small ones `repeats` times."""
    project = witness_place.source(folder / "source", FILES)
    rows = {}
    for count in AT_ONCE:
        fits = min(count, _available_mb() // ONE_MB)
        times = repeats if count <= AT_ONCE[1] else 1
        runs = [
            _once(folder / f"{count}-{number}", project, fits)
            for number in range(times)
        ]
        rows[str(fits)] = {
            key: round(median(run[key] for run in runs), 3) for key in runs[0]
        }
    return {"project_files": FILES, "sessions": rows, "aim_s": 1.0, "aim_pss_mb": 80}


def _once(folder: Path, project: Path, count: int) -> dict[str, float]:
    ours = _sessions(witness_place.make(folder / "brat", project, count))
    theirs = _bare(folder / "bare", project, count)
    return {**ours, **{f"bare_{key}": value for key, value in theirs.items()}}


def _sessions(place: Place) -> dict[str, float]:
    numbers = range(1, place.count + 1)
    before_s = _cpu_s()
    begun = time.time()
    jobs = [_job(place, number) for number in numbers]
    began: dict[int, float] = {}

    def have_begun() -> bool:
        for number in numbers:
            if number not in began and (at := place.began_at(number)):
                began[number] = at
        return len(began) == place.count

    _until(have_begun, jobs)
    ready = [began[number] - begun for number in numbers]
    memory = [memory_below(job.pid) for job in jobs]
    for number in numbers:
        place.gate(number).write_text("go\n", encoding="utf-8")
    for job in jobs:
        said = job.communicate(timeout=DEADLINE_S)[1]
        assert job.returncode == 0, said.decode()
    after = [
        place.result(number).stat().st_mtime - place.ended_at(number)
        for number in numbers
    ]
    return {
        "start_s": median(ready),
        "start_most_s": max(ready),
        "end_s": median(after),
        "end_most_s": max(after),
        "overhead_most_s": max(map(sum, zip(ready, after, strict=True))),
        "cpu_s": (_cpu_s() - before_s) / place.count,
        "ours_pss_mb": median(ours for ours, _ in memory),
        "agent_pss_mb": median(agents for _, agents in memory),
    }


def _job(place: Place, number: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        RUNNER,
        cwd=place.folder,
        env=place.environment(number) | {"ANTHROPIC_API_KEY": "a-key-of-nobody"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )


def _bare(folder: Path, project: Path, count: int) -> dict[str, float]:
    folder.mkdir(parents=True)
    bare_loop.make_origin(folder, project)
    before_s = _cpu_s()
    begun = time.time()
    me = (sys.executable, "-I", bare_loop.__file__, "--folder", str(folder))
    jobs = {
        number: subprocess.Popen([*me, "--task", str(number), "--seconds", "0"])
        for number in range(1, count + 1)
    }
    before, after = [], []
    for number, job in jobs.items():
        assert job.wait(DEADLINE_S) == 0
        worked = (folder / f"task-{number}/work/{number}.txt").stat().st_mtime
        pushed = folder / f"origin.git/refs/heads/task-{number}"
        before.append(worked - begun)
        after.append(pushed.stat().st_mtime - worked)
    return {
        "start_s": median(before),
        "end_s": median(after),
        "overhead_most_s": max(map(sum, zip(before, after, strict=True))),
        "cpu_s": (_cpu_s() - before_s) / count,
    }


def _until(holds: Callable[[], bool], jobs: Sequence[subprocess.Popen[bytes]]) -> None:
    limit = time.monotonic() + DEADLINE_S
    while not holds():
        assert time.monotonic() < limit, "the agents did not start"
        assert all(job.poll() is None for job in jobs), "a runner has ended"
        time.sleep(LOOK_S)


def _cpu_s() -> float:
    """Return the processor time of all children that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def memory_below(pid: int) -> tuple[float, float]:
    """Return the memory in MB below a runner: ours, and the agent's."""
    ours = agents = 0.0
    for each in _tree(pid):
        command = Path(f"/proc/{each}/cmdline").read_bytes()
        pss = _pss_mb(each)
        if command.startswith(os.fsencode(sys.executable)):
            ours += pss
        else:
            agents += pss
    return ours, agents


def _tree(pid: int) -> list[int]:
    found = [pid]
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in (task / "children").read_text(encoding="ascii").split():
            found += _tree(int(child))
    return found


def _pss_mb(pid: int) -> float:
    rollup = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii")
    for line in rollup.splitlines():
        if line.startswith(MEMORY_KB):
            return int(line.split()[1]) / 1000
    return 0.0


def _available_mb() -> int:
    told = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    sizes = {line.split(":")[0]: line.split()[1] for line in told}
    return int(sizes["MemAvailable"]) // 1000
