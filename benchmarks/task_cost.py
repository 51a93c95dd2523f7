"""What one landed task costs in local mode, by what no clock can blur.

A convoy of one task, whose agent is `echo` and whose CI is `true`, runs headless to its
end. git is found first in a folder of ours, where a script turns on git's own trace:
each git process then leaves a file, those that git starts included. Requests are
counted in the forge, and all processes where there is an `strace`.
https://git-scm.com/docs/api-trace2
"""

import json
import re
import resource
import shlex
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.bare_loop import call
from benchmarks.fleet import reader_entries
from benchmarks.task_cost_forge import REQUESTS

DEADLINE_S = 300.0
CONFIG = """\
[engine.default]
type = "shell"
args = ["sh", "-c", "echo done > done.txt"]

[ci]
command = "true"
"""
STRACE = ("-f", "-qq", "-e", "trace=execve", "-o")
STARTED = re.compile(r"(\d+) +(?:execve\(.*|<\.\.\. execve resumed>.*) = 0$")
LOOKS = ("ls-remote", "fetch", "upload-pack")
"""How often the bot looks at the forge, and at how much, depends on the clock."""


@dataclass(frozen=True, kw_only=True)
class Cost:
    """What a run took; it has one task and one session, and each count is for both."""

    wall_s: float
    processor_s: float
    git_s: float
    """The time that our own git calls took, one beside another counted twice."""
    ticks: int
    """How often the loop began. It depends on the clock, as the requests do."""
    processes: int | None
    """Those that executed a program; None: strace did not watch."""
    git_calls: Mapping[str, int]
    """By subcommand: those that brat, forge and runner started."""
    git_processes: int
    """Those that git itself started are counted, too."""
    requests: int
    """To the forge, git's among them."""
    pushes: int
    pushed_bytes: int
    """As packs and orders of a push."""
    log_commits: int

    @property
    def steady_calls(self) -> dict[str, int]:
        """The git calls by subcommand that no clock decides on."""
        return {name: n for name, n in self.git_calls.items() if name not in LOOKS}


def task_cost(folder: Path, repeats: int) -> dict[str, object]:
    """Count each run and return the one in the middle by its git processes."""
    costs = [counted(folder / str(n)) for n in range(repeats)]
    cost = sorted(costs, key=lambda each: each.git_processes)[len(costs) // 2]
    ordered = dict(sorted(cost.git_calls.items(), key=lambda item: (-item[1], item[0])))
    traced = counted(folder / "traced", strace=True)  # which makes it slow
    return {
        **asdict(cost),
        "processes": traced.processes,
        "git_calls": ordered,
        "git_calls_in_all": sum(ordered.values()),
        "git_calls_a_tick": round(sum(ordered.values()) / cost.ticks, 1),
        "requests_a_tick": round(cost.requests / cost.ticks, 1),
        "pushes_a_tick": round(cost.pushes / cost.ticks, 2),
    }


def new_project(folder: Path) -> Path:
    """Return a new repository, which has a configuration and nothing else."""
    (folder / ".brat").mkdir(parents=True)
    (folder / ".brat/config.toml").write_text(CONFIG, encoding="utf-8")
    call("git", "init", "-q", "-b", "main", cwd=folder)
    call("git", "add", "--all", cwd=folder)
    call("git", "commit", "-q", "-m", "Begin", cwd=folder)
    return folder


def counted(folder: Path, *, strace: bool = False) -> Cost:
    """Run the convoy in an empty folder and count.

    Raises `subprocess.CalledProcessError`: it did not land.
    """
    project = new_project(folder / "project")
    traces, ticks, started = folder / "traces", folder / "ticks", folder / "started"
    tracer = shutil.which("strace") if strace else None
    traces.mkdir()
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(
        [
            *((tracer, *STRACE, str(started)) if tracer else ()),
            *(sys.executable, "-m", "benchmarks.task_cost_brat", str(ticks)),
            *("mayor", "start", "--headless", "--task", "Say it", "--repo", project),
        ],
        cwd=Path(__file__).parents[1],
        env={
            "PATH": _programs(folder / "programs", traces),
            "HOME": str(folder / "home"),
            "LANG": "C.UTF-8",
        },
        stdin=subprocess.DEVNULL,
        check=True,
        capture_output=True,
        timeout=DEADLINE_S,
    )
    wall_s = time.perf_counter() - begun
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    state = project / ".git/brat"
    lines = (state / REQUESTS).read_text(encoding="utf-8").splitlines()
    pushed = [line for line in lines if "/git-receive-pack " in line]
    (bare,) = (state / "forge/repos").glob("*/*.git")
    calls, seconds = _ours(traces)
    return Cost(
        wall_s=round(wall_s, 2),
        processor_s=round(_spent(after) - _spent(before), 2),
        git_s=round(seconds, 2),
        ticks=int(ticks.read_text(encoding="utf-8")),
        processes=_executed(started) if tracer else None,
        git_calls=calls,
        git_processes=len([*traces.iterdir()]),
        requests=len(lines),
        pushes=len(pushed),
        pushed_bytes=sum(int(line.rpartition(" ")[2]) for line in pushed),
        log_commits=len(reader_entries(bare)),
    )


def _programs(folder: Path, traces: Path) -> str:
    """Return a PATH where git is a script that traces it.

    A git that root alone may write is preferred to any other, so none is left on it.
    """
    folder.mkdir()
    shell, git = (shutil.which(name) for name in ("sh", "git"))
    assert shell, "it needs sh"
    assert git, "it needs git"
    (folder / "sh").symlink_to(shell)
    script = f'GIT_TRACE2_EVENT={shlex.quote(str(traces))} exec {git} "$@"\n'
    (folder / "git").write_text(f"#!{shell}\n{script}", encoding="utf-8")
    (folder / "git").chmod(0o755)
    return str(folder)


def _ours(traces: Path) -> tuple[dict[str, int], float]:
    """Return the git calls that no git made, by subcommand, and their seconds."""
    calls: Counter[str] = Counter()
    seconds = 0.0
    for file in traces.iterdir():
        lines = file.read_text(encoding="utf-8").splitlines()
        events = [json.loads(line) for line in lines]
        if "/" not in events[0]["sid"]:
            calls[_subcommand(events)] += 1
            seconds += max(event.get("t_abs", 0.0) for event in events)
    return dict(calls), seconds


def _subcommand(events: Iterable[Mapping[str, str]]) -> str:
    names = (each["name"] for each in events if each["event"] == "cmd_name")
    return next(names, "unknown").removeprefix("_run_dashed_")


def _executed(file: Path) -> int:
    text = file.read_text(encoding="utf-8", errors="replace")
    found = (STARTED.match(line) for line in text.splitlines())
    return len({match[1] for match in found if match})


def _spent(usage: resource.struct_rusage) -> float:
    return usage.ru_utime + usage.ru_stime
