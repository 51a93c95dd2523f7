"""A review's verdict: the work may land, or goes back, or a person decides."""

from msgspec.structs import replace

from convoy.events.fact import SHORT, SessionEvent, clause
from convoy.model.records import Opinion, Usage
from convoy.model.session_end import ended_session, judged, spent_today
from convoy.model.state import Moment, State, Task


class WorkReviewed(SessionEvent, frozen=True, kw_only=True, tag="work.reviewed"):
    """An attempt at a review gave its verdict on another task's work."""

    task: int
    """The review's own number."""
    attempt: int
    on: int
    """The number of the task under review."""
    commit: str
    """The commit that was reviewed."""
    verdict: Opinion
    text: str = ""
    """The changes the reviewer asks for, or other remarks; cleaned."""
    usage: Usage = Usage()

    def sentence(self) -> str:
        said = f": {clause(self.text)}" if self.text else ""
        does = "approves" if self.verdict == "approve" else "asks for changes of"
        return (
            f"Review task {self.task}, attempt {self.attempt}, {does} "
            f"{self.commit[:SHORT]} of task {self.on}{said}."
        )

    def change(self, state: State) -> State:
        return super().change(spent_today(state, self.usage))

    def task_after(self, task: Task, now: Moment) -> Task:
        """Let the review wait for new work, or for this work to land."""
        if task.state != "running":
            return ended_session(task, now, self.usage)
        ended = judged(task, now, self.usage)
        if self.verdict == "approve":
            return replace(ended, approves=self.commit)
        return replace(ended, rounds=task.rounds + 1)
