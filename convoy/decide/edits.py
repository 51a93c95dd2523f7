"""What people may change of a plan that is being carried out."""

from msgspec.structs import replace

from convoy.commands import (
    AddTask,
    AssignTask,
    LinkTask,
    NoteHeard,
    RankConvoy,
    TellTask,
)
from convoy.decide.convoys import fault_of
from convoy.decide.lookup import in_session, live
from convoy.decide.verdict import Decision, Refusal
from convoy.events import (
    ConvoyRanked,
    TaskAdded,
    TaskAssigned,
    TaskHeard,
    TaskLinked,
    TaskTold,
)
from convoy.state import Convoy, State, Task
from convoy.text.nearest import did_you_mean


def add(state: State, command: AddTask) -> Decision:
    """Add a task behind the others."""
    convoy, spec = live(state, command.convoy), command.spec
    if isinstance(convoy, Refusal):
        return convoy
    if not convoy.tasks:
        return Refusal(f"{convoy.name} has no plan yet")
    if convoy.settled:
        return Refusal(f"every task of {convoy.name} is settled and it is landing")
    if len(convoy.tasks) >= convoy.settings.tasks:
        return Refusal(f"a convoy may have {convoy.settings.tasks} tasks here")
    if spec.number != max(task.number for task in convoy.tasks) + 1:
        return Refusal(f"task {spec.number} is not the next number")
    dropped = [task.number for task in convoy.tasks if task.state == "dropped"]
    if lost := [number for number in (*spec.after, *spec.on) if number in dropped]:
        return Refusal(f"task {lost[0]} was dropped: nothing can wait for it")
    if fault := fault_of(convoy, (*(task.spec for task in convoy.tasks), spec)):
        return Refusal(fault)
    return (TaskAdded(convoy=convoy.name, spec=spec, by=command.by),)


def link(state: State, command: LinkTask) -> Decision:
    """Let a task that has not begun its attempt wait for another one."""
    task = _at_rest(state, command.convoy, command.task)
    if isinstance(task, Refusal):
        return task
    convoy = state.convoys[command.convoy]
    other = convoy.task(command.on)
    if other is None:
        return Refusal(f"{convoy.name} has no task {command.on}")
    if other.settled:
        return Refusal(f"task {other.number} is {other.state} already")
    if other.number in task.spec.after:
        return Refusal(f"task {task.number} waits for task {other.number} already")
    linked = replace(task.spec, after=(*task.spec.after, other.number))
    specs = (
        linked if each.number == task.number else each.spec for each in convoy.tasks
    )
    if fault := fault_of(convoy, tuple(specs)):
        return Refusal(fault)
    return (
        TaskLinked(
            convoy=convoy.name,
            task=task.number,
            on=other.number,
            by=command.by,
            why=command.why,
        ),
    )


def assign(state: State, command: AssignTask) -> Decision:
    """Give a task, or all that were never started, to another engine."""
    convoy = live(state, command.convoy)
    if isinstance(convoy, Refusal):
        return convoy
    engines = convoy.settings.workers
    if command.engine not in engines:
        near = did_you_mean(command.engine, engines)
        known = ", ".join(sorted(engines))
        return Refusal(f"there is no engine {command.engine}{near}; there is {known}")
    tasks = _meant(state, convoy, command)
    if isinstance(tasks, Refusal):
        return tasks
    return tuple(
        TaskAssigned(
            convoy=convoy.name, task=task.number, engine=command.engine, by=command.by
        )
        for task in tasks
    )


def _meant(
    state: State, convoy: Convoy, command: AssignTask
) -> tuple[Task, ...] | Refusal:
    """Return the tasks that have another engine so far."""
    if command.task is not None:
        task = _at_rest(state, convoy.name, command.task)
        if isinstance(task, Refusal):
            return task
        if task.spec.engine == command.engine:
            return Refusal(f"task {task.number} has the engine {command.engine}")
        return (task,)
    fresh = tuple(
        task
        for task in convoy.tasks
        if not task.settled and not task.started and task.spec.engine != command.engine
    )
    return fresh or Refusal(
        f"no task has yet to start with another engine than {command.engine}"
    )


def tell(state: State, command: TellTask) -> Decision:
    """Keep a text for the attempt that runs, and for every later one."""
    task = _open(state, command.convoy, command.task)
    if isinstance(task, Refusal):
        return task
    return (
        TaskTold(
            convoy=command.convoy,
            task=task.number,
            by=command.by,
            text=command.text,
        ),
    )


def hear(state: State, command: NoteHeard) -> Decision:
    """Note what the running attempt's engine was given, if that is news."""
    task = in_session(state, command.convoy, command.task, command.attempt)
    if isinstance(task, Refusal):
        return task
    attempt = task.attempt
    if attempt is None or not attempt.heard < command.messages <= len(attempt.messages):
        return Refusal(f"task {task.number} has no such message")
    return (
        TaskHeard(
            convoy=command.convoy,
            task=task.number,
            attempt=attempt.number,
            messages=command.messages,
        ),
    )


def rank(state: State, command: RankConvoy) -> Decision:
    """Put the convoy before or behind others."""
    convoy = live(state, command.convoy)
    if isinstance(convoy, Refusal):
        return convoy
    if convoy.priority == command.priority:
        return Refusal(f"{convoy.name} has priority p{command.priority} already")
    return (ConvoyRanked(convoy=convoy.name, priority=command.priority, by=command.by),)


def _open(state: State, name: str, number: int) -> Task | Refusal:
    """Return a task that is not settled, of a convoy that has not ended."""
    convoy = live(state, name)
    if isinstance(convoy, Refusal):
        return convoy
    task = convoy.task(number)
    if task is None:
        return Refusal(f"{name} has no task {number}")
    return Refusal(f"task {number} is {task.state}") if task.settled else task


def _at_rest(state: State, name: str, number: int) -> Task | Refusal:
    """Return a task that waits, with no session and no work."""
    task = _open(state, name, number)
    if isinstance(task, Refusal):
        return task
    if task.state not in ("queued", "blocked") or task.attempt is not None:
        return Refusal(f"task {number} is {task.state}: it is too late for that")
    return task
