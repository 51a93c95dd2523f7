"""What follows from an end: leases are freed, tasks queued again, convoys offered."""

from convoy import ids
from convoy.commands import FailMerge, LoseSession, RefuseWork
from convoy.decide.verdict import Events
from convoy.events import (
    ActionIntended,
    Cause,
    ConvoyCompleted,
    ConvoyFailed,
    Event,
    LeaseFreed,
    Occasion,
    PeopleCalled,
    TaskBlocked,
    TaskQueued,
)
from convoy.evolve import FREE
from convoy.outcome import OUTAGES_MOST, wait_ms
from convoy.state import Convoy, State, Task


def freed(state: State, convoy: str, task: Task) -> Events:
    """Free what the task's session holds."""
    holder = ids.session_name(convoy, task.number, task.started)
    return tuple(
        LeaseFreed(resource=lease.resource, nonce=lease.nonce)
        for lease in state.leases.values()
        if lease.holder == holder
    )


def again(
    state: State, command: RefuseWork | LoseSession | FailMerge, task: Task
) -> Events:
    """Queue the task once more, or block it when its attempts are spent.

    One that was dropped or blocked while its session ran stays what it is.
    """
    if task.state not in ("running", "needs-review"):
        return ()
    limit = state.convoys[command.convoy].settings.attempts
    cause: Cause = command.cause
    why = ""
    if cause not in FREE and task.spent >= limit:
        tries = "1 attempt" if task.spent == 1 else f"{task.spent} attempts"
        why = f"{tries} did not land; the last: {command.why}"
    elif cause == "outage" and task.outages >= OUTAGES_MOST:
        why = f"{task.outages + 1} attempts found no model; the last: {command.why}"
    if why:
        return (TaskBlocked(convoy=command.convoy, task=task.number, why=why),)
    queued = TaskQueued(
        convoy=command.convoy,
        task=task.number,
        cause=cause,
        why=command.why,
        not_before=_not_before(command, task),
    )
    return (queued,)


def _not_before(command: RefuseWork | LoseSession | FailMerge, task: Task) -> int:
    if not isinstance(command, RefuseWork) or command.cause != "outage":
        return 0
    session = task.attempt.session if task.attempt else ""
    return command.now + wait_ms(session, task.outages + 1, command.asked_s)


def convoy_next(convoy: Convoy, settled: Task) -> Events:
    """Return what follows for the convoy when its last task has settled.

    Landed work is offered as the convoy's own pull request; without any there is none.
    """
    rest = (task for task in convoy.tasks if task.number != settled.number)
    tasks = (*rest, settled)
    if not all(task.settled for task in tasks):
        return ()
    if any(task.landed for task in tasks):
        key = ids.pull_key(convoy.name, 0)
        return (ActionIntended(key=key, kind="pull", convoy=convoy.name),)
    if any(task.state == "merged" for task in tasks):
        return completed(convoy, convoy.base)
    dropped = ConvoyFailed(convoy=convoy.name, why="every task was dropped")
    return (dropped, finish(convoy.name))


def completed(convoy: Convoy, commit: str) -> Events:
    """Return what follows when the convoy has landed as this commit."""
    done = ConvoyCompleted(convoy=convoy.name, commit=commit)
    told = notice(convoy, "completion", "complete")
    return (done, finish(convoy.name), *told)


def notice(convoy: Convoy, occasion: Occasion, what: str, text: str = "") -> Events:
    """Announce that a webhook is told, if the repository wants that."""
    if occasion not in convoy.settings.notify:
        return ()
    key = ids.notice_key(convoy.name, what)
    return (ActionIntended(key=key, kind="notify", convoy=convoy.name, text=text),)


def known(convoy: str, by: str, *needs: str) -> Events:
    """Call nobody for what a person did themselves; `by` empty: nobody did."""
    return (PeopleCalled(convoy=convoy, needs=needs),) if by and needs else ()


def finish(convoy: str) -> Event:
    """Announce the last words on the convoy's issue."""
    return ActionIntended(key=ids.finish_key(convoy), kind="finish", convoy=convoy)
