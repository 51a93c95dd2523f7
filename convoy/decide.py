"""`decide(State, Command) -> events or Refusal`: may this happen?

Every rule that keeps a promise stands here: nothing starts before what it needs, an
attempt ends once, only the current candidate lands, and what was announced is noted done
once. A refusal is a value: a repeated or late command is no error.
"""

from collections.abc import Callable
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from convoy import ids
from convoy.commands import (
    AcceptNothing,
    AcceptWork,
    AttemptMerge,
    BlockTask,
    Command,
    DropTask,
    FailConvoy,
    FailMerge,
    LandMerge,
    LoseSession,
    NoteDone,
    PauseConvoy,
    PlanConvoy,
    RefuseWork,
    RequestConvoy,
    ResumeConvoy,
    RetryTask,
    StartBot,
    StartTask,
)
from convoy.events import (
    ActionDone,
    ActionIntended,
    BotStarted,
    Cause,
    CommentSaid,
    ConvoyCompleted,
    ConvoyFailed,
    ConvoyPaused,
    ConvoyPlanned,
    ConvoyRequested,
    ConvoyResumed,
    Event,
    LeaseFreed,
    LeaseTaken,
    MergeAttempted,
    MergeFailed,
    MergeLanded,
    SessionLost,
    TaskBlocked,
    TaskDropped,
    TaskMerged,
    TaskQueued,
    TaskStarted,
    WorkAccepted,
    WorkRefused,
)
from convoy.evolve import FREE
from convoy.queue import conflicting_leases, resources, startable
from convoy.state import Convoy, State, Task

Events = tuple[Event, ...]

LEASE_SLACK_S = 300
"""A task's leases outlive its session's deadline by this much; its end frees them."""


class Refusal(Struct, frozen=True):
    """The rules forbid it, in one sentence."""

    why: str


Decision = Events | Refusal


def decide(state: State, command: Command) -> Decision:
    """Return the events `command` leads to in `state`, or why it may not happen."""
    rule: Callable[[State, Any], Decision] = _RULES[type(command)]
    return rule(state, command)


# --- convoys ------------------------------------------------------------------------


def _start_bot(state: State, command: StartBot) -> Decision:
    if command.actor in state.bots:
        return Refusal(f"actor {command.actor} is a bot already")
    return (BotStarted(version=command.version),)


def _request(state: State, command: RequestConvoy) -> Decision:
    if command.convoy in state.convoys:
        return Refusal(f"a convoy {command.convoy} exists already")
    for convoy in state.live():
        if convoy.issue == command.issue:
            return Refusal(
                f"convoy {convoy.name} of issue #{command.issue} is not finished"
            )
    return (
        ConvoyRequested(
            convoy=command.convoy,
            issue=command.issue,
            title=command.title,
            text=command.text,
            by=command.by,
            target=command.target,
            base=command.base,
            settings=command.settings,
        ),
        ActionIntended(
            key=ids.comment_key(command.convoy), kind="comment", convoy=command.convoy
        ),
    )


def _plan(state: State, command: PlanConvoy) -> Decision:
    convoy = _in_state(state, command.convoy, "planning")
    if isinstance(convoy, Refusal):
        return convoy
    if not command.tasks:
        return Refusal("a plan has at least one task")
    if [task.number for task in command.tasks] != [*range(1, len(command.tasks) + 1)]:
        return Refusal("tasks are numbered from 1 without gaps")
    planned = ConvoyPlanned(
        convoy=convoy.name, planner=command.planner, tasks=command.tasks
    )
    queued = (
        TaskQueued(convoy=convoy.name, task=task.number, cause="planned")
        for task in command.tasks
    )
    return (planned, *queued)


def _fail_convoy(state: State, command: FailConvoy) -> Decision:
    convoy = _live(state, command.convoy)
    if isinstance(convoy, Refusal):
        return convoy
    dropped: list[Event] = []
    for task in convoy.tasks:
        if not task.settled:
            dropped += _freed(state, convoy.name, task)
            dropped.append(
                TaskDropped(convoy=convoy.name, task=task.number, why=command.why)
            )
    return (
        *dropped,
        ConvoyFailed(convoy=convoy.name, why=command.why),
        _finish(convoy.name),
    )


