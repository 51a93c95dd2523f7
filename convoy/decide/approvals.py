"""Who approves what: a plan before it starts, work before it lands.

An approval of work holds for one commit: other work has to be approved anew. Who asked
for the work does not count, for nobody would have looked at it but who wants it.
"""

from convoy.commands import ApprovePlan, ApproveWork, VoidApproval
from convoy.decide.everything import stands_still
from convoy.decide.lookup import in_state, task_in
from convoy.decide.verdict import Decision, Refusal
from convoy.events import ApprovalVoided, ConvoyApproved, TaskApproved
from convoy.state import State, Task


def plan(state: State, command: ApprovePlan) -> Decision:
    """Let the plan be carried out."""
    convoy = in_state(state, command.convoy, "planning")
    if isinstance(convoy, Refusal):
        return convoy
    if not convoy.tasks:
        return Refusal(f"{convoy.name} has no plan yet")
    if refused := stands_still(state):
        return refused
    if convoy.staged and command.staged:
        return Refusal(
            "this repository is staged, and nothing starts: take `staged = true` out "
            "of `.brat/config.toml` on the default branch, then approve"
        )
    return (ConvoyApproved(convoy=convoy.name, by=command.by),)


def work(state: State, command: ApproveWork) -> Decision:
    """Count an approval of the work as it is now, once for each person."""
    task = task_in(state, command.convoy, command.task, "needs-review")
    if isinstance(task, Refusal):
        return task
    convoy = state.convoys[command.convoy]
    if not convoy.settings.approvals:
        return Refusal("no approval is asked for here: green work merges by itself")
    if command.by.casefold() == convoy.by.casefold():
        return Refusal("who asked for the work cannot be the one who approves it")
    if command.by in task.approved_by:
        return Refusal(f"{command.by} approves it already")
    commit = _named(task, command.commit)
    if isinstance(commit, Refusal):
        return commit
    approved = TaskApproved(
        convoy=convoy.name, task=task.number, commit=commit, by=command.by
    )
    return (approved,)


def _named(task: Task, beginning: str) -> str | Refusal:
    """Return the head that is meant: the work, or the candidate that carries it."""
    heads = [each.commit for each in (task.work, task.candidate) if each is not None]
    for head in heads:
        if head.startswith(beginning):
            return head
    now = heads[0][:10] if heads else "no commit"
    return Refusal(f"task {task.number} is at {now}, not at {beginning[:10]}")


def void(state: State, command: VoidApproval) -> Decision:
    """Count an approval no more."""
    task = task_in(state, command.convoy, command.task, "needs-review")
    if isinstance(task, Refusal):
        return task
    if command.by not in task.approved_by:
        return Refusal(f"{command.by} does not approve it")
    voided = ApprovalVoided(
        convoy=command.convoy, task=task.number, by=command.by, why=command.why
    )
    return (voided,)
