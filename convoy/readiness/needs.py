"""What a convoy needs people for, and whether they have been called. Pure.

Editing the convoy's comment notifies nobody; a new comment does. So people are called
once when something begins to wait for them, and not again while any of that still
waits: the convoy's comment lists the rest.
"""

from collections.abc import Iterator
from typing import Literal

from msgspec import Struct

from convoy.kinds.relations import is_stopped
from convoy.model.set_aside import SetAside, show_item
from convoy.model.state import Convoy, State, Task
from convoy.readiness.lacking_approvals import lacking

FAILED = "failed"
"""The key of the need of a failed convoy."""


class Need(Struct, frozen=True, kw_only=True):
    """One thing that a person must do."""

    key: str
    """A key that stays the same as long as the need does."""
    kind: Literal[
        "approve the plan",
        "unblock",
        "approve the work",
        "failed",
        "refused",
        "let it land",
        "landing",
    ]
    task: int = 0
    aside: SetAside | None = None
    """What was refused."""


def blocked_key(task: Task) -> str:
    """Return the key of the need of a task that is blocked as it is now."""
    return f"blocked/{task.number}/{task.started}"


def uncalled(state: State, convoy: Convoy) -> tuple[Need, ...]:
    """Return what to call people for now: everything that waits, or nothing."""
    needs = tuple(_needs(state, convoy))
    if any(need.key in convoy.called for need in needs):
        return ()
    return needs


def _needs(state: State, convoy: Convoy) -> Iterator[Need]:
    planned = bool(convoy.tasks)
    if convoy.state == "failed" and (planned or convoy.mayor):
        yield Need(key=FAILED, kind="failed")
    if not convoy.ended and not convoy.held:
        yield from _standing(state, convoy)
        yield from _of_live(convoy)


def _of_live(convoy: Convoy) -> Iterator[Need]:
    planned = bool(convoy.tasks)
    # A plan out of the issue's own list is shown as soon as the comment is written.
    if convoy.state == "planning" and planned and convoy.mayor and not convoy.staged:
        yield Need(key="plan", kind="approve the plan")
    if convoy.landing_waits and (convoy.settled or convoy.parts.branch):
        yield Need(key=f"landing/{convoy.landing_waits}", kind="let it land")
    for task in convoy.tasks:
        if is_stopped(convoy, task):
            yield Need(key=blocked_key(task), kind="unblock", task=task.number)
        elif work := _unapproved(convoy, task):
            key = f"approve/{task.number}/{work}"
            yield Need(key=key, kind="approve the work", task=task.number)


def _standing(state: State, convoy: Convoy) -> Iterator[Need]:
    """Yield what the forge refused, and a landing that CI says nothing of."""
    yield from _refused(state, convoy)
    if convoy.sync.stalled:
        yield Need(key=f"landing/{convoy.sync.at}", kind="landing")


def _refused(state: State, convoy: Convoy) -> Iterator[Need]:
    """Yield what is set aside and will hardly go on by itself.

    The convoy's comment tells of everything else that was refused, but cannot tell that
    its own change was.
    """
    comment = state.set_aside.get(show_item(convoy.name, "comment"))
    own = ((task.number, task.number, task.set_aside) for task in convoy.tasks)
    for what, task, aside in (
        (0, 0, convoy.set_aside),
        *own,
        ("comment", 0, comment),
    ):
        if aside is not None and not aside.again and not aside.passing:
            key = f"refused/{what}/{aside.rule}"
            yield Need(key=key, kind="refused", task=task, aside=aside)


def _unapproved(convoy: Convoy, task: Task) -> str:
    """Return the work that waits only for approvals."""
    if task.state != "needs-review" or task.held or task.withdrawn or task.taken_out:
        return ""
    if task.work is None or task.pull is None:
        return ""
    return task.work.commit[:10] if lacking(convoy, task) else ""
