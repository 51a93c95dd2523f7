"""What follows from an end: leases are freed, tasks queued again, convoys offered."""

from collections.abc import Collection, Iterator

from msgspec.structs import replace

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
    TaskDropped,
    TaskMerged,
    TaskQueued,
)
from convoy.evolve import FREE
from convoy.graph import overlapping
from convoy.kinds import attending
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
        splits = isinstance(command, RefuseWork) and command.splits
        blocked = TaskBlocked(
            convoy=command.convoy,
            task=task.number,
            why=why,
            cause=cause,
            splits=splits,
        )
        return (blocked,)
    queued = TaskQueued(
        convoy=command.convoy,
        task=task.number,
        cause=cause,
        why=command.why,
        not_before=_not_before(command, task),
    )
    return (queued,)


def changed(convoy: Convoy, task: Task, why: str) -> Events:
    """Send work back to be changed; where its attempts are spent, ask a person."""
    queued = TaskQueued(convoy=convoy.name, task=task.number, cause="changes", why=why)
    if task.spent < convoy.settings.attempts:
        return (queued,)
    spent = f"{task.spent} attempts are spent; the last: {why}"
    return (queued, TaskBlocked(convoy=convoy.name, task=task.number, why=spent))


def _not_before(command: RefuseWork | LoseSession | FailMerge, task: Task) -> int:
    if not isinstance(command, RefuseWork) or command.cause != "outage":
        return 0
    session = task.attempt.session if task.attempt else ""
    return command.now + wait_ms(session, task.outages + 1, command.asked_s)


def convoy_next(convoy: Convoy, settled: Task) -> Events:
    """Return what follows when a task has settled, for its reviews and for the convoy.

    Landed work is offered as the convoy's own pull request; without any there is none.
    """
    attended = tuple(_attended(convoy, settled))
    changed = {task.number: task for task in (*attended, settled)}
    tasks = tuple(changed.get(task.number, task) for task in convoy.tasks)
    return (
        *(_settled(convoy, settled, task) for task in attended),
        *_stranded(convoy, tasks),
        *_convoy_after(convoy, tasks),
    )


def _attended(convoy: Convoy, settled: Task) -> Iterator[Task]:
    """Give what is settled with a task; a session that still runs is for nothing."""
    for task in attending(convoy, settled.number):
        is_done = settled.state == "merged" and task.attempt is None
        yield replace(task, state="merged" if is_done else "dropped")


def _settled(convoy: Convoy, settled: Task, task: Task) -> Event:
    if task.state == "merged":
        return TaskMerged(convoy=convoy.name, task=task.number)
    why = f"task {settled.number}, whose work it looks at, is {settled.state}"
    if settled.spec.kind == "choice":
        why = f"task {settled.number}, which was to choose, is {settled.state}"
    elif task.spec.kind == "choice":
        why = f"task {settled.number}, which it chose, is {settled.state}"
    elif task.spec.kind == "split":
        why = f"task {settled.number}, which it was to split, is {settled.state}"
    return TaskDropped(convoy=convoy.name, task=task.number, why=why)


def unsplit(convoy: Convoy, split: Task, why: str) -> Events:
    """Return what follows where a task cannot be split: a person is asked after all."""
    dropped = TaskDropped(convoy=convoy.name, task=split.number, why=why)
    task = convoy.task(split.spec.on[0])
    if task is None or task.state != "blocked":
        return (dropped,)
    told = f"{task.why}; it was not split: {why}"
    return (dropped, TaskBlocked(convoy=convoy.name, task=task.number, why=told))


def _lost(task: Task, gone: Collection[int]) -> set[int]:
    """Return what a task needs of what is gone; to wait for a path is no need."""
    spec = task.spec
    needed = {n for n in spec.after if not overlapping(spec, n)}
    if spec.kind == "choice":
        return {n for n in needed if n in gone}  # one rival is enough
    return {n for n in (*needed, *spec.on) if n in gone}


def _stranded(convoy: Convoy, after: tuple[Task, ...]) -> Events:
    """Block what waits for a task that was dropped just now."""
    gone = {task.number for task in after if task.state == "dropped"}
    gone -= {task.number for task in convoy.tasks if task.state == "dropped"}
    return tuple(
        TaskBlocked(
            convoy=convoy.name,
            task=task.number,
            why=f"it needs task {min(lost)}, which was dropped",
        )
        for task in after
        if task.state == "queued" and (lost := _lost(task, gone))
    )


def _convoy_after(convoy: Convoy, tasks: tuple[Task, ...]) -> Events:
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
