"""Work that people and labels keep from merging, and release again.

Held work has no candidate: CI need not judge it, and candidates behind it in the queue
are built without it.
"""

from typing import Any

from msgspec.structs import replace

from convoy.events.command import Command, Decision, Refusal, live
from convoy.events.fact import ConvoyEvent, clause, subject
from convoy.model.change import change_task
from convoy.model.state import Convoy, Moment, State, Task


def change_part(convoy: Convoy, task: int, **fields: Any) -> Convoy:  # noqa: ANN401
    """Change a task, or with 0 the convoy; both have the fields of a hold."""
    if not task:
        return replace(convoy, **fields)
    return change_task(convoy, task, lambda each: replace(each, **fields))


class MergeWithdrawn(ConvoyEvent, frozen=True, kw_only=True, tag="merge.withdrawn"):
    """A person took a task out of the merge queue; task 0 is the convoy itself."""

    task: int
    by: str

    def sentence(self) -> str:
        return f"{self.by} took {subject(self.task)} out of the merge queue."

    def convoy_after(self, convoy: Convoy, _now: Moment) -> Convoy:
        return change_part(
            convoy, self.task, withdrawn=True, put_back_by="", candidate=None
        )


class MergeRequested(ConvoyEvent, frozen=True, kw_only=True, tag="merge.requested"):
    """A person put a task back into the merge queue; task 0 is the convoy itself."""

    task: int
    by: str

    def sentence(self) -> str:
        return f"{self.by} put {subject(self.task)} into the merge queue."

    def convoy_after(self, convoy: Convoy, _now: Moment) -> Convoy:
        if not self.task:  # the forge may have to be asked again
            convoy = replace(convoy, asked="")
        return change_part(convoy, self.task, withdrawn=False, put_back_by=self.by)


class WorkHeld(ConvoyEvent, frozen=True, kw_only=True, tag="work.held"):
    """A label keeps this from starting and merging; task 0: the convoy."""

    task: int
    label: str
    """The label, such as `brat:hold`."""

    def sentence(self) -> str:
        return f"The label {clause(self.label)} holds {subject(self.task)}."

    def convoy_after(self, convoy: Convoy, _now: Moment) -> Convoy:
        held = change_part(convoy, self.task, held=self.label, candidate=None)
        if self.task:
            return held
        tasks = tuple(replace(task, candidate=None) for task in held.tasks)
        return replace(held, tasks=tasks)


class WorkReleased(ConvoyEvent, frozen=True, kw_only=True, tag="work.released"):
    """The label was removed; task 0: the convoy's."""

    task: int

    def sentence(self) -> str:
        return f"No label holds {subject(self.task)} any more."

    def convoy_after(self, convoy: Convoy, _now: Moment) -> Convoy:
        return change_part(convoy, self.task, held="")


class WithdrawMerge(Command, frozen=True, kw_only=True):
    """A person wants a task out of the merge queue; task 0 is the convoy itself."""

    convoy: str
    task: int
    by: str

    def decide(self, state: State) -> Decision:
        """Take a pull request out of the merge queue."""
        part = held_part(state, self.convoy, self.task)
        if isinstance(part, Refusal):
            return part
        if part.withdrawn:
            return Refusal("it is not in the merge queue")
        return (MergeWithdrawn(convoy=self.convoy, task=self.task, by=self.by),)


class RequestMerge(Command, frozen=True, kw_only=True):
    """A person wants a task back in the merge queue; task 0 is the convoy itself."""

    convoy: str
    task: int
    by: str

    def decide(self, state: State) -> Decision:
        """Put a pull request back into the merge queue."""
        part = held_part(state, self.convoy, self.task)
        if isinstance(part, Refusal):
            return part
        if part.taken_out is not None:
            out = part.taken_out
            return Refusal(f"{out.why}: it waits for {out.back}")
        if not part.withdrawn:
            return Refusal("it merges by itself when it is green and approved")
        return (MergeRequested(convoy=self.convoy, task=self.task, by=self.by),)


class HoldWork(Command, frozen=True, kw_only=True):
    """A label keeps this from starting and merging; task 0: the convoy."""

    convoy: str
    task: int
    label: str

    def decide(self, state: State) -> Decision:
        """Hold it as long as the label is there."""
        part = held_part(state, self.convoy, self.task)
        if isinstance(part, Refusal):
            return part
        if part.held == self.label:
            return Refusal(f"{self.label} holds it already")
        return (WorkHeld(convoy=self.convoy, task=self.task, label=self.label),)


class ReleaseWork(Command, frozen=True, kw_only=True):
    """The label was removed; task 0: the convoy's."""

    convoy: str
    task: int

    def decide(self, state: State) -> Decision:
        """Let it go on."""
        part = held_part(state, self.convoy, self.task)
        if isinstance(part, Refusal):
            return part
        if not part.held:
            return Refusal("no label holds it")
        return (WorkReleased(convoy=self.convoy, task=self.task),)


def held_part(state: State, name: str, number: int) -> Convoy | Task | Refusal:
    """Return a task that is not settled, or with 0 the convoy; it has not ended."""
    convoy = live(state, name)
    if isinstance(convoy, Refusal) or number == 0:
        return convoy
    task = convoy.task(number)
    if task is None:
        return Refusal(f"{name} has no task {number}")
    return Refusal(f"task {number} is {task.state}") if task.settled else task
