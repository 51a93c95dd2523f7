"""What is true of leases and announced actions after an event."""

from typing import assert_never

from msgspec.structs import replace

from convoy import ids
from convoy.events import (
    ActionDone,
    ActionIntended,
    LeaseFreed,
    LeaseTaken,
    TaskDropped,
)
from convoy.evolve.change import change_convoy, change_session, change_task
from convoy.state import Convoy, Intent, Lease, State, Task


def lease_after(state: State, event: LeaseTaken | LeaseFreed) -> State:
    """Return the state after a resource was taken or freed."""
    leases = dict(state.leases)
    if isinstance(event, LeaseTaken):
        leases[event.resource] = Lease(
            resource=event.resource,
            holder=event.holder,
            nonce=event.nonce,
            expires=event.expires,
        )
    else:
        leases.pop(event.resource, None)
    return replace(state, leases=leases)


def action_after(state: State, event: ActionIntended | ActionDone) -> State:
    """Return the state after an action was announced or done."""
    intents = dict(state.intents)
    if isinstance(event, ActionIntended):
        intents[event.key] = Intent(
            key=event.key,
            kind=event.kind,
            convoy=event.convoy,
            task=event.task,
            attempt=event.attempt,
            issue=event.issue,
            comment=event.comment,
            reaction=event.reaction,
            text=event.text,
        )
        return replace(state, intents=intents)
    intent = intents.pop(event.key, None)
    state = replace(state, intents=intents)
    if intent is None:
        return state
    if intent.kind == "answer" and not intent.comment:
        return replace(state, heard=state.heard | {intent.key})
    if intent.kind == "answer":
        return replace(state, answered=state.answered | {intent.comment})
    return _done(state, intent, event.number)


def withdrawn(state: State, event: TaskDropped) -> State:
    """Return the state without the pull request that was announced for the task."""
    key = ids.pull_key(event.convoy, event.task)
    intents = {k: intent for k, intent in state.intents.items() if k != key}
    return replace(state, intents=intents)


def _done(state: State, intent: Intent, number: int) -> State:
    def dispatched(task: Task) -> Task:
        attempt = task.attempt
        if attempt is None or attempt.number != intent.attempt:
            return task
        at = state.moment.at
        runs = (*task.runs, number) if number else task.runs
        return replace(task, attempt=replace(attempt, run=number, at=at), runs=runs)

    def noted(convoy: Convoy) -> Convoy:
        match intent.kind:
            case "dispatch":
                return change_session(convoy, intent.task, dispatched)
            case "pull" if intent.task == 0:
                return replace(convoy, pull=number)
            case "pull":
                return change_task(
                    convoy, intent.task, lambda t: replace(t, pull=number)
                )
            case "comment" | "finish" | "answer" | "notify":
                return convoy
            case _:
                assert_never(intent.kind)

    return change_convoy(state, intent.convoy, noted)
