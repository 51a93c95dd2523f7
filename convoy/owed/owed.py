"""The actions due, in order: `owed_actions(State, Observed, Patience, now)`.

Level-triggered: computed from nothing each time, so a lost delivery changes nothing.
Results come before triggers, so that a freed slot is used in the same tick.
"""

from collections.abc import Iterator

from convoy.model import ids
from convoy.model.state import Convoy, State
from convoy.owed.actions import (
    Action,
    Call,
    CreateBase,
    Do,
    Expire,
    MakePlan,
    Show,
    Sweep,
)
from convoy.owed.attempts import (
    deferred,
    ended_sessions,
    overspent_tasks,
    splits,
    starts,
)
from convoy.owed.landings import merges
from convoy.owed.patience import Patience
from convoy.readiness.landing import queue_branches
from convoy.readiness.needs import uncalled
from convoy.readiness.observed import Observed
from convoy.readiness.reorder import overlooked


def owed_actions(
    state: State, observed: Observed, patience: Patience, now: int
) -> tuple[Action, ...]:
    """Return every action due at `now` (unix ms), the most urgent first."""
    convoys = tuple(state.live())
    return (
        *ended_sessions(state, observed, patience, now),
        *(a for convoy in convoys for a in merges(convoy, observed, patience, now)),
        *(a for convoy in convoys for a in _foundations(convoy, observed)),
        *(a for convoy in convoys for a in overlooked(convoy)),
        *(a for convoy in convoys for a in overspent_tasks(convoy)),
        *(a for convoy in convoys for a in splits(convoy)),
        *(a for convoy in convoys for a in deferred(state, convoy, now)),
        *starts(state, observed, now),
        *_calls(state),
        *(Do(intent) for intent in state.intents.values()),
        *(Show(convoy.name) for convoy in convoys),
        *_sweeps(state, observed),
        *(
            Expire(lease.resource, lease.nonce)
            for lease in state.leases.values()
            if lease.expires <= now
        ),
    )


def _calls(state: State) -> Iterator[Action]:
    for convoy in state.convoys.values():
        if convoy.state != "complete" and (needs := uncalled(convoy)):
            yield Call(convoy.name, needs)


def _foundations(convoy: Convoy, observed: Observed) -> Iterator[Action]:
    if convoy.state == "planning":
        if not convoy.tasks and not _is_planning(convoy):
            yield MakePlan(convoy.name)
    elif ids.HEADS + ids.base_branch(convoy.name) not in observed.refs:
        landed = [task for task in convoy.tasks if task.landed]
        last = max(landed, key=lambda t: t.ended_at, default=None)
        yield CreateBase(convoy.name, (last and last.landed) or convoy.base)


def _is_planning(convoy: Convoy) -> bool:
    """Whether an engine plans or will plan; if it failed, the task list is the plan."""
    return convoy.mayor is not None and convoy.mayor.state in ("queued", "running")


def _sweeps(state: State, observed: Observed) -> Iterator[Action]:
    """Delete the queue branches of candidates that are no longer open."""
    kept = queue_branches(state)
    stale = tuple(
        (ref, commit)
        for ref, commit in sorted(observed.refs.items())
        if ref.startswith(ids.HEADS + "brat/queue/") and ref not in kept
    )
    if stale:
        yield Sweep(stale)
