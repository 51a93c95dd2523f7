"""What an agent leaves for others: notes, and further work that may become tasks.

Further work from a task that was itself further work waits for a person, whatever the
configuration says: agents do not feed each other.
"""

from msgspec.structs import replace

from convoy.events.fact import TaskEvent
from convoy.model.notes import added
from convoy.model.records import Followup
from convoy.model.state import Convoy, Moment, Task


class TaskNoted(TaskEvent, frozen=True, kw_only=True, tag="task.noted"):
    """An attempt's agent left notes for others, a limited number of each kind."""

    attempt: int
    notes: tuple[str, ...] = ()
    """Notes for the tasks that build on this one and for its next attempt; cleaned."""
    shared: tuple[str, ...] = ()
    """Scratchpad lines for every agent of the convoy; cleaned."""
    followups: tuple[Followup, ...] = ()

    def sentence(self) -> str:
        kinds = {
            "for the tasks behind it": len(self.notes),
            "for the scratchpad": len(self.shared),
            "on further work": len(self.followups),
        }
        said = ", ".join(f"{count} {what}" for what, count in kinds.items() if count)
        return f"The agent of task {self.task}, attempt {self.attempt}, noted: {said}."

    def convoy_after(self, convoy: Convoy, now: Moment) -> Convoy:
        shared = tuple(f"task {self.task}: {line}" for line in self.shared)
        convoy = replace(convoy, scratchpad=added(convoy.scratchpad, shared))
        return super().convoy_after(convoy, now)

    def task_after(self, task: Task, _now: Moment) -> Task:
        return replace(
            task,
            learned=self.notes or task.learned,
            followups=(*task.followups, *self.followups),
        )