def _pause(state: State, command: PauseConvoy) -> Decision:
    convoy = _in_state(state, command.convoy, "active")
    if isinstance(convoy, Refusal):
        return convoy
    return (ConvoyPaused(convoy=convoy.name, by=command.by),)


def _resume(state: State, command: ResumeConvoy) -> Decision:
    convoy = _in_state(state, command.convoy, "paused")
    if isinstance(convoy, Refusal):
        return convoy
    return (ConvoyResumed(convoy=convoy.name, by=command.by),)


# --- tasks --------------------------------------------------------------------------


def _start_task(state: State, command: StartTask) -> Decision:
    convoy = _in_state(state, command.convoy, "active")
    if isinstance(convoy, Refusal):
        return convoy
    task = convoy.task(command.task)
    if task is None or not startable(convoy, task):
        return Refusal(f"task {command.task} of {convoy.name} cannot start now")
    if held := conflicting_leases(state, task):
        return Refusal(f"task {command.task} waits for {held[0].resource}")
    attempt = task.started + 1
    engine = convoy.settings.engines[task.spec.engine]
    session = ids.session_name(convoy.name, task.number, attempt)
    leases = (
        LeaseTaken(
            resource=resource,
            holder=session,
            nonce=command.nonce,
            expires=command.now + (engine.timeout_s + LEASE_SLACK_S) * 1000,
        )
        for resource in resources(task)
    )
    started = TaskStarted(
        convoy=convoy.name,
        task=task.number,
        attempt=attempt,
        session=command.session,
        nonce=command.nonce,
        base=command.base,
        branch=ids.task_branch(convoy.name, task.number),
        title=task.spec.title,
        instructions=task.spec.instructions,
        notes=task.notes,
        engine=engine,
        limits=convoy.settings.limits,
        gate=convoy.settings.gate,
    )
    intent = ActionIntended(
        key=ids.dispatch_key(session),
        kind="dispatch",
        convoy=convoy.name,
        task=task.number,
        attempt=attempt,
    )
    return (*leases, started, intent)


def _block(state: State, command: BlockTask) -> Decision:
    convoy = _live(state, command.convoy)
    if isinstance(convoy, Refusal):
        return convoy
    task = convoy.task(command.task)
    if task is None or task.state not in ("queued", "running", "needs-review"):
        return Refusal(f"task {command.task} of {command.convoy} cannot be blocked")
    blocked = TaskBlocked(convoy=convoy.name, task=task.number, why=command.why)
    return (*_freed(state, convoy.name, task), blocked)


def _retry(state: State, command: RetryTask) -> Decision:
    task = _task_in(state, command.convoy, command.task, "blocked")
    if isinstance(task, Refusal):
        return task
    return (TaskQueued(convoy=command.convoy, task=task.number, cause="retry"),)


def _drop(state: State, command: DropTask) -> Decision:
    convoy = _live(state, command.convoy)
    if isinstance(convoy, Refusal):
        return convoy
    task = convoy.task(command.task)
    if task is None or task.settled:
        return Refusal(f"task {command.task} of {command.convoy} is settled already")
    dropped = TaskDropped(convoy=convoy.name, task=task.number, why=command.why)
    blocked = (
        TaskBlocked(
            convoy=convoy.name,
            task=other.number,
            why=f"it needs task {task.number}, which was dropped",
        )
        for other in convoy.tasks
        if task.number in other.spec.after and other.state == "queued"
    )
    return (
        *_freed(state, convoy.name, task),
        dropped,
        *blocked,
        *_convoy_next(convoy, replace(task, state="dropped")),
    )


# --- sessions -----------------------------------------------------------------------


def _accept(state: State, command: AcceptWork) -> Decision:
    task = _in_session(state, command.convoy, command.task, command.attempt)
    if isinstance(task, Refusal):
        return task
    accepted = WorkAccepted(
        convoy=command.convoy,
        task=command.task,
        attempt=command.attempt,
        commit=command.commit,
        base=command.base,
        files=command.files,
        summary=command.summary,
    )
    key = ids.pull_key(command.convoy, command.task)
    pull: Events = ()
    if task.pull is None and key not in state.intents:
        pull = (
            ActionIntended(
                key=key, kind="pull", convoy=command.convoy, task=command.task
            ),
        )
    return (accepted, *_freed(state, command.convoy, task), *pull)


