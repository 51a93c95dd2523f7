"""What is kept from merging or starting, by people and by labels, and let go again."""

from convoy.commands import (
    HoldWork,
    RebaseWork,
    ReleaseWork,
    RequestMerge,
    ReviseTask,
    WithdrawMerge,
)
from convoy.decide.consequence import changed, known
from convoy.decide.lookup import being_judged, in_use, live, task_in
from convoy.decide.verdict import Decision, Refusal
from convoy.events import (
    MergeRequested,
    MergeWithdrawn,
    TaskBlocked,
    WorkHeld,
    WorkRebased,
    WorkReleased,
)
from convoy.needs import blocked_key
from convoy.state import Convoy, State, Task


def withdraw(state: State, command: WithdrawMerge) -> Decision:
    """Take a pull request out of the merge queue."""
    part = _part(state, command.convoy, command.task)
    if isinstance(part, Refusal):
        return part
    if part.withdrawn:
        return Refusal("it is not in the merge queue")
    return (MergeWithdrawn(convoy=command.convoy, task=command.task, by=command.by),)


def request(state: State, command: RequestMerge) -> Decision:
    """Put a pull request back into the merge queue."""
    part = _part(state, command.convoy, command.task)
    if isinstance(part, Refusal):
        return part
    if not part.withdrawn:
        return Refusal("it merges by itself when it is green and approved")
    return (MergeRequested(convoy=command.convoy, task=command.task, by=command.by),)


def hold(state: State, command: HoldWork) -> Decision:
    """Keep it back as long as the label is there."""
    part = _part(state, command.convoy, command.task)
    if isinstance(part, Refusal):
        return part
    if part.held == command.label:
        return Refusal(f"{command.label} holds it already")
    return (WorkHeld(convoy=command.convoy, task=command.task, label=command.label),)


def release(state: State, command: ReleaseWork) -> Decision:
    """Let it go on."""
    part = _part(state, command.convoy, command.task)
    if isinstance(part, Refusal):
        return part
    if not part.held:
        return Refusal("no label holds it")
    return (WorkReleased(convoy=command.convoy, task=command.task),)


def rebase(state: State, command: RebaseWork) -> Decision:
    """Take the same work on another base; it has to be approved anew."""
    task = task_in(state, command.convoy, command.task, "needs-review")
    if isinstance(task, Refusal):
        return task
    convoy = state.convoys[command.convoy]
    if used := in_use(convoy, task) or being_judged(convoy, task):
        return used
    if task.work is None or task.work.commit != command.old:
        return Refusal(f"task {command.task} has other work by now")
    if task.work.base == command.base:
        return Refusal(f"task {command.task} stands on {command.base[:10]} already")
    return (
        WorkRebased(
            convoy=command.convoy,
            task=command.task,
            commit=command.commit,
            base=command.base,
            by=command.by,
        ),
    )


def revise(state: State, command: ReviseTask) -> Decision:
    """Send work back to be changed: an attempt like any other."""
    task = task_in(state, command.convoy, command.task, "needs-review")
    if isinstance(task, Refusal):
        return task
    convoy = state.convoys[command.convoy]
    if used := in_use(convoy, task) or being_judged(convoy, task):
        return used
    why = f"{command.by} asks for changes: {command.text}"
    events = changed(convoy, task, why)
    if not any(isinstance(event, TaskBlocked) for event in events):
        return events
    return (*events, *known(command.convoy, command.by, blocked_key(task)))


def _part(state: State, name: str, number: int) -> Convoy | Task | Refusal:
    """Return a task that is not settled, or with 0 the convoy; it has not ended."""
    convoy = live(state, name)
    if isinstance(convoy, Refusal) or number == 0:
        return convoy
    task = convoy.task(number)
    if task is None:
        return Refusal(f"{name} has no task {number}")
    return Refusal(f"task {number} is {task.state}") if task.settled else task
