"""How a task that was too much for one agent becomes several, or stays one."""

from convoy.events.command import (
    Command,
    Decision,
    Events,
    Refusal,
    in_session,
    in_state,
)
from convoy.events.pausing import ConvoyPaused
from convoy.events.plan_edits import TaskAdded
from convoy.events.task_ends import TaskDropped, TaskMerged
from convoy.events.task_queue import TaskQueued
from convoy.events.task_split import TaskSplit
from convoy.kinds.split_kind import LEAST, MAYOR, being_split, is_split
from convoy.kinds.splitting import can_be_split
from convoy.model.records import TaskSpec, Usage
from convoy.model.state import Convoy, State, Task
from convoy.model.task_graph import relinked
from convoy.rules.consequences import freed, too_late
from convoy.rules.take_plan import fault_of


class BeginSplit(Command, frozen=True, kw_only=True):
    """The mayor should split a task that was too much for one agent."""

    convoy: str
    task: int

    def decide(self, state: State) -> Decision:
        """Add the task that plans the parts, once."""
        convoy = in_state(state, self.convoy, "active")
        if isinstance(convoy, Refusal):
            return convoy
        task = convoy.task(self.task)
        if task is None or not can_be_split(convoy, task):
            return Refusal(f"task {self.task} of {convoy.name} is not to be split")
        return (TaskAdded(convoy=convoy.name, spec=_spec(convoy, task), by=MAYOR),)


class SplitTask(Command, frozen=True, kw_only=True):
    """An attempt at a split ended in valid parts; the shell has checked them."""

    convoy: str
    task: int
    """The split's own number."""
    attempt: int
    parts: tuple[TaskSpec, ...]
    usage: Usage = Usage()

    def decide(self, state: State) -> Decision:
        """Replace the task by its parts."""
        split = in_session(state, self.convoy, self.task, self.attempt)
        if isinstance(split, Refusal):
            return split
        if not is_split(split):
            return Refusal(f"task {split.number} splits nothing")
        convoy = state.convoys[self.convoy]
        task = convoy.task(split.spec.on[0])
        if split.state != "running" or task is None or not being_split(convoy, task):
            return too_late(state, self.convoy, split, self.attempt, self.usage)
        if fault := split_fault(convoy, task, self.parts):
            return Refusal(fault)
        numbers = ", ".join(str(part.number) for part in self.parts)
        return (
            TaskSplit(
                convoy=convoy.name, task=task.number, by=split.number, parts=self.parts
            ),
            TaskMerged(convoy=convoy.name, task=split.number, usage=self.usage),
            *freed(state, convoy.name, split),
            TaskDropped(
                convoy=convoy.name, task=task.number, why=f"it was split: {numbers}"
            ),
            *(
                TaskQueued(convoy=convoy.name, task=part.number, cause="planned")
                for part in self.parts
            ),
            *_waiting_for_a_person(convoy, task, numbers),
        )


def _spec(convoy: Convoy, task: Task) -> TaskSpec:
    tried = "An agent tried this as one task, and it stopped"
    why = f"{tried if task.started else 'Nobody has tried it yet'}: {task.why}"
    told = f"{task.spec.title}\n\n{task.spec.instructions}\n\n{why}"
    return TaskSpec(
        number=convoy.next_number,
        title=f"Split task {task.number}",
        instructions=told,
        engine=convoy.settings.splitter,
        kind="split",
        on=(task.number,),
        why=f"task {task.number} was too much for one agent",
    )


def split_fault(convoy: Convoy, task: Task, parts: tuple[TaskSpec, ...]) -> str | None:
    """Return why a task cannot be split into these parts; None: it can."""
    first = convoy.next_number
    if len(parts) < LEAST:
        return f"task {task.number} is split into at least {LEAST} parts"
    if [part.number for part in parts] != [*range(first, first + len(parts))]:
        return f"parts are numbered upwards from {first}"
    if any(part.part_of != task.number for part in parts):
        return f"all of them are parts of task {task.number}"
    specs = tuple(each.spec for each in convoy.tasks)
    return fault_of(convoy, relinked(specs, task.number, parts))


def _waiting_for_a_person(convoy: Convoy, task: Task, numbers: str) -> Events:
    """Pause the convoy if plans need approval: nobody has seen these parts."""
    if convoy.settings.approve != "plan" or convoy.state != "active":
        return ()
    why = f"task {task.number} was split ({numbers}): look at it, then `/brat resume`"
    return (ConvoyPaused(convoy=convoy.name, by=MAYOR, why=why),)
