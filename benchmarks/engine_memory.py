"""What each real agent CLI takes of a machine as it works, and its witness beside it.

`python -m benchmarks.engine_memory`. The vendor is scripted, so a session is short and
its history small: these are the least that an engine takes, not what a day's work does.
"""

import json
import os
import subprocess
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import psutil

from benchmarks.witness import memory_below
from convoy.model.records import EngineSpec
from runner.engines import key_names
from tests.engines.cases import COLUMNS, ENGINES, PROMPT, Engine
from tests.engines.driving import key, vendor
from tests.engines.install import PROGRAMS
from tests.runner.job import Forge

LOOK_S: Final = 0.05


def main() -> None:
    """Print a row for each engine that is installed."""
    for name, engine in ENGINES.items():
        if (PROGRAMS / engine.program).exists():
            with tempfile.TemporaryDirectory() as folder:
                print(json.dumps({"engine": name} | measured(Path(folder), engine)))


def measured(folder: Path, engine: Engine) -> dict[str, float]:
    """Run one session; return its peaks in MB, and processor and wall time in s."""
    forge = Forge(folder)
    with vendor(folder, COLUMNS["ok"]) as served:
        spec = EngineSpec(type=engine.type, model=engine.model, timeout_s=120)
        started = forge.started(title=PROMPT, engine=spec)
        path = os.pathsep.join((str(PROGRAMS), *os.get_exec_path()))
        keys = {each: key(each) for each in key_names()}
        told = {"PATH": path, "BRAT_MODEL_URL": served.url, **keys}
        begun, before = time.monotonic(), _cpu_s()
        job = forge.start(forge.environment(forge.hand_off(started), **told))
        peaks = watched(job)
        left = forge.left_by(job)
    assert left.result["conclusion"] == "success", left.result
    return {
        **peaks,
        "cpu_s": round(_cpu_s() - before, 1),
        "wall_s": round(time.monotonic() - begun, 1),
    }


def watched(job: subprocess.Popen[str]) -> Mapping[str, float]:
    """Return the most that runner and proxy, and the engine, took until the end."""
    ours = agents = 0.0
    while job.poll() is None:
        try:
            one, other = memory_below(job.pid)
        except (OSError, psutil.Error):
            continue  # one of them ended meanwhile
        ours, agents = max(ours, one), max(agents, other)
        time.sleep(LOOK_S)
    return {"ours_pss_mb": round(ours), "agent_pss_mb": round(agents)}


def _cpu_s() -> float:
    used = os.times()
    return used.children_user + used.children_system


if __name__ == "__main__":
    main()
