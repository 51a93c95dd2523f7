"""Work that cannot land on other work in the merge queue, found before either lands.

Both are merged for this alone. The later one leaves the queue until the other has
landed or is out, so that those behind it are built and judged meanwhile.
"""

from typing import Final

from msgspec.structs import replace

from convoy.events.command import Command, Decision, Refusal, task_in
from convoy.events.fact import ConvoyEvent
from convoy.model.attempt import Clash
from convoy.model.change import change_task
from convoy.model.state import Convoy, Moment, State

_SHOWN: Final = 3


class ConflictForeseen(ConvoyEvent, frozen=True, kw_only=True, tag="conflict.foreseen"):
    """A task's work conflicts with work ahead of it in the merge queue."""

    task: int
    on: int
    """The other task."""
    work: str
    """The task's own work."""
    other: str
    """The other task's work."""
    paths: tuple[str, ...]
    """The files that conflict."""

    def sentence(self) -> str:
        paths = ", ".join(self.paths[:_SHOWN])
        return f"Task {self.task} waits: it conflicts with task {self.on} in {paths}."

    def convoy_after(self, convoy: Convoy, _now: Moment) -> Convoy:
        clash = Clash(on=self.on, work=self.work, other=self.other, paths=self.paths)
        after = change_task(convoy, self.task, lambda task: replace(task, clash=clash))
        contested = tuple(sorted({*convoy.contested, *self.paths}))
        return replace(after, contested=contested)


class ForeseeConflict(Command, frozen=True, kw_only=True):
    """Two works in the merge queue were merged, and conflict."""

    convoy: str
    task: int
    on: int
    work: str
    other: str
    paths: tuple[str, ...]

    def decide(self, state: State) -> Decision:
        """Note it once, as long as both works are the newest."""
        task = task_in(state, self.convoy, self.task, "needs-review")
        if isinstance(task, Refusal):
            return task
        on = task_in(state, self.convoy, self.on, "needs-review")
        if isinstance(on, Refusal):
            return on
        works = [each.work.commit for each in (task, on) if each.work is not None]
        if works != [self.work, self.other]:
            return Refusal(f"task {self.task} or {self.on} has other work by now")
        seen = ConflictForeseen(
            convoy=self.convoy,
            task=self.task,
            on=self.on,
            work=self.work,
            other=self.other,
            paths=self.paths,
        )
        clash = task.clash
        if clash and (clash.on, clash.work, clash.other) == (self.on, *works):
            return Refusal(f"that task {self.task} conflicts is known")
        return (seen,)
