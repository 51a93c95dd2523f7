"""Work that a person wants changed, or moved to another base."""

from convoy.events.command import Command, Decision, Refusal, task_in
from convoy.events.rework import WorkRebased
from convoy.events.task_queue import TaskBlocked
from convoy.kinds import kind_of
from convoy.model.state import Convoy, State, Task
from convoy.readiness.needs import blocked_key
from convoy.rules.consequences import changed, in_use, known


class RebaseWork(Command, frozen=True, kw_only=True):
    """The work `old` was rebased for a person."""

    convoy: str
    task: int
    old: str
    commit: str
    base: str
    by: str

    def decide(self, state: State) -> Decision:
        """Accept the same work on another base; it needs approval again."""
        task = task_in(state, self.convoy, self.task, "needs-review")
        if isinstance(task, Refusal):
            return task
        convoy = state.convoys[self.convoy]
        if used := in_use(convoy, task) or being_judged(convoy, task):
            return used
        if kind_of(task.spec).takes_target_in:
            return Refusal(
                f"task {self.task} takes {convoy.target} in: it stays a merge"
            )
        if task.work is None or task.work.commit != self.old:
            return Refusal(f"task {self.task} has other work by now")
        if task.work.base == self.base:
            return Refusal(f"task {self.task} stands on {self.base[:10]} already")
        return (
            WorkRebased(
                convoy=self.convoy,
                task=self.task,
                commit=self.commit,
                base=self.base,
                by=self.by,
            ),
        )


class ReviseTask(Command, frozen=True, kw_only=True):
    """A person wants a task's work changed, as the text says."""

    convoy: str
    task: int
    by: str
    text: str

    def decide(self, state: State) -> Decision:
        """Send work back to be changed: an attempt like any other."""
        task = task_in(state, self.convoy, self.task, "needs-review")
        if isinstance(task, Refusal):
            return task
        convoy = state.convoys[self.convoy]
        if used := in_use(convoy, task) or being_judged(convoy, task):
            return used
        why = f"{self.by} asks for changes: {self.text}"
        events = changed(convoy, task, why, self.by)
        if not any(isinstance(event, TaskBlocked) for event in events):
            return events
        return (*events, *known(self.convoy, self.by, blocked_key(task)))


def being_judged(convoy: Convoy, task: Task) -> Refusal | None:
    """Return why a task's work may not change: it is being judged now."""
    why = kind_of(task.spec).being_judged(convoy, task)
    return Refusal(why) if why else None