def _accept_nothing(state: State, command: AcceptNothing) -> Decision:
    task = _in_session(state, command.convoy, command.task, command.attempt)
    if isinstance(task, Refusal):
        return task
    merged = TaskMerged(convoy=command.convoy, task=command.task)
    convoy = state.convoys[command.convoy]
    after = _convoy_next(convoy, replace(task, state="merged"))
    return (*_freed(state, convoy.name, task), merged, *after)


def _refuse(state: State, command: RefuseWork) -> Decision:
    task = _in_session(state, command.convoy, command.task, command.attempt)
    if isinstance(task, Refusal):
        return task
    refused = WorkRefused(
        convoy=command.convoy,
        task=command.task,
        attempt=command.attempt,
        why=command.why,
    )
    freed = _freed(state, command.convoy, task)
    return (refused, *freed, _again(state, command, task))


def _lose(state: State, command: LoseSession) -> Decision:
    task = _in_session(state, command.convoy, command.task, command.attempt)
    if isinstance(task, Refusal):
        return task
    lost = SessionLost(
        convoy=command.convoy,
        task=command.task,
        attempt=command.attempt,
        why=command.why,
    )
    freed = _freed(state, command.convoy, task)
    return (lost, *freed, _again(state, command, task))


def _again(
    state: State, command: RefuseWork | LoseSession | FailMerge, task: Task
) -> Event:
    """Queue the task once more, or block it when its attempts are spent."""
    limit = state.convoys[command.convoy].settings.attempts
    cause: Cause = command.cause
    if cause not in FREE and task.spent >= limit:
        why = f"{task.spent} attempts did not land; the last: {command.why}"
        return TaskBlocked(convoy=command.convoy, task=task.number, why=why)
    return TaskQueued(
        convoy=command.convoy, task=task.number, cause=cause, why=command.why
    )


# --- merging ------------------------------------------------------------------------


def _attempt_merge(state: State, command: AttemptMerge) -> Decision:
    convoy = _live(state, command.convoy)
    if isinstance(convoy, Refusal):
        return convoy
    if command.task:
        task = _task_in(state, convoy.name, command.task, "needs-review")
        if isinstance(task, Refusal):
            return task
        if task.work is None or task.work.commit != command.work:
            return Refusal(f"task {command.task} has other work by now")
    elif not convoy.settled:
        return Refusal(f"{convoy.name} has tasks that are not settled")
    return (
        MergeAttempted(
            convoy=convoy.name,
            task=command.task,
            strategy=convoy.settings.strategy if command.task else "merge",
            candidate=command.candidate,
            base=command.base,
            work=command.work,
        ),
    )


def _fail_merge(state: State, command: FailMerge) -> Decision:
    convoy = _live(state, command.convoy)
    if isinstance(convoy, Refusal):
        return convoy
    failed = MergeFailed(
        convoy=convoy.name,
        task=command.task,
        candidate=command.candidate,
        why=command.why,
    )
    if command.task == 0:
        if not convoy.settled:
            return Refusal(f"{convoy.name} is not merging")
        given_up = ConvoyFailed(convoy=convoy.name, why=command.why)
        return (failed, given_up, _finish(convoy.name))
    task = _task_in(state, convoy.name, command.task, "needs-review")
    if isinstance(task, Refusal):
        return task
    return (failed, _again(state, command, task))


