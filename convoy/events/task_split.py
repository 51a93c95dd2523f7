"""How a task that was too much for one agent becomes several, or stays one."""

from msgspec.structs import replace

from convoy.events.fact import ConvoyEvent
from convoy.model.records import TaskSpec
from convoy.model.state import Convoy, Moment, Task
from convoy.model.task_graph import relinked


class TaskSplit(ConvoyEvent, frozen=True, kw_only=True, tag="task.split"):
    """A task became several; what waited for it waits for all of them."""

    task: int
    """The task that is split; the same push drops it."""
    by: int
    """The task whose agent planned the parts; 0: a person did."""
    person: str = ""
    """Who wrote the parts; empty: an agent did."""
    parts: tuple[TaskSpec, ...]
    """The new tasks, by number."""

    def sentence(self) -> str:
        numbers = ", ".join(str(part.number) for part in self.parts)
        by = self.person or f"Task {self.by}"
        return f"{by} splits task {self.task}: {numbers}."

    def convoy_after(self, convoy: Convoy, _now: Moment) -> Convoy:
        """Let everything that waited for the task wait for its parts."""
        before = (task.spec for task in convoy.tasks)
        specs = {s.number: s for s in relinked(before, self.task, self.parts)}
        known = (replace(task, spec=specs[task.number]) for task in convoy.tasks)
        parts = (Task(spec=part).after_words_of(self.person) for part in self.parts)
        return replace(convoy, tasks=(*known, *parts))
