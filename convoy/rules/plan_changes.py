"""Changes people may make to a plan that is being carried out."""

from msgspec.structs import replace

from convoy.events.command import Command, Decision, Refusal, live, unsettled
from convoy.events.plan_edits import TaskAdded, TaskAssigned, TaskLinked
from convoy.model.records import TaskSpec
from convoy.model.state import Convoy, State, Task
from convoy.rules.allow_paths import kept_back
from convoy.rules.take_plan import fault_of
from convoy.text import counted, did_you_mean


class AddTask(Command, frozen=True, kw_only=True):
    """A person wants one more task; its number is the next one."""

    convoy: str
    spec: TaskSpec
    by: str

    def decide(self, state: State) -> Decision:
        """Add a task after the others."""
        convoy, spec = live(state, self.convoy), self.spec
        if isinstance(convoy, Refusal):
            return convoy
        if not convoy.tasks:
            return Refusal(f"{convoy.name} has no plan yet")
        if convoy.settled:
            return Refusal(f"every task of {convoy.name} is settled and it is landing")
        if len(convoy.tasks) >= convoy.settings.tasks:
            most = counted(convoy.settings.tasks, "task")
            return Refusal(f"a convoy may have {most} here")
        if spec.number != convoy.next_number:
            return Refusal(f"task {spec.number} is not the next number")
        dropped = [task.number for task in convoy.tasks if task.state == "dropped"]
        if lost := [number for number in (*spec.after, *spec.on) if number in dropped]:
            return Refusal(f"task {lost[0]} was dropped: nothing can wait for it")
        if fault := fault_of(convoy, (*(task.spec for task in convoy.tasks), spec)):
            return Refusal(fault)
        waits = kept_back(convoy.name, (spec,), convoy.settings.gate)
        return (TaskAdded(convoy=convoy.name, spec=spec, by=self.by), *waits)


class LinkTask(Command, frozen=True, kw_only=True):
    """A task should wait for another one."""

    convoy: str
    task: int
    on: int
    by: str = ""
    """The person who wants it; empty: the bot, because their work overlaps."""
    why: str = ""

    def decide(self, state: State) -> Decision:
        """Let a task that has not begun its attempt wait for another one."""
        task = at_rest(state, self.convoy, self.task)
        if isinstance(task, Refusal):
            return task
        convoy = state.convoys[self.convoy]
        other = convoy.task(self.on)
        if other is None:
            return Refusal(f"{convoy.name} has no task {self.on}")
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
                by=self.by,
                why=self.why,
            ),
        )


class AssignTask(Command, frozen=True, kw_only=True):
    """A person wants another engine for a task; None: for all not started yet."""

    convoy: str
    task: int | None
    engine: str
    by: str

    def decide(self, state: State) -> Decision:
        """Give a task, or all that were never started, to another engine."""
        convoy = live(state, self.convoy)
        if isinstance(convoy, Refusal):
            return convoy
        engines = convoy.settings.workers
        if self.engine not in engines:
            near = did_you_mean(self.engine, engines)
            known = ", ".join(sorted(engines))
            return Refusal(f"there is no engine {self.engine}{near}; there is {known}")
        tasks = _meant(state, convoy, self)
        if isinstance(tasks, Refusal):
            return tasks
        return tuple(
            TaskAssigned(
                convoy=convoy.name, task=task.number, engine=self.engine, by=self.by
            )
            for task in tasks
        )


def _meant(
    state: State, convoy: Convoy, command: AssignTask
) -> tuple[Task, ...] | Refusal:
    """Return the tasks meant that have a different engine so far."""
    if command.task is not None:
        task = at_rest(state, convoy.name, command.task)
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


def at_rest(state: State, name: str, number: int) -> Task | Refusal:
    """Return a task that waits, with no session and no work."""
    task = unsettled(state, name, number)
    if isinstance(task, Refusal):
        return task
    if task.state not in ("queued", "blocked") or task.attempt is not None:
        return Refusal(f"task {number} is {task.state}: it is too late for that")
    return task
