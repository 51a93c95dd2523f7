"""Who approves what: a plan before it starts, work before it lands.

An approval of work holds for one commit; newer work needs approval again. Whoever asked
for the work does not count: somebody else has to look at it.
"""

from msgspec.structs import replace

from convoy.events.command import Command, Decision, Refusal, in_state, task_in
from convoy.events.fact import SHORT, ConvoyEvent, TaskEvent, clause
from convoy.events.pausing import stands_still
from convoy.model.approval import Approval
from convoy.model.records import outlined
from convoy.model.state import Convoy, Moment, State, Task


class ConvoyApproved(ConvoyEvent, frozen=True, kw_only=True, tag="convoy.approved"):
    """The plan may be carried out: the convoy, which waited for this, is active."""

    by: str
    comment: int = 0
    """The comment on the forge that says so; 0: a box or a button did."""

    def sentence(self) -> str:
        return f"{self.by} approved the plan."

    def convoy_after(self, convoy: Convoy, _now: Moment) -> Convoy:
        left = (task.spec for task in convoy.tasks if task.state != "dropped")
        return replace(
            convoy,
            state="active",
            vouched_by=self.by,
            vouched_in=self.comment,
            outline=outlined(left),
        )


class TaskApproved(TaskEvent, frozen=True, kw_only=True, tag="task.approved"):
    """Somebody approved the task's work at this commit."""

    commit: str
    by: str
    review: int = 0
    """The review on the forge that says so; 0: it was none."""
    comment: int = 0
    """The comment on the forge that says so; 0: it was none."""

    def sentence(self) -> str:
        return f"{self.by} approves {self.commit[:SHORT]} of task {self.task}."

    def task_after(self, task: Task, _now: Moment) -> Task:
        if self.commit not in _heads(task):
            return task  # no rule of ours approves what is not there
        approval = Approval(
            by=self.by, commit=self.commit, review=self.review, comment=self.comment
        )
        return replace(task, approvals=(*task.approvals, approval))


class ApprovalVoided(TaskEvent, frozen=True, kw_only=True, tag="approval.voided"):
    """An approval no longer counts, though the work is the same."""

    by: str
    """Whose approval it was."""
    why: str

    def sentence(self) -> str:
        why = clause(self.why)
        return f"{self.by}'s approval of task {self.task} is void: {why}."

    def task_after(self, task: Task, _now: Moment) -> Task:
        left = tuple(each for each in task.approvals if each.by != self.by)
        return replace(task, approvals=left, candidate=None)


class ApprovePlan(Command, frozen=True, kw_only=True):
    """A person approves the plan."""

    convoy: str
    by: str
    comment: int = 0
    """The comment that says so; 0: none does."""
    staged: bool = False
    """Whether the repository's configuration says now that nothing may start."""

    def decide(self, state: State) -> Decision:
        """Let the plan be carried out."""
        convoy = in_state(state, self.convoy, "planning")
        if isinstance(convoy, Refusal):
            return convoy
        if not convoy.tasks:
            return Refusal(f"{convoy.name} has no plan yet")
        if refused := stands_still(state):
            return refused
        if convoy.staged and self.staged:
            return Refusal(
                "this repository is staged, and nothing starts: take `staged = true` "
                "out of `.brat/config.toml` on the default branch, then approve"
            )
        approved = ConvoyApproved(convoy=convoy.name, by=self.by, comment=self.comment)
        return (approved,)


class ApproveWork(Command, frozen=True, kw_only=True):
    """A person approves a task's work at this commit, given in full or abbreviated."""

    convoy: str
    task: int
    commit: str
    by: str
    review: int = 0
    """The review that says so; 0: none does."""
    comment: int = 0
    """The comment that says so; 0: none does."""

    def decide(self, state: State) -> Decision:
        """Count an approval of the current work, once for each person."""
        task = task_in(state, self.convoy, self.task, "needs-review")
        if isinstance(task, Refusal):
            return task
        convoy = state.convoys[self.convoy]
        asked = convoy.settings.approvals
        if not asked and not (task.work is not None and task.work.ci_files):
            return Refusal("no approval is asked for here: green work merges by itself")
        if asked and self.by.casefold() == convoy.by.casefold():
            return Refusal("who asked for the work cannot be the one who approves it")
        if self.by.casefold() in map(str.casefold, task.approved_by):
            return Refusal(f"{self.by} approves it already")
        commit = _named(task, self.commit)
        if isinstance(commit, Refusal):
            return commit
        approved = TaskApproved(
            convoy=convoy.name,
            task=task.number,
            commit=commit,
            by=self.by,
            review=self.review,
            comment=self.comment,
        )
        return (approved,)


class VoidApproval(Command, frozen=True, kw_only=True):
    """The approver has lost the right to approve."""

    convoy: str
    task: int
    by: str
    why: str

    def decide(self, state: State) -> Decision:
        """Void an approval."""
        task = task_in(state, self.convoy, self.task, "needs-review")
        if isinstance(task, Refusal):
            return task
        if self.by not in task.approved_by:
            return Refusal(f"{self.by} does not approve it")
        voided = ApprovalVoided(
            convoy=self.convoy, task=task.number, by=self.by, why=self.why
        )
        return (voided,)


def _named(task: Task, beginning: str) -> str | Refusal:
    """Return the commit that is meant: the work, or the candidate that carries it."""
    heads = _heads(task)
    for head in heads:
        if head.startswith(beginning):
            return head
    now = heads[0][:10] if heads else "no commit"
    return Refusal(f"task {task.number} is at {now}, not at {beginning[:10]}")


def _heads(task: Task) -> list[str]:
    return [each.commit for each in (task.work, task.candidate) if each is not None]
