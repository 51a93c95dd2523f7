"""How a task that was too much for one agent becomes several, or stays what it is."""

from convoy.commands import BeginSplit, SplitTask
from convoy.decide.consequence import freed
from convoy.decide.convoys import fault_of
from convoy.decide.lookup import in_session, in_state
from convoy.decide.sessions import too_late
from convoy.decide.verdict import Decision, Events, Refusal
from convoy.events import (
    ConvoyPaused,
    TaskAdded,
    TaskDropped,
    TaskMerged,
    TaskQueued,
    TaskSpec,
    TaskSplit,
)
from convoy.splits import LEAST, MAYOR, being_split, can_be_split, relinked
from convoy.state import Convoy, State, Task


def begin(state: State, command: BeginSplit) -> Decision:
    """Add the task that plans the parts, once."""
    convoy = in_state(state, command.convoy, "active")
    if isinstance(convoy, Refusal):
        return convoy
    task = convoy.task(command.task)
    if task is None or not can_be_split(convoy, task):
        return Refusal(f"task {command.task} of {convoy.name} is not to be split")
    return (TaskAdded(convoy=convoy.name, spec=_spec(convoy, task), by=MAYOR),)


def _spec(convoy: Convoy, task: Task) -> TaskSpec:
    told = (
        f"{task.spec.title}\n\n{task.spec.instructions}\n\n"
        f"An agent tried this as one task, and it stopped: {task.why}"
    )
    return TaskSpec(
        number=max(each.number for each in convoy.tasks) + 1,
        title=f"Split task {task.number}",
        instructions=told,
        engine=convoy.settings.splitter,
        kind="split",
        on=(task.number,),
        why=f"task {task.number} was too much for one agent",
    )


def accept(state: State, command: SplitTask) -> Decision:
    """Take the parts for the task that they are parts of."""
    split = in_session(state, command.convoy, command.task, command.attempt)
    if isinstance(split, Refusal):
        return split
    if split.spec.kind != "split":
        return Refusal(f"task {split.number} splits nothing")
    convoy = state.convoys[command.convoy]
    task = convoy.task(split.spec.on[0])
    if split.state != "running" or task is None or not being_split(convoy, task):
        return too_late(state, command, split)
    if fault := _fault(convoy, task, command.parts):
        return Refusal(fault)
    numbers = ", ".join(str(part.number) for part in command.parts)
    return (
        TaskSplit(
            convoy=convoy.name, task=task.number, by=split.number, parts=command.parts
        ),
        TaskMerged(convoy=convoy.name, task=split.number, usage=command.usage),
        *freed(state, convoy.name, split),
        TaskDropped(
            convoy=convoy.name, task=task.number, why=f"it was split: {numbers}"
        ),
        *(
            TaskQueued(convoy=convoy.name, task=part.number, cause="planned")
            for part in command.parts
        ),
        *_waiting_for_a_person(convoy, task, numbers),
    )


def _fault(convoy: Convoy, task: Task, parts: tuple[TaskSpec, ...]) -> str | None:
    first = max(each.number for each in convoy.tasks) + 1
    if len(parts) < LEAST:
        return f"task {task.number} is split into at least {LEAST} parts"
    if [part.number for part in parts] != [*range(first, first + len(parts))]:
        return f"parts are numbered upwards from {first}"
    if any(part.part_of != task.number for part in parts):
        return f"all of them are parts of task {task.number}"
    specs = tuple(each.spec for each in convoy.tasks)
    return fault_of(convoy, relinked(specs, task.number, parts))


def _waiting_for_a_person(convoy: Convoy, task: Task, numbers: str) -> Events:
    """Start nothing of a plan that nobody has seen, where somebody is to see plans."""
    if convoy.settings.approve != "plan" or convoy.state != "active":
        return ()
    why = f"task {task.number} was split ({numbers}): look at it, then `/brat resume`"
    return (ConvoyPaused(convoy=convoy.name, by=MAYOR, why=why),)
