"""CI's verdict on work that does not land yet: tests red, a rival's work green."""

from msgspec.structs import replace

from convoy.events.fact import SHORT, TaskEvent
from convoy.model.state import Moment, Task


class TestsProven(TaskEvent, frozen=True, kw_only=True, tag="tests.proven"):
    """CI found tests red before their code exists, as they should be."""

    commit: str
    """The commit with the tests."""
    judged: tuple[str, ...]
    """The checks that CI reported on it."""

    def sentence(self) -> str:
        commit = self.commit[:SHORT]
        return f"CI finds the tests of task {self.task} red at {commit}, as it should."

    def task_after(self, task: Task, _now: Moment) -> Task:
        return replace(task, proven=self.commit, candidate=None)


class WorkProven(TaskEvent, frozen=True, kw_only=True, tag="work.proven"):
    """CI found a rival's work green as it is: it can be chosen."""

    commit: str
    """The commit of the work."""
    judged: tuple[str, ...]
    """The checks that judged it; `("none",)` where CI is not required."""
    lines: int
    """How many lines it adds and removes."""

    def sentence(self) -> str:
        commit = self.commit[:SHORT]
        return f"CI finds {commit} of task {self.task} green: it can be chosen."

    def task_after(self, task: Task, _now: Moment) -> Task:
        return replace(task, proven=self.commit, lines=self.lines, candidate=None)
