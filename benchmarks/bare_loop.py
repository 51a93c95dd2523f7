"""What somebody would write without brat: the peer that the benchmark runs against.

The same work by the shortest road: a Python process per task clones, branches, runs
the command, commits and pushes its branch; a merger takes the branches in the order in
which they finish, rebases each onto main, runs the CI command there and pushes main.
No log, no retries, no recovery; a red check or a conflict ends it with an error.
"""

import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

DEADLINE_S = 600.0
ENV = {
    "PATH": os.environ["PATH"],
    "LC_ALL": "C",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_AUTHOR_NAME": "bare loop",
    "GIT_AUTHOR_EMAIL": "loop@example.invalid",
    "GIT_COMMITTER_NAME": "bare loop",
    "GIT_COMMITTER_EMAIL": "loop@example.invalid",
}


def call(*argv: str, cwd: Path) -> None:
    """Run a program to its end.

    Raises:
        subprocess.CalledProcessError: its exit status is not 0.
        subprocess.TimeoutExpired: it was ended after `DEADLINE_S`.
    """
    subprocess.run(argv, cwd=cwd, env=ENV, check=True, timeout=DEADLINE_S)


def command(number: int, seconds: float) -> str:
    """Return what a task's agent does, as a line of sh: wait, then write one file."""
    return f"sleep {seconds} && mkdir -p work && echo done > work/{number}.txt"


def make_origin(folder: Path, source: Path | None) -> Path:
    """Make the bare repository to work on: a copy of `source`, or a readme alone."""
    if source is None:
        source = folder / "source"
        source.mkdir()
        call("git", "init", "-q", "-b", "main", cwd=source)
        (source / "README.md").write_text("# A project\n", encoding="utf-8")
        call("git", "add", "README.md", cwd=source)
        call("git", "commit", "-q", "-m", "Begin", cwd=source)
    origin = folder / "origin.git"
    call("git", "clone", "-q", "--bare", str(source), str(origin), cwd=folder)
    return origin


def do_task(number: int, seconds: float, folder: Path) -> None:
    """Do one task from clone to push; runs in a process of its own."""
    tree = folder / f"task-{number}"
    # As from a server: a clone by copying fails where somebody pushes meanwhile.
    origin = f"file://{folder / 'origin.git'}"
    call("git", "clone", "-q", origin, str(tree), cwd=folder)
    call("git", "switch", "-q", "-c", f"task-{number}", cwd=tree)
    call("sh", "-c", command(number, seconds), cwd=tree)
    call("git", "add", "--all", cwd=tree)
    call("git", "commit", "-q", "-m", f"Do task {number}", cwd=tree)
    call("git", "push", "-q", "origin", f"task-{number}", cwd=tree)


def merge(number: int, ci: str, tree: Path) -> None:
    """Bring one task's branch onto main in the merger's clone and push it."""
    call("git", "fetch", "-q", "origin", f"task-{number}", cwd=tree)
    call("git", "checkout", "-q", "--detach", "FETCH_HEAD", cwd=tree)
    call("git", "rebase", "-q", "main", cwd=tree)
    call(*shlex.split(ci), cwd=tree)
    call("git", "push", "-q", "origin", "HEAD:main", cwd=tree)
    call("git", "branch", "-q", "-f", "main", "HEAD", cwd=tree)


def run(
    tasks: int,
    slots: int,
    seconds: float | Sequence[float],
    ci: str,
    folder: Path,
    source: Path | None = None,
) -> float:
    """Do all tasks and return the wall time in seconds, the origin's making left out.

    Args:
        tasks: how many, numbered from 1.
        slots: how many run at once.
        seconds: what each task waits: one figure for all, or one a task.
        ci: a command line, run on each rebased commit.
        folder: an empty folder to work in.
        source: the repository to start from, with a branch main.

    Raises:
        ValueError: there are not as many `seconds` as `tasks`.
        subprocess.CalledProcessError: a task, a rebase, CI or a push failed.
    """
    waits = [seconds] * tasks if isinstance(seconds, int | float) else list(seconds)
    numbers = range(1, tasks + 1)
    me = (sys.executable, "-I", __file__, "--folder", str(folder))
    origin = make_origin(folder, source)
    merger = folder / "merger"

    started = time.perf_counter()
    call("git", "clone", "-q", str(origin), str(merger), cwd=folder)
    with ThreadPoolExecutor(slots) as pool:
        running = {
            pool.submit(
                call, *me, "--task", str(number), "--seconds", str(wait), cwd=folder
            ): number
            for number, wait in zip(numbers, waits, strict=True)
        }
        try:
            for done in as_completed(running):
                done.result()
                merge(running[done], ci, merger)
        finally:
            pool.shutdown(cancel_futures=True)
    return time.perf_counter() - started


def main() -> None:
    """Run it and print one line of JSON, or do the one task that `--task` names."""
    parser = argparse.ArgumentParser(description="the benchmark's peer without brat")
    parser.add_argument("--tasks", type=int, default=50)
    parser.add_argument("--slots", type=int, default=10)
    parser.add_argument("--seconds", type=float, nargs="+", default=[1.0])
    parser.add_argument("--ci", default="true", help="command run on each result")
    parser.add_argument("--source", type=Path, help="repository to start from")
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--task", type=int, help=argparse.SUPPRESS)
    args = parser.parse_args()
    seconds = args.seconds[0] if len(args.seconds) == 1 else args.seconds
    if args.task is not None:
        do_task(args.task, seconds, args.folder)
        return
    with tempfile.TemporaryDirectory(prefix="bare-loop-") as name:
        wall_s = run(args.tasks, args.slots, seconds, args.ci, Path(name), args.source)
    figures = {"tasks": args.tasks, "slots": args.slots, "seconds": seconds}
    print(json.dumps({**figures, "ci": args.ci, "wall_seconds": round(wall_s, 3)}))


if __name__ == "__main__":
    main()
