"""Changes to a plan under way."""

from msgspec.structs import replace

from convoy.events import (
    ConvoyCommand,
    Decision,
    Refusal,
    TaskCommand,
    copied,
    live,
    unsettled,
)
from convoy.events.plan_events import TaskAdded, TaskAssigned, TaskLinked, TaskSplit
from convoy.events.task_events import TaskDropped
from convoy.kinds import can_be_split
from convoy.model.records import TaskSpec
from convoy.model.state import Convoy, State, Task
from convoy.model.task_graph import relinked
from convoy.rules.plans import check_plan, first_queued, kept_by_protected_paths
from convoy.text import counted, did_you_mean


class AddTask(ConvoyCommand, frozen=True, kw_only=True):
    """A person wants one more task; its number is the next one."""

    spec: TaskSpec
    by: str

    def decide(self, state: State) -> Decision:
        convoy, spec = live(state, self.convoy), self.spec
        if not convoy.tasks:
            return Refusal(f"{convoy.name} has no plan yet")
        if convoy.settled and (convoy.pull is None or convoy.given or convoy.asked):
            return Refusal(f"all tasks of {convoy.name} are done, and it is landing")
        if len(convoy.tasks) >= convoy.settings.tasks:
            most = counted(convoy.settings.tasks, "task")
            return Refusal(f"a convoy may have at most {most}")
        if spec.number != convoy.next_number:
            return Refusal(f"{spec.number} is not the next task number")
        dropped = [task.number for task in convoy.tasks if task.state == "dropped"]
        if lost := [number for number in (*spec.after, *spec.on) if number in dropped]:
            return Refusal(f"task {lost[0]} was dropped, so nothing can wait for it")
        check_plan(convoy, (*(task.spec for task in convoy.tasks), spec))
        return (copied(TaskAdded, self), *kept_by_protected_paths(convoy, (spec,)))


class LinkTask(TaskCommand, frozen=True, kw_only=True):
    """A task should wait for another one."""

    on: int
    by: str = ""
    """The person who wants it; empty: the bot, because their work overlaps."""
    why: str = ""

    def decide(self, state: State) -> Decision:
        convoy, task = at_rest(state, self.convoy, self.task)
        other = convoy.task(self.on)
        if other is None:
            return Refusal(f"{convoy.name} has no task {self.on}")
        if other.settled:
            return Refusal(f"task {other.number} is already {other.state}")
        if other.number in task.spec.after:
            return Refusal(f"task {task.number} already waits for task {other.number}")
        linked = replace(task.spec, after=(*task.spec.after, other.number))
        specs = (
            linked if each.number == task.number else each.spec for each in convoy.tasks
        )
        check_plan(convoy, tuple(specs))
        return (copied(TaskLinked, self),)


class AssignTask(ConvoyCommand, frozen=True, kw_only=True):
    """A person wants another engine for a task; None: for all not started yet."""

    task: int | None
    engine: str
    by: str

    def decide(self, state: State) -> Decision:
        convoy = live(state, self.convoy)
        engines = convoy.settings.workers
        if self.engine not in engines:
            near = did_you_mean(self.engine, engines)
            known = f"{', '.join(sorted(engines))}{near}"
            return Refusal(f"there is no engine {self.engine}; configured: {known}")
        if self.task is not None:
            _, task = at_rest(state, convoy.name, self.task)
            if task.spec.engine == self.engine:
                return Refusal(
                    f"task {task.number} already uses the engine {self.engine}"
                )
            return (copied(TaskAssigned, self, task=task.number),)
        fresh = (task for task in convoy.tasks if not task.settled and not task.started)
        given = (task.number for task in fresh if task.spec.engine != self.engine)
        assigned = tuple(copied(TaskAssigned, self, task=number) for number in given)
        why = f"every task has already started or uses the engine {self.engine}"
        return assigned or Refusal(why)


def at_rest(state: State, name: str, number: int) -> tuple[Convoy, Task]:
    """Return a convoy, and a task of it that waits, with no session and no work."""
    convoy, task = unsettled(state, name, number)
    if task.state not in ("queued", "blocked") or task.attempt is not None:
        raise Refusal(f"task {number} is {task.state}; it is too late to change it")
    return convoy, task


class PartTask(TaskCommand, frozen=True, kw_only=True):
    """A person wrote the parts that a task is to be done in."""

    parts: tuple[TaskSpec, ...]
    by: str

    def decide(self, state: State) -> Decision:
        convoy, task = at_rest(state, self.convoy, self.task)
        if not can_be_split(convoy, task):
            fit = "only a task of kind work without a review or tests can be split"
            return Refusal(f"task {task.number} cannot be split: {fit}")
        first = convoy.next_number
        if len(self.parts) < 2:  # noqa: PLR2004
            return Refusal(f"task {task.number} must be split into at least 2 parts")
        if any(n != part.number for n, part in enumerate(self.parts, first)):
            return Refusal(f"parts must be numbered consecutively from {first}")
        if any(part.part_of != task.number for part in self.parts):
            return Refusal(f"every part must belong to task {task.number}")
        specs = tuple(each.spec for each in convoy.tasks)
        check_plan(convoy, relinked(specs, task.number, self.parts))
        left = [each for each in convoy.tasks if each.state != "dropped"]
        if len(left) + len(self.parts) - 1 > convoy.settings.tasks:
            return Refusal(f"a convoy may have at most {convoy.settings.tasks} tasks")
        name, numbers = convoy.name, ", ".join(str(p.number) for p in self.parts)
        why = f"{self.by} split it into tasks {numbers}"
        return (
            copied(TaskSplit, self, by=0, person=self.by),
            TaskDropped(convoy=name, task=task.number, why=why, wanted_by=self.by),
            *first_queued(name, self.parts),
            *kept_by_protected_paths(convoy, self.parts),
        )