def _land(state: State, command: LandMerge) -> Decision:
    convoy = _live(state, command.convoy)
    if isinstance(convoy, Refusal):
        return convoy
    task = convoy.task(command.task)
    candidate = task.candidate if task else convoy.candidate
    if candidate is None or candidate.commit != command.candidate:
        return Refusal(f"{command.candidate} is not the candidate any more")
    landed = MergeLanded(
        convoy=convoy.name,
        task=command.task,
        candidate=command.candidate,
        branch=ids.base_branch(convoy.name) if task else convoy.target,
        judged=command.judged,
    )
    if task is None:
        complete = ConvoyCompleted(convoy=convoy.name, commit=command.candidate)
        return (landed, complete, _finish(convoy.name))
    if unmet := [n for n in task.spec.after if not _merged(convoy, n)]:
        return Refusal(f"task {task.number} needs task {unmet[0]} merged first")
    merged = TaskMerged(convoy=convoy.name, task=task.number, commit=command.candidate)
    done = replace(task, state="merged", landed=command.candidate)
    return (landed, merged, *_convoy_next(convoy, done))


# --- actions ------------------------------------------------------------------------


def _note_done(state: State, command: NoteDone) -> Decision:
    intent = state.intents.get(command.key)
    if intent is None:
        return Refusal(f"{command.key} is not an open action")
    done = ActionDone(key=command.key, number=command.number)
    if intent.kind != "comment":
        return (done,)
    said = CommentSaid(
        convoy=intent.convoy,
        issue=state.convoys[intent.convoy].issue,
        comment=command.number,
    )
    return (done, said)


# --- shared by the rules ------------------------------------------------------------


def _live(state: State, name: str) -> Convoy | Refusal:
    convoy = state.convoys.get(name)
    if convoy is None:
        return Refusal(f"there is no convoy {name}")
    return Refusal(f"{name} is {convoy.state}") if convoy.ended else convoy


def _in_state(state: State, name: str, wanted: str) -> Convoy | Refusal:
    convoy = _live(state, name)
    if isinstance(convoy, Refusal) or convoy.state == wanted:
        return convoy
    return Refusal(f"{name} is {convoy.state}, not {wanted}")


def _task_in(state: State, name: str, number: int, wanted: str) -> Task | Refusal:
    convoy = _live(state, name)
    if isinstance(convoy, Refusal):
        return convoy
    task = convoy.task(number)
    if task is None:
        return Refusal(f"{name} has no task {number}")
    if task.state != wanted:
        return Refusal(f"task {number} of {name} is {task.state}, not {wanted}")
    return task


def _in_session(state: State, name: str, number: int, attempt: int) -> Task | Refusal:
    task = _task_in(state, name, number, "running")
    if isinstance(task, Refusal):
        return task
    if task.attempt is None or task.attempt.number != attempt:
        return Refusal(f"attempt {attempt} of task {number} is not the current one")
    return task


def _freed(state: State, convoy: str, task: Task) -> Events:
    """Free what the task's session holds."""
    holder = ids.session_name(convoy, task.number, task.started)
    return tuple(
        LeaseFreed(resource=lease.resource, nonce=lease.nonce)
        for lease in state.leases.values()
        if lease.holder == holder
    )


def _merged(convoy: Convoy, number: int) -> bool:
    task = convoy.task(number)
    return task is not None and task.state == "merged"


def _convoy_next(convoy: Convoy, settled: Task) -> Events:
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
        nothing = ConvoyCompleted(convoy=convoy.name, commit=convoy.base)
        return (nothing, _finish(convoy.name))
    dropped = ConvoyFailed(convoy=convoy.name, why="every task was dropped")
    return (dropped, _finish(convoy.name))


def _finish(convoy: str) -> Event:
    return ActionIntended(key=ids.finish_key(convoy), kind="finish", convoy=convoy)


_RULES: dict[type[Command], Callable[[State, Any], Decision]] = {
    StartBot: _start_bot,
    RequestConvoy: _request,
    PlanConvoy: _plan,
    FailConvoy: _fail_convoy,
    PauseConvoy: _pause,
    ResumeConvoy: _resume,
    StartTask: _start_task,
    BlockTask: _block,
    RetryTask: _retry,
    DropTask: _drop,
    AcceptWork: _accept,
    AcceptNothing: _accept_nothing,
    RefuseWork: _refuse,
    LoseSession: _lose,
    AttemptMerge: _attempt_merge,
    FailMerge: _fail_merge,
    LandMerge: _land,
    NoteDone: _note_done,
}
