"""A history as a convoy, by the command line as people use it.

The checkout of brat that does it is given, so that another one can do the same beside.
"""

import json
import os
import shlex
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from benchmarks.bare_loop import call
from benchmarks.replay import (
    ci_record,
    history as histories,
    patch_agent,
    processor_time,
)
from benchmarks.replay.history import History, Mode
from grite import git
from tests.world.second_reader import rows

OURS: Final = Path(sys.executable).with_name("brat")
ROUNDS: Final = 3
"""How often a person looks after what is blocked, before the run counts as stuck."""


class How(Struct, frozen=True, kw_only=True):
    """How a history is done again."""

    mode: Mode = "all"
    seconds: float = 2.0
    """How long each agent thinks."""
    slots: int = 4
    flaky: float = 0.0
    """How large a part of CI's runs is red by chance."""
    timeout_s: int = 1800
    brat: Path = OURS
    config: str = ""
    """More of the configuration."""


class Outcome(Struct, frozen=True, kw_only=True):
    """What came of it."""

    wall_s: float
    cpu_s: float
    """Processor time of everything: bot, forge, sessions, CI and their git."""
    changes: int
    landed: int
    sessions: int
    ci_runs: int
    ci_red: int
    ci_flakes: int
    persons: int
    """How often a person had to say that a task is tried again."""
    same_tree: bool
    rough: int
    """How many of the landed tasks' attempts met lines that others had changed."""
    refused: int
    """How many sessions' work was not taken."""
    failed: dict[str, int]
    """Why candidates left the queue, counted."""


def run(folder: Path, history: History, how: How) -> Outcome:
    """Do a history again in a new folder, where all of it lies afterwards."""
    project = _project(folder, history)
    _configure(folder, project, history, how)
    text = "\n".join([f"Replay {history.name}", "", *_tasks(history, how.mode)])
    asked = (
        *("mayor", "start", "--headless", "--timeout", f"{how.timeout_s}s"),
        *("--task", text),
    )
    begun = time.perf_counter()
    persons = 0
    status = _brat(folder, project, how, *asked)
    for _ in range(ROUNDS):
        blocked = _blocked(folder, project, how) if status == 1 else []
        for number in blocked:
            persons += 1
            _brat(folder, project, how, "task", "retry", str(number))
        if not blocked:
            break
        status = _brat(folder, project, how, *asked)
    wall_s = time.perf_counter() - begun
    return _outcome(folder, project, history, wall_s=wall_s, persons=persons)


def _project(folder: Path, history: History) -> Path:
    project, home = folder / "project", folder / "home"
    project.mkdir(parents=True)
    home.mkdir()
    (home / ".gitconfig").write_text(
        "[user]\n\tname = Pat Person\n\temail = pat@example.org\n"
    )
    call("git", "init", "-q", "-b", "main", cwd=project)
    call("git", "fetch", "-q", str(history.repository), history.start, cwd=project)
    call("git", "reset", "-q", "--hard", "FETCH_HEAD", cwd=project)
    return project


def _configure(folder: Path, project: Path, history: History, how: How) -> None:
    plan = {
        "repository": str(history.repository),
        "start": history.start,
        "changes": [(each.base, each.commit) for each in history.changes],
        "seconds": how.seconds,
        "sessions": str(folder / "sessions.jsonl"),
        "judged": str(folder / "ci.jsonl"),
    }
    (folder / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
    agent = [sys.executable, "-I", patch_agent.__file__, str(folder / "plan.json")]
    record = [sys.executable, "-I", ci_record.__file__, str(folder / "ci.jsonl")]
    ci = shlex.join([*record, str(how.flaky), history.ci])
    (project / ".brat").mkdir(exist_ok=True)
    (project / ".brat/config.toml").write_text(
        "[engine.default]\n"
        'type = "shell"\n'
        f"args = {json.dumps(agent)}\n"
        f"max_sessions = {how.slots}\n"
        '[runner]\nbox = "off"\n'  # agent and CI read and write beside the project
        f"[mayor]\ntasks = {max(len(history.changes), 1)}\n"
        f"[ci]\ncommand = {json.dumps(ci)}\n"
        '[gate]\ninstructions = true\nsecrets = ["*"]\nmax_bytes = 10000000\n'
        f"{how.config}",
        encoding="utf-8",
    )


def _tasks(history: History, mode: Mode) -> list[str]:
    lines = []
    for number, change in enumerate(history.changes, 1):
        paths = ", ".join(histories.declared(change, mode))
        told = f" paths: {paths}" if paths else ""
        lines.append(f"- [ ] {patch_agent.TITLE} {number}{told}")
    return lines


def _brat(folder: Path, project: Path, how: How, *args: str) -> int:
    """Run a command line of brat; what it says is kept in `brat.log`."""
    record = folder / "processor"
    timed = (sys.executable, "-I", processor_time.__file__, str(record))
    with (folder / "brat.log").open("ab") as log:
        return subprocess.run(
            [*timed, str(how.brat), *args],
            cwd=project,
            env=_environment(folder),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            timeout=how.timeout_s + 60,
            check=False,
        ).returncode


def _environment(folder: Path) -> dict[str, str]:
    # Another checkout's sandbox shows ours only where the PATH leads.
    ours = Path(ci_record.__file__).parent
    return {
        "PATH": f"{os.environ['PATH']}{os.pathsep}{ours}",
        "HOME": str(folder / "home"),
        "LANG": "C.UTF-8",
        "GIT_CONFIG_NOSYSTEM": "1",
    }


def _blocked(folder: Path, project: Path, how: How) -> list[int]:
    said = subprocess.run(
        [str(how.brat), "status", "--json"],
        cwd=project,
        env=_environment(folder),
        capture_output=True,
        timeout=60,
        check=False,
    )
    (convoy,) = json.loads(said.stdout)["convoys"]
    return [task["number"] for task in convoy["tasks"] if task["state"] == "blocked"]


def _outcome(
    folder: Path, project: Path, history: History, *, wall_s: float, persons: int
) -> Outcome:
    (bare,) = (project / ".git/brat/forge/repos").glob("*/*.git")
    facts = [fact for row in rows(bare) if (fact := row.fact)]
    merged = {f["task"] for f in facts if f["type"] == "merge.landed" and f["task"]}
    sessions = _lines(folder / "sessions.jsonl")
    runs = _lines(folder / "ci.jsonl")
    tip = git.run(["rev-parse", "main"], cwd=bare).stdout.decode().strip()
    wanted = histories.tree(history.repository, history.end)
    used = (folder / "processor").read_text("utf-8")
    return Outcome(
        wall_s=round(wall_s, 1),
        cpu_s=round(sum(map(float, used.split())), 1),
        changes=len(history.changes),
        landed=len(merged),
        sessions=len(sessions),
        ci_runs=len(runs),
        ci_red=sum(run["status"] != 0 for run in runs),
        ci_flakes=sum(run["flake"] for run in runs),
        persons=persons,
        same_tree=histories.tree(bare, tip) == wanted,
        rough=sum(bool(session["rough"]) for session in sessions),
        refused=sum(fact["type"] == "work.refused" for fact in facts),
        failed=dict(Counter(map(_reason, facts)) - Counter({"": len(facts)})),
    )


def _reason(fact: dict[str, Any]) -> str:
    if fact["type"] != "merge.failed":
        return ""
    said = str(fact["why"])
    if "conflict" in said:
        return "conflict"
    return "red" if " red " in said else "other"


def _lines(file: Path) -> list[dict[str, Any]]:
    if not file.exists():
        return []
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]
