"""Whether a change may land, and the queue of changes that may. Pure.

A task's work goes this way: it waits while somebody or something keeps it back
(`kept_back`), stands in the queue (`waiting_to_merge`), has a candidate in the chain
(`chain`), and lands when that is the front and judged by all that must (`is_judged`).

The chain: each task's candidate stands on the branch's tip or on the candidate ahead
of it; in front of all there may be one that takes the target in. A link whose base or
work has changed is broken; it and all behind it are built again. What CI finds red
leaves the chain and is judged alone (`second_looks.py`).
"""

from collections.abc import Iterator, Mapping
from typing import Final

from msgspec import Struct

from convoy.kinds import relations
from convoy.model import ids
from convoy.model.attempt import Candidate
from convoy.model.records import Settings
from convoy.model.set_aside import another_try
from convoy.model.state import Convoy, State, Task
from convoy.readiness.lacking_approvals import lacking
from convoy.readiness.observed import Checks
from convoy.readiness.second_looks import is_suspect
from convoy.readiness.target_moves import on_tip
from convoy.readiness.turns import Turn, turns

UNJUDGED: Final = ("none",)
"""What a landing notes as its checks if CI is not required."""


def kept_back(convoy: Convoy, task: Task) -> str:
    """Return what must happen before the task may merge; empty: nothing."""
    return kept_by_people(convoy, task) or relations.kept_back(convoy, task)


def kept_by_people(convoy: Convoy, task: Task) -> str:
    """Return what people must do before the task may merge; empty: nothing."""
    if waits := convoy.kept_by:
        return waits
    if task.held:
        return f"the label {task.held} to go"
    if task.set_aside is not None and task.waits_aside:
        return another_try(task.set_aside)
    if task.taken_out is not None:
        return task.taken_out.back
    if task.withdrawn:
        return "a person: it was taken out of the merge queue"
    return lacking(convoy, task)


def waiting_to_merge(convoy: Convoy) -> tuple[Task, ...]:
    """Return the tasks with accepted work that may merge, in the order of the queue.

    What CI judges already is in front, then what was accepted first; of tasks that
    touch the same, each stands behind those whose turn comes first. What was seen to
    conflict with work ahead of it stands in no queue until that has landed or is out,
    nor do suspects: what CI found red is judged alone.
    """
    waiting = [task for task in _may_merge(convoy) if not is_suspect(task)]
    waiting.sort(key=_came)
    first = turns(convoy) if len(convoy.tasks) > 1 and waiting else {}
    queue: dict[int, Task] = {}
    while waiting:
        able = (
            task
            for task in waiting
            if all(turn.on in queue for turn in first.get(task.number, ()))
        )
        if (task := next(able, None)) is None:
            break
        waiting.remove(task)
        if clashing(task, queue) is None:
            queue[task.number] = task
    return tuple(queue.values())


def clashing(task: Task, ahead: Mapping[int, Task]) -> Turn | None:
    """Return the work ahead that the task's work was seen to conflict with."""
    clash, work = task.clash, task.work
    other = ahead.get(clash.on) if clash is not None else None
    if clash is None or work is None or other is None or other.work is None:
        return None
    is_current = (clash.work, clash.other) == (work.commit, other.work.commit)
    return Turn(clash.on, clash.paths) if is_current else None


def _came(task: Task) -> tuple[bool, int, int]:
    if task.candidate is not None:
        return (False, task.candidate.since, task.number)
    return (True, task.work.at if task.work else 0, task.number)


def suspects(convoy: Convoy) -> tuple[Task, ...]:
    """Return the tasks whose work CI found red and that may merge, as listed."""
    return tuple(task for task in _may_merge(convoy) if is_suspect(task))


def _may_merge(convoy: Convoy) -> Iterator[Task]:
    return (
        task
        for task in convoy.tasks
        if task.state == "needs-review" and not kept_back(convoy, task)
    )


def judged_by(settings: Settings, checks: Checks | None) -> tuple[str, ...]:
    """Return what is noted about the checks that judged a commit."""
    return checks.names if checks and settings.require_ci else UNJUDGED


def is_judged(settings: Settings, judged: tuple[str, ...]) -> bool:
    """Whether all checks that must judge a commit did."""
    if not settings.require_ci:
        return judged == UNJUDGED
    return judged not in ((), UNJUDGED) and set(settings.checks) <= set(judged)


class Link(Struct, frozen=True):
    """A task whose candidate stands where it should."""

    task: Task
    candidate: Candidate


class Chain(Struct, frozen=True):
    """The unbroken front of the merge queue, and what must be built behind it."""

    links: tuple[Link, ...]
    onto: str
    """The commit the next candidate stands on."""
    unbuilt: tuple[Task, ...]
    """Tasks to build on `onto`, in order, within the window."""


def chain(convoy: Convoy, tip: str) -> Chain:
    """Return the merge queue of `convoy` over the commit its branch stands at."""
    waiting = waiting_to_merge(convoy)[: convoy.settings.max_parallel]
    links: list[Link] = []
    sync = on_tip(convoy, tip)
    onto = sync.commit if sync is not None else tip
    for task in waiting:
        candidate, work = task.candidate, task.work
        if candidate is None or work is None:
            break
        if candidate.base != onto or candidate.work != work.commit:
            break
        links.append(Link(task, candidate))
        onto = candidate.commit
    return Chain(tuple(links), onto, waiting[len(links) :])


def candidates(convoy: Convoy) -> Iterator[Candidate]:
    """Yield every open candidate of the convoy, including the convoy's own."""
    for task in convoy.tasks:
        if task.candidate is not None and not task.settled:
            yield task.candidate
    for candidate in (convoy.sync.candidate, convoy.candidate):
        if candidate is not None and not convoy.ended:
            yield candidate


def queue_branches(state: State) -> frozenset[str]:
    """Return the refs that show the open candidates of all convoys to CI."""
    return frozenset(
        f"refs/heads/{ids.queue_branch(lane, candidate.commit)}"
        for convoy in state.live()
        for lane in (ids.base_branch(convoy.name), convoy.target)
        for candidate in candidates(convoy)
    )
