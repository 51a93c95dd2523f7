"""What a person waits for: the processor time of commands, typed in a small repository.

It has the log of one convoy with one task. The least of several runs counts, since
other work only ever adds to it. An interpreter that does nothing stands beside them.
"""

import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import Final

from benchmarks.task_cost import new_project

BRAT: Final = (sys.executable, "-m", "brat")
AIMS_S: Final = {
    "--version": 0.1,
    "--help": 0.15,
    "completion bash": 0.15,
    "status": 0.3,
    "why 1": 0.3,
}
START: Final = (*BRAT, "mayor", "start", "--task", "Say it")
START_AIM_S: Final = 0.8


def commands(folder: Path, repeats: int) -> dict[str, object]:
    """Return the processor seconds of each, and those that are meant to be enough."""
    project = new_project(folder / "project")
    _spent_s((*START, "--headless"), project)
    lines = {line: (*BRAT, *line.split()) for line in AIMS_S}
    lines["python -c pass"] = (sys.executable, "-c", "pass")
    runs = [{k: _spent_s(v, project) for k, v in lines.items()} for _ in range(repeats)]
    found = {line: min(each[line] for each in runs) for line in lines}
    starts = [_spent_s(START, new_project(folder / str(n))) for n in range(repeats)]
    return {
        "processor_s": {line: round(spent, 3) for line, spent in found.items()},
        "aims_s": AIMS_S,
        "mayor_start_s": round(min(starts), 2),
        "mayor_start_aim_s": START_AIM_S,
    }


def _spent_s(command: tuple[str, ...], project: Path) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        command,
        cwd=project,
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(project.parent),
            "LANG": "C.UTF-8",
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=True,
        timeout=60,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
