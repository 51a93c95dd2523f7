"""What may happen to a task outside of its sessions."""

from msgspec.structs import replace

from convoy import ids
from convoy.budget import capped, closed
from convoy.commands import BlockTask, DeferTask, DropTask, RetryTask, StartTask
from convoy.decide.consequence import convoy_next, known, unsplit
from convoy.decide.lookup import in_state, in_use, live, task_in
from convoy.decide.notes import handed
from convoy.decide.verdict import Decision, Events, Refusal
from convoy.events import (
    ActionIntended,
    ConvoyFailed,
    LeaseFreed,
    LeaseTaken,
    TaskBlocked,
    TaskDropped,
    TaskQueued,
    TaskStarted,
)
from convoy.kinds import ACCEPTED, REPORTING, half_done, stands_on
from convoy.needs import FAILED, blocked_key
from convoy.patterns.report import brief
from convoy.queue import conflicting_leases, resources, startable
from convoy.reorder import overlooked
from convoy.rivals import NONE_LEFT, choice_of, left, under_way
from convoy.splits import being_split
from convoy.state import Convoy, State, Task, Work
from grite.resource import overlaps

LEASE_SLACK_S = 300
"""A task's leases outlive its session's deadlines by this much; its end frees them."""


def start(state: State, command: StartTask) -> Decision:
    """Begin an attempt: its leases, the hand-off, and the dispatch that is owed."""
    convoy = in_state(state, command.convoy, "active")
    if isinstance(convoy, Refusal):
        return convoy
    task = convoy.task(command.task)
    if task is None or not startable(convoy, task):
        return Refusal(f"task {command.task} of {convoy.name} cannot start now")
    if task.not_before > command.now:
        return Refusal(f"task {task.number} waits for the model's vendor")
    if why := closed(state, convoy, task, command.now) or _late(convoy, task):
        return Refusal(why)
    work = stands_on(convoy, task) if task.earlier is None else None
    left = half_done(convoy, task)
    if left is not None and command.base != left.commit:
        left = None  # it is not there any more
    if left is None and (elsewhere := _elsewhere(task, work, command.base)):
        return Refusal(elsewhere)
    held = conflicting_leases(state, task, command.now)
    if held and convoy.settings.locks == "require":
        return Refusal(f"task {command.task} waits for {held[0].resource}")
    attempt = task.started + 1
    engine = convoy.settings.engines[task.spec.engine]
    session = ids.session_name(convoy.name, task.number, attempt)
    notes = (
        *task.notes,
        *(f"{lease.holder} works on {lease.resource} too" for lease in held),
    )
    started = TaskStarted(
        convoy=convoy.name,
        task=task.number,
        attempt=attempt,
        session=command.session,
        nonce=command.nonce,
        base=command.base,
        root=left.base if left else _root(task, work),
        salvaged=left.attempt if left else 0,
        branch=ids.task_branch(convoy.name, task.number),
        title=task.spec.title,
        instructions=task.spec.instructions,
        notes=notes,
        kind="plan" if task.spec.kind == "split" else task.spec.kind,
        brief=brief(task.spec.kind) if task.spec.kind in REPORTING else command.brief,
        handed=handed(convoy, task),
        scratchpad=convoy.scratchpad,
        followups=convoy.settings.followups != "off",
        acceptance=task.spec.acceptance if task.spec.kind in ACCEPTED else "",
        engine=engine,
        limits=capped(convoy, task),
        gate=convoy.settings.gate,
        egress=convoy.settings.egress,
    )
    intent = ActionIntended(
        key=ids.dispatch_key(session),
        kind="dispatch",
        convoy=convoy.name,
        task=task.number,
        attempt=attempt,
    )
    return (*_leases(state, convoy, task, command), started, intent)


def _late(convoy: Convoy, task: Task) -> str:
    """Return what keeps back a task whose paths were touched meanwhile."""
    found = (each for each in overlooked(convoy) if each.task == task.number)
    return next((f"task {task.number} waits for task {each.on}" for each in found), "")


def _elsewhere(task: Task, work: Work | None, base: str) -> str:
    """Return what an attempt has to start from that is to start from `base`, if not."""
    if work is not None and base != work.commit:
        return f"task {task.number} starts from {work.commit}"
    if task.earlier is not None and base != task.earlier.commit:
        return f"task {task.number} goes on from {task.earlier.commit}"
    return ""


def _root(task: Task, work: Work | None) -> str:
    """Return what the whole work is measured from, where that is not its base."""
    if task.earlier is not None:
        return task.earlier.base
    return work.base if work is not None and task.spec.kind == "work" else ""


