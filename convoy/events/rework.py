"""Work that a person wants changed, or moved to another base."""

from msgspec.structs import replace

from convoy.events.fact import SHORT, TaskEvent
from convoy.model.state import Moment, Task


class WorkRebased(TaskEvent, frozen=True, kw_only=True, tag="work.rebased"):
    """A person had the work rebased; the same push moves the branch."""

    commit: str
    base: str
    by: str

    def sentence(self) -> str:
        base, commit = self.base[:SHORT], self.commit[:SHORT]
        return f"{self.by} had task {self.task} put on {base}: {commit}."

    def task_after(self, task: Task, now: Moment) -> Task:
        if task.work is None:
            return task
        work = replace(task.work, commit=self.commit, base=self.base, log=now.commit)
        return replace(task, work=work, approvals=(), candidate=None)
