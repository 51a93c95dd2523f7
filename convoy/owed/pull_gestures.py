"""What people did by hand to pull requests and their branches. Pure."""

from collections.abc import Iterator

from convoy.model import ids
from convoy.model.state import Convoy, Task
from convoy.model.taken_out import Gesture, TakenOut
from convoy.owed.actions import Action, TakeBack, TakeOut
from convoy.readiness.observed import Observed, PullSeen
from convoy.readiness.unlanded_work import head_branch


def pull_gestures(convoy: Convoy, observed: Observed) -> Iterator[Action]:
    """Yield what people took out, and what they took back."""
    branch = ids.base_branch(convoy.name)
    if ids.HEADS + branch not in observed.refs:
        return  # the forge closed all its pull requests with it
    yield from _of(convoy, convoy, head_branch(convoy), convoy.target, observed)
    for task in convoy.tasks:
        if not task.settled:
            own = ids.task_branch(convoy.name, task.number)
            yield from _of(convoy, task, own, branch, observed)


def _of(
    convoy: Convoy, part: Convoy | Task, branch: str, base: str, observed: Observed
) -> Iterator[Action]:
    seen = observed.pulls.get(part.pull or 0)
    if seen is None or _lands_nothing(part):
        return
    number = part.number if isinstance(part, Task) else 0
    there = ids.HEADS + branch in observed.refs
    found = None if seen.merged else _gesture(seen, base, there=there)
    if found is not None and found != part.taken_out:
        yield TakeOut(convoy.name, number, found)
    elif found is None and part.taken_out is not None:
        yield TakeBack(convoy.name, number)


def _gesture(seen: PullSeen, base: str, *, there: bool) -> TakenOut | None:
    gesture: Gesture
    if not there:
        gesture = "branch"  # the forge closes the pull request with it
    elif not seen.open:
        gesture = "closed"
    elif seen.base != base:
        return TakenOut(gesture="base", pull=seen.number, base=seen.base)
    else:
        return None
    return TakenOut(gesture=gesture, pull=seen.number)


def _lands_nothing(part: Convoy | Task) -> bool:
    """Whether its base holds all of it: the forge itself may close the pull request."""
    candidate = part.candidate
    return candidate is not None and candidate.commit == candidate.base
