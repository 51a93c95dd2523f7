"""A repository with much going on: 1,000 tasks in ten convoys, 50 sessions at work."""

from pathlib import Path
from typing import Final

from convoy.events.forge_actions import ActionDone
from convoy.events.plan_events import ConvoyRequested
from convoy.model.records import TaskSpec
from convoy.rules.ending import AcceptWork
from convoy.rules.landing import AttemptMerge, LandMerge
from convoy.rules.people import BlockTask
from convoy.rules.plans import PlanConvoy
from convoy.rules.starting import StartTask
from tests.world.kept import Kept
from tests.world.rules import Rules, settings

CONVOYS, TASKS = 10, 100
MERGED, REVIEWED, RUNNING, BLOCKED = 10, 5, 5, 2
"""Of each convoy's tasks, in this order; the rest is queued."""
FIRST_QUEUED: Final = MERGED + REVIEWED + RUNNING + BLOCKED + 1
BASE: Final = "0" * 40


def name(convoy: int) -> str:
    """Return the name of a convoy, from 1."""
    return f"mend-the-parser-{convoy}"


def running(task: int) -> bool:
    """Whether a task of each convoy has a session."""
    return MERGED + REVIEWED < task <= MERGED + REVIEWED + RUNNING


def made(path: Path) -> Kept:
    """Make it, as a log in a new bare repository."""
    kept = Kept(path, Rules())
    for convoy in range(1, CONVOYS + 1):
        _planned(kept.rules, convoy)
        for task in range(1, TASKS + 1):
            _moved(kept.rules, convoy, task)
            kept.tell()
    return kept


def _planned(rules: Rules, convoy: int) -> None:
    tasks = tuple(
        TaskSpec(
            number=number,
            title=f"Mend case {number} of the parser, and say so in its tests",
            instructions="The parser takes what it must not. " * 20,
            after=(number - 10,) if number > MERGED + REVIEWED + RUNNING else (),
            paths=(f"parser/{convoy}/{number}.py", f"tests/{convoy}/test_{number}.py"),
        )
        for number in range(1, TASKS + 1)
    )
    asked = ConvoyRequested(
        convoy=name(convoy),
        issue=convoy,
        title="Mend the parser",
        text="All of it.",
        by="ann",
        target="main",
        base=BASE,
        settings=settings(),
    )
    rules.do(asked, PlanConvoy(convoy=name(convoy), planner="tasklist", tasks=tasks))


def _moved(rules: Rules, convoy: int, task: int) -> None:
    """Bring a task to where tasks of its number stand."""
    if task > MERGED + REVIEWED + RUNNING:
        if task <= MERGED + REVIEWED + RUNNING + BLOCKED:
            rules.do(BlockTask(convoy=name(convoy), task=task, why="its CI is red"))
        return
    run = 1000 * convoy + task
    start = StartTask(
        convoy=name(convoy),
        task=task,
        base=BASE,
        session=f"{run:032x}",
        nonce=f"nonce{run}",
        now=rules.now,
    )
    dispatched = f"dispatch:{name(convoy)}/{task}/1"
    rules.do(start, ActionDone(key=dispatched, number=run))
    if running(task):
        return
    commit = f"{run:040x}"
    work = AcceptWork(
        convoy=name(convoy),
        task=task,
        attempt=1,
        commit=commit,
        base=BASE,
        files=(f"parser/{convoy}/{task}.py", f"tests/{convoy}/test_{task}.py"),
    )
    opened = ActionDone(key=f"pull:{name(convoy)}/{task}", number=10 * run)
    rules.do(work, opened)
    if task <= MERGED:
        offer = AttemptMerge(
            convoy=name(convoy), task=task, candidate=commit, base=BASE, work=commit
        )
        land = LandMerge(
            convoy=name(convoy), task=task, candidate=commit, judged=("ci",)
        )
        rules.do(offer, land)
