"""What brat is measured against: one agent after another, and batches of four.

Both use the same agent and the same CI, and nothing beside git.
"""

import json
import os
import subprocess
import sys
import time
from collections import deque
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock
from typing import Final

from msgspec import Struct

from benchmarks.bare_loop import ENV, call
from benchmarks.replay import patch_agent, processor_time
from benchmarks.replay.history import History
from grite import git

BATCH: Final = 4
CI_S: Final = 600.0


class Peer(Struct, frozen=True, kw_only=True):
    """What a simpler way took."""

    wall_s: float
    cpu_s: float
    """Processor time of everything: sessions, CI and git."""
    sessions: int
    ci_runs: int
    ci_s: tuple[float, ...] = ()
    """What each run took."""
    ci_red: int = 0


class Tree:
    """A checkout of a history, in which commits are made and judged."""

    def __init__(self, folder: Path, history: History, seconds: float) -> None:
        """Check out where the history begins; each agent thinks for `seconds`."""
        self._folder, self._history = folder, history
        self.ci_s: list[float] = []
        self.sessions = 0
        self._seconds = seconds
        self._adding = Lock()
        self._before_s = processor_time.used_s()
        folder.mkdir(parents=True)
        self.path = folder / "tree"
        call("git", "clone", "-q", "-n", str(history.repository), "tree", cwd=folder)
        self.stand_on(history.start)

    @property
    def cpu_s(self) -> float:
        """The processor time of all that was started here."""
        return processor_time.used_s() - self._before_s

    def stand_on(self, commit: str) -> None:
        """Check a commit out, and leave nothing else."""
        call("git", "checkout", "-q", "--force", "--detach", commit, cwd=self.path)
        call("git", "clean", "-q", "-ffdx", cwd=self.path)

    def judged(self, commit: str) -> bool:
        """Whether CI is green on a commit."""
        self.stand_on(commit)
        begun = time.perf_counter()
        done = subprocess.run(
            ["sh", "-c", self._history.ci],
            cwd=self.path,
            env=ENV,
            capture_output=True,
            timeout=CI_S,
            check=False,
        )
        self.ci_s.append(time.perf_counter() - begun)
        return done.returncode == 0

    def worked(self, number: int, tip: str, attempt: int) -> str:
        """Return the commit of one agent's work on a tip, made in a checkout of it."""
        self.sessions += 1
        place = self._folder / f"work-{number}-{attempt}"
        how = ("--quiet", "--force", "--detach", str(place), tip)
        with self._adding:  # git reads the others' entries while they are half written
            call("git", "worktree", "add", *how, cwd=self.path)
        plan = {
            "repository": str(self._history.repository),
            "start": self._history.start,
            "changes": [(each.base, each.commit) for each in self._history.changes],
            "seconds": self._seconds,
            "sessions": os.devnull,
            "judged": os.devnull,
        }
        file = self._folder / f"plan-{number}-{attempt}.json"
        file.write_text(json.dumps(plan), encoding="utf-8")
        subprocess.run(
            [sys.executable, "-I", patch_agent.__file__, str(file)],
            cwd=place,
            env={**ENV, "BRAT_TASK": str(number), "BRAT_ATTEMPT": str(attempt)},
            stdout=subprocess.DEVNULL,
            check=True,
            timeout=CI_S,
        )
        call("git", "add", "--all", "--force", cwd=place)
        title = f"{patch_agent.TITLE} {number}"
        call("git", "commit", "-q", "--allow-empty", "-m", title, cwd=place)
        return git.run(["rev-parse", "HEAD"], cwd=place).stdout.decode().strip()

    def merged(self, tip: str, work: str) -> str | None:
        """Return work on a tip as a new commit; None: it conflicts."""
        self.stand_on(tip)
        done = subprocess.run(
            ["git", "cherry-pick", "--allow-empty", work],
            cwd=self.path,
            env=ENV,
            capture_output=True,
            check=False,
        )
        if done.returncode != 0:
            call("git", "cherry-pick", "--abort", cwd=self.path)
            return None
        return git.run(["rev-parse", "HEAD"], cwd=self.path).stdout.decode().strip()


def one_by_one(folder: Path, history: History, seconds: float) -> Peer:
    """Let one agent after another work on what all before it left, each judged."""
    tree = Tree(folder, history, seconds)
    begun = time.perf_counter()
    tip, red = history.start, 0
    for number in range(1, len(history.changes) + 1):
        tip = tree.worked(number, tip, 1)
        red += not tree.judged(tip)
    return _peer(tree, begun, red)


def in_batches(folder: Path, history: History, seconds: float) -> Peer:
    """Let four at a time start from the same tip, and merge them together.

    What conflicts is done again with the next four. A batch that is red is judged
    change by change; what is red then is done again, too.
    """
    tree = Tree(folder, history, seconds)
    begun = time.perf_counter()
    left = deque((n, 1) for n in range(1, len(history.changes) + 1))
    tip, red = history.start, 0
    limit = len(left) * BATCH
    while left and tree.sessions < limit:
        batch = [left.popleft() for _ in range(min(BATCH, len(left)))]
        works = _side_by_side(tree, tip, batch)
        tip, again, reds = _landed(tree, tip, batch, works)
        red += reds
        left.extendleft((number, attempt + 1) for number, attempt in reversed(again))
    return _peer(tree, begun, red)


def _side_by_side(tree: Tree, tip: str, batch: Sequence[tuple[int, int]]) -> list[str]:
    with ThreadPoolExecutor(BATCH) as pool:
        return [*pool.map(lambda task: tree.worked(task[0], tip, task[1]), batch)]


def _landed(
    tree: Tree, tip: str, batch: Sequence[tuple[int, int]], works: Sequence[str]
) -> tuple[str, list[tuple[int, int]], int]:
    """Return the new tip, what is to be done again, and how many runs were red."""
    above, again, whole = tip, [], []
    for task, work in zip(batch, works, strict=True):
        merged = tree.merged(above, work)
        if merged is None:
            again.append(task)
        else:
            above = merged
            whole.append((task, work))
    if not whole or tree.judged(above):
        return above, again, 0
    red = 1
    above = tip
    for task, work in whole:
        merged = tree.merged(above, work)
        if merged is not None and tree.judged(merged):
            above = merged
        else:
            red += merged is not None
            again.append(task)
    return above, sorted(again), red


def _peer(tree: Tree, begun: float, red: int) -> Peer:
    return Peer(
        wall_s=round(time.perf_counter() - begun, 1),
        cpu_s=round(tree.cpu_s, 1),
        sessions=tree.sessions,
        ci_runs=len(tree.ci_s),
        ci_s=tuple(round(each, 2) for each in tree.ci_s),
        ci_red=red,
    )


def critical_path(history: History, peer: Peer, seconds: float) -> float:
    """Return how long the longest chain of changes that share a file takes at least.

    Args:
        history: the changes.
        peer: one after another, whose CI runs say what each change's takes.
        seconds: what each agent takes.
    """
    ends: list[float] = []
    for number, change in enumerate(history.changes):
        files = set(change.files)
        before = (
            end
            for end, other in zip(ends, history.changes, strict=False)
            if files & set(other.files)
        )
        ends.append(max(before, default=0.0) + seconds + peer.ci_s[number])
    return round(max(ends), 1)