def _leases(state: State, convoy: Convoy, task: Task, command: StartTask) -> Events:
    """Take what the session needs; what has run out or is in the way only as a warning.

    Under `warn` what somebody else holds is left to them; under `off` nothing is taken.
    """
    if convoy.settings.locks == "off":
        return ()
    held = conflicting_leases(state, task, command.now)
    wanted = [
        resource
        for resource in resources(task)
        if not any(overlaps(lease.resource, resource) for lease in held)
    ]
    expired = (
        LeaseFreed(resource=lease.resource, nonce=lease.nonce)
        for lease in state.leases.values()
        if lease.expires <= command.now
        and any(overlaps(lease.resource, resource) for resource in wanted)
    )
    engine = convoy.settings.engines[task.spec.engine]
    holder = ids.session_name(convoy.name, task.number, task.started + 1)
    longest_s = convoy.settings.limits.setup_s + engine.timeout_s
    expires = command.now + (longest_s + LEASE_SLACK_S) * 1000
    taken = (
        LeaseTaken(
            resource=resource, holder=holder, nonce=command.nonce, expires=expires
        )
        for resource in wanted
    )
    return (*expired, *taken)


def block(state: State, command: BlockTask) -> Decision:
    """Wait for a person; its session, if it has one, still has to end."""
    convoy = live(state, command.convoy)
    if isinstance(convoy, Refusal):
        return convoy
    task = convoy.task(command.task)
    if task is None or task.state not in ("queued", "running", "needs-review"):
        return Refusal(f"task {command.task} of {command.convoy} cannot be blocked")
    if used := in_use(convoy, task):
        return used
    if task.spec.kind == "split":
        return unsplit(convoy, task, command.why)
    blocked = TaskBlocked(
        convoy=convoy.name, task=task.number, why=command.why, splits=command.splits
    )
    return (blocked, *known(convoy.name, command.by, blocked_key(task)))


def defer(state: State, command: DeferTask) -> Decision:
    """Let a task that could start wait until the day's money is there again."""
    task = task_in(state, command.convoy, command.task, "queued")
    if isinstance(task, Refusal):
        return task
    if task.not_before >= command.until or task.attempt is not None:
        return Refusal(f"task {task.number} waits already")
    queued = TaskQueued(
        convoy=command.convoy,
        task=task.number,
        cause="spent",
        why=command.why,
        not_before=command.until,
    )
    return (queued,)


def retry(state: State, command: RetryTask) -> Decision:
    """Queue a blocked task again, with all its attempts; it is told why it stopped."""
    task = task_in(state, command.convoy, command.task, "blocked")
    if isinstance(task, Refusal):
        return task
    convoy = state.convoys[command.convoy]
    dropped = [t.number for t in convoy.tasks if t.state == "dropped"]
    needed = (*task.spec.after, *(task.spec.on if task.spec.kind != "choice" else ()))
    if lost := [number for number in needed if number in dropped]:
        return Refusal(
            f"task {task.number} needs task {lost[0]}, which was dropped: drop it too"
        )
    is_over = not (left(convoy, task) or under_way(convoy, task))
    if task.spec.kind == "choice" and is_over:
        return Refusal(f"task {task.number} cannot choose: {NONE_LEFT}")
    choice = choice_of(convoy, task.number)
    stuck = choice is not None and choice.state == "blocked"
    both = (choice, task) if choice is not None and stuck else (task,)
    split = being_split(convoy, task)
    whole = f"task {task.number} is tried again as it is"
    return (
        *(
            TaskQueued(
                convoy=convoy.name, task=each.number, cause="retry", why=each.why
            )
            for each in both
        ),
        *(
            (TaskDropped(convoy=convoy.name, task=split.number, why=whole),)
            if split
            else ()
        ),
    )


def drop(state: State, command: DropTask) -> Decision:
    """Settle the task undone; what needs it waits for a person."""
    convoy = live(state, command.convoy)
    if isinstance(convoy, Refusal):
        return convoy
    task = convoy.task(command.task)
    if task is None or task.settled:
        return Refusal(f"task {command.task} of {command.convoy} is settled already")
    if used := in_use(convoy, task):
        return used
    dropped = TaskDropped(convoy=convoy.name, task=task.number, why=command.why)
    then = convoy_next(convoy, replace(task, state="dropped"))
    stuck = {event.task for event in then if isinstance(event, TaskBlocked)}
    keys = (blocked_key(other) for other in convoy.tasks if other.number in stuck)
    failed = (FAILED for event in then if isinstance(event, ConvoyFailed))
    return (dropped, *then, *known(convoy.name, command.why, *keys, *failed))
