"""How a session may end: once, and only the current one.

A task that was dropped or blocked meanwhile keeps its session until that has ended, so
that its slot and its leases are not given away before; what it brings is refused.
"""

from typing import Final

from msgspec.structs import replace

from convoy import ids
from convoy.commands import (
    AcceptNothing,
    AcceptReport,
    AcceptReview,
    AcceptWork,
    LoseSession,
    MakeChoice,
    RefuseWork,
    SplitTask,
)
from convoy.decide.chosen import again_or_chosen
from convoy.decide.consequence import convoy_next, freed
from convoy.decide.lookup import in_session
from convoy.decide.verdict import Decision, Events, Refusal
from convoy.events import (
    ActionIntended,
    Cause,
    SessionLost,
    TaskMerged,
    TaskReported,
    WorkAccepted,
    WorkRefused,
)
from convoy.kinds import CHANGING, REPORTING
from convoy.rivals import is_unchosen
from convoy.state import State, Task

_UNTRIED: Final[frozenset[Cause]] = frozenset({"outage", "setup"})
"""Ends that say nothing of what the session went on from."""


def accept(state: State, command: AcceptWork) -> Decision:
    """Take the work in, and announce the pull request if there is none."""
    task = in_session(state, command.convoy, command.task, command.attempt)
    if isinstance(task, Refusal):
        return task
    if unfit := _is_no_work(task):
        return unfit
    if task.state != "running":
        return too_late(state, command, task)
    accepted = WorkAccepted(
        convoy=command.convoy,
        task=command.task,
        attempt=command.attempt,
        commit=command.commit,
        base=command.base,
        files=command.files,
        summary=command.summary,
        usage=command.usage,
    )
    key = ids.pull_key(command.convoy, command.task)
    pull: Events = ()
    convoy = state.convoys[command.convoy]
    hidden = task.spec.kind == "tests" or is_unchosen(convoy, task)  # not to land yet
    if not hidden and task.pull is None and key not in state.intents:
        pull = (
            ActionIntended(
                key=key, kind="pull", convoy=command.convoy, task=command.task
            ),
        )
    return (accepted, *freed(state, command.convoy, task), *pull)


def accept_nothing(state: State, command: AcceptNothing) -> Decision:
    """Settle a task that needed no change."""
    task = in_session(state, command.convoy, command.task, command.attempt)
    if isinstance(task, Refusal):
        return task
    if unfit := _is_no_work(task):
        return unfit
    if task.state != "running":
        return too_late(state, command, task)
    if task.earlier is not None:
        return Refusal(f"task {task.number} has work that is to be changed")
    if task.spec.on or task.spec.kind == "tests":
        return Refusal(f"task {task.number} has tests that are to be there and pass")
    if task.spec.kind == "rival":
        return Refusal(f"task {task.number} has rivals: nothing is no work to choose")
    merged = TaskMerged(convoy=command.convoy, task=command.task, usage=command.usage)
    convoy = state.convoys[command.convoy]
    after = convoy_next(convoy, replace(task, state="merged"))
    return (*freed(state, convoy.name, task), merged, *after)


def accept_report(state: State, command: AcceptReport) -> Decision:
    """Settle a task that was to find something out."""
    task = in_session(state, command.convoy, command.task, command.attempt)
    if isinstance(task, Refusal):
        return task
    if task.spec.kind not in REPORTING:
        return Refusal(f"task {task.number} is not to end in a report")
    if task.state != "running":
        return too_late(state, command, task)
    reported = TaskReported(
        convoy=command.convoy,
        task=task.number,
        attempt=command.attempt,
        report=command.report,
    )
    merged = TaskMerged(convoy=command.convoy, task=command.task, usage=command.usage)
    convoy = state.convoys[command.convoy]
    after = convoy_next(convoy, replace(task, state="merged"))
    return (reported, *freed(state, convoy.name, task), merged, *after)


def _is_no_work(task: Task) -> Refusal | None:
    """Return why an attempt at it cannot end in a change."""
    if task.number == 0:
        return Refusal("a plan is no work: it is answered with a plan")
    if task.spec.kind not in CHANGING:
        return Refusal(f"task {task.number} ends in a {task.spec.kind}, not in work")
    return None


def refuse(state: State, command: RefuseWork) -> Decision:
    """End the attempt without work; try again while attempts are left."""
    task = in_session(state, command.convoy, command.task, command.attempt)
    if isinstance(task, Refusal):
        return task
    refused = WorkRefused(
        convoy=command.convoy,
        task=command.task,
        attempt=command.attempt,
        why=command.why,
        usage=command.usage,
        left=command.left or (_again(task) if command.cause in _UNTRIED else ""),
    )
    free = freed(state, command.convoy, task)
    return (refused, *free, *again_or_chosen(state, command, task))


def lose(state: State, command: LoseSession) -> Decision:
    """End a session that left nothing; try again while attempts are left."""
    task = in_session(state, command.convoy, command.task, command.attempt)
    if isinstance(task, Refusal):
        return task
    lost = SessionLost(
        convoy=command.convoy,
        task=command.task,
        attempt=command.attempt,
        why=command.why,
        usage=command.usage,
        left=command.left or _again(task),
    )
    free = freed(state, command.convoy, task)
    return (lost, *free, *again_or_chosen(state, command, task))


def _again(task: Task) -> str:
    """Return the half-done work that the session went on from; empty: none."""
    attempt = task.attempt
    return attempt.base if attempt is not None and attempt.salvaged else ""


def too_late(
    state: State,
    command: AcceptWork
    | AcceptNothing
    | AcceptReport
    | AcceptReview
    | MakeChoice
    | SplitTask,
    task: Task,
) -> Decision:
    """End the session of a task that is not wanted, or not yet again."""
    refused = WorkRefused(
        convoy=command.convoy,
        task=command.task,
        attempt=command.attempt,
        why=f"the task is {task.state} by now",
        usage=command.usage,
    )
    return (refused, *freed(state, command.convoy, task))
