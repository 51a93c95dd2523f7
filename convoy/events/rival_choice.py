"""The result of a choice between rivals: one lands, and the others are dropped."""

from msgspec.structs import replace

from convoy.events.fact import SHORT, SessionEvent, clause
from convoy.model.records import Usage
from convoy.model.session_end import judged, spent_today
from convoy.model.state import Moment, State, Task


class ChoiceMade(SessionEvent, frozen=True, kw_only=True, tag="choice.made"):
    """One of several rivals was chosen to land; the same push drops the others."""

    task: int
    """The choice's own number."""
    attempt: int
    """The attempt that judged; 0: none was needed."""
    on: int
    """The rival that is chosen."""
    commit: str
    """The chosen rival's work."""
    text: str
    """The reason for the choice; a judge's is cleaned."""
    usage: Usage = Usage()

    def sentence(self) -> str:
        commit, why = self.commit[:SHORT], clause(self.text)
        return f"Task {self.task} chose {commit} of task {self.on}: {why}."

    def change(self, state: State) -> State:
        return super().change(spent_today(state, self.usage))

    def task_after(self, task: Task, now: Moment) -> Task:
        return replace(judged(task, now, self.usage), chosen=self.on)
