"""How tasks and convoys end."""

from msgspec.structs import replace

from convoy.events.fact import SHORT, ConvoyEvent, SessionEvent, clause
from convoy.model import ids
from convoy.model.change import change_convoy
from convoy.model.failures import without_failures
from convoy.model.records import TaskSpec, Usage
from convoy.model.session_end import ended_session, spent_today
from convoy.model.state import Convoy, Moment, State, Task
from convoy.model.task_graph import overlapping


class TaskMerged(SessionEvent, frozen=True, kw_only=True, tag="task.merged"):
    """The task's work is on the convoy's branch (or there was nothing to do)."""

    commit: str | None = None
    usage: Usage = Usage()
    why: str = ""
    """Why nothing of it was to land; empty: it landed, or its agent said so."""

    def sentence(self) -> str:
        if self.why:
            return f"Task {self.task} needed no change: {clause(self.why)}."
        if self.commit is None:
            return f"Task {self.task} needed no change."
        return f"Task {self.task} is merged as {self.commit[:SHORT]}."

    def change(self, state: State) -> State:
        return without_failures(super().change(spent_today(state, self.usage)))

    def task_after(self, task: Task, now: Moment) -> Task:
        return replace(
            ended_session(task, now, self.usage),
            state="merged",
            why=self.why,
            landed=self.commit,
            candidate=None,
            ended_at=now.at,
        )


class TaskDropped(SessionEvent, frozen=True, kw_only=True, tag="task.dropped"):
    """The task will not be done."""

    why: str
    wanted_by: str = ""
    """The person who decided it; empty: nobody did."""

    def sentence(self) -> str:
        return f"Task {self.task} was dropped: {clause(self.why)}."

    def change(self, state: State) -> State:
        after = super().change(_unopened(state, self.convoy, self.task))
        return change_convoy(after, self.convoy, self._waited_for_no_more)

    def task_after(self, task: Task, now: Moment) -> Task:
        return replace(
            task, state="dropped", why=self.why, candidate=None, ended_at=now.at
        )

    def _waited_for_no_more(self, convoy: Convoy) -> Convoy:
        """Free the tasks that waited only because both would have touched the same."""
        tasks = (
            replace(task, spec=_without(task.spec, self.task))
            if overlapping(task.spec, self.task)
            else task
            for task in convoy.tasks
        )
        return replace(convoy, tasks=tuple(tasks))


class ConvoyCompleted(ConvoyEvent, frozen=True, kw_only=True, tag="convoy.completed"):
    """The convoy's pull request has landed."""

    commit: str
    why: str = ""
    """What people should know of it; empty: nothing."""

    def sentence(self) -> str:
        told = f": {clause(self.why)}" if self.why else ""
        return f"The convoy landed as {self.commit[:SHORT]}{told}."

    def change(self, state: State) -> State:
        return super().change(_unopened(state, self.convoy, 0))

    def convoy_after(self, convoy: Convoy, now: Moment) -> Convoy:
        return replace(
            convoy,
            state="complete",
            why=self.why,
            landed=self.commit,
            candidate=None,
            ended_at=now.at,
        )


class ConvoyFailed(ConvoyEvent, frozen=True, kw_only=True, tag="convoy.failed"):
    """The convoy was cancelled, could not be planned, or cannot move any more."""

    why: str
    by: str = ""
    """The person who ended it; empty: nobody did."""

    def sentence(self) -> str:
        return f"The convoy failed: {clause(self.why)}."

    def convoy_after(self, convoy: Convoy, now: Moment) -> Convoy:
        return replace(
            convoy,
            state="failed",
            why=self.why,
            given_up_by=self.by,
            candidate=None,
            ended_at=now.at,
        )


def _unopened(state: State, convoy: str, task: int) -> State:
    """Open no pull request any more for what has ended; task 0 is the convoy."""
    key = ids.pull_key(convoy, task)
    intents = {k: intent for k, intent in state.intents.items() if k != key}
    return replace(state, intents=intents)


def _without(spec: TaskSpec, number: int) -> TaskSpec:
    return replace(
        spec,
        after=tuple(each for each in spec.after if each != number),
        waits=tuple(wait for wait in spec.waits if wait.on != number),
    )
