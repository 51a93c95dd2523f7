"""May this be the plan? How a convoy takes and changes it; what waits for people.

A plan comes from a list, a template or an engine's answer. Tasks that change protected
paths wait until a person lets them. What the plan may take, by the median of earlier
tasks, only informs people and delays nothing.
"""

from collections.abc import Collection, Iterable, Mapping
from statistics import median
from typing import Final

from msgspec.structs import replace

from convoy.events import (
    ConvoyCommand,
    Events,
    Refusal,
    TaskCommand,
    clause,
    copied,
    decided,
)
from convoy.events.plan_events import (
    ConvoyPlanned,
    TaskAdded,
    TaskAllowed,
    TaskAssigned,
    TaskLinked,
    TaskSplit,
)
from convoy.events.session_events import WorkAccepted
from convoy.events.task_events import TaskBlocked, TaskDropped, TaskMerged, TaskQueued
from convoy.gate import forbidden, protected, unallowed, wants
from convoy.kinds import can_be_split, kind_of
from convoy.model.records import Estimate, Scope, SubIssue, TaskSpec, Usage
from convoy.model.session_result import priced
from convoy.model.state import Convoy, State, Task
from convoy.model.task_graph import find_cycle, relinked
from convoy.planner import own_words, paths_in
from convoy.rules.people import standstill
from convoy.rules.retries import RetryTask
from convoy.text import counted, did_you_mean


class PlanConvoy(ConvoyCommand, frozen=True, kw_only=True):
    planner: str
    tasks: tuple[TaskSpec, ...]
    attempt: int = 0
    """The attempt whose session answered with it; 0: none did."""
    usage: Usage = Usage()
    warnings: tuple[str, ...] = ()
    scopes: tuple[Scope, ...] = ()

    def decide(self, state: State) -> Events:
        """Take a plan; numbers have gaps where a list has ticked items."""
        convoy = self.in_state(state, "planning")
        if convoy.tasks:
            raise Refusal(f"{convoy.name} already has its plan")
        if not self.tasks:
            raise Refusal("a plan must have at least one task")
        numbers = [task.number for task in self.tasks]
        if numbers != sorted({*numbers} - {0}):
            raise Refusal("task numbers must be positive and in ascending order")
        if numbers[0] <= convoy.numbered:
            raise Refusal(f"task numbers up to {convoy.numbered} are already used")
        if given := convoy.lands_given:  # its work is done
            planned = copied(ConvoyPlanned, self)
            taken = WorkAccepted(
                convoy=convoy.name,
                task=self.tasks[0].number,
                attempt=0,
                commit=given.head,
                base=convoy.base,
                files=(),
            )
            return (planned, taken)
        check_plan(convoy, self.tasks)
        ended: Events = ()  # planning ends with a session's answer, or without
        mayor = convoy.mayor
        if self.attempt:
            asked = TaskCommand(convoy=self.convoy, task=0)
            asked.in_session(state, self.attempt)
            ended = (TaskMerged(convoy=convoy.name, task=0, usage=self.usage),)
        elif mayor is not None and not mayor.settled:
            if mayor.attempt is not None or mayor.state != "blocked":
                raise Refusal(f"{convoy.name} is being planned")
            ended = (TaskDropped(convoy=convoy.name, task=0, why=mayor.why),)
        takes = estimate(state, convoy, self.tasks)
        planned = copied(ConvoyPlanned, self, estimate=takes)
        queued = first_queued(convoy.name, self.tasks)
        kept = (
            *kept_by_protected_paths(convoy, self.tasks),
            *left_to_people(convoy, convoy.listed),
        )
        still = () if convoy.waits_for_approval else standstill(state, convoy)
        return (*ended, planned, *queued, *kept, *still)


def first_queued(convoy: str, tasks: Iterable[TaskSpec]) -> Events:
    numbers = (task.number for task in tasks)
    return tuple(TaskQueued(convoy=convoy, task=n, cause="planned") for n in numbers)


def check_plan(convoy: Convoy, tasks: tuple[TaskSpec, ...]) -> None:
    """Refuse a plan of which a task could never start."""
    known = {task.number: task for task in tasks}
    for task in tasks:
        of_kind = kind_of(task).fault(convoy.settings, task, tasks)
        if fault := _target_fault(task, known) or of_kind:
            raise Refusal(fault)
        what = f"task {task.number}"
        if lost := [number for number in task.after if number not in known]:
            raise Refusal(f"{what} needs task {lost[0]}, which is not in the plan")
        before = (known[number] for number in task.after)
        if lost := [t.number for t in before if not kind_of(t).may_be_needed]:
            raise Refusal(f"{what} needs task {min(lost)}, which might not be chosen")
        if task.engine not in convoy.settings.engines:
            raise Refusal(f"{what} uses an unknown engine, {task.engine}")
    # What each task cannot end before. Work that lands after a task that looks at it
    # also lands after what that task waits for.
    edges = {task.number: {*task.after, *task.on} for task in tasks}
    for task in tasks:
        target = kind_of(task).target
        for number in task.on if target is not None and target.lands_after else ():
            edges[number] |= {*task.after}
    if circle := find_cycle(edges):
        names = ", ".join(map(str, circle))
        raise Refusal(f"tasks wait for each other in a cycle: {names}")


def _target_fault(task: TaskSpec, known: Mapping[int, TaskSpec]) -> str:
    """Return what is wrong with the tasks that a task looks at; empty: nothing."""
    target = kind_of(task).target
    if target is None:
        return f"task {task.number} cannot review other tasks" if task.on else ""
    if target.is_optional and not task.on:
        return ""
    is_fit = 1 <= len(task.on) <= target.most and all(
        number in known and known[number].kind == target.kind for number in task.on
    )
    return "" if is_fit else f"task {task.number} {target.says}"


class AllowPaths(TaskCommand, frozen=True, kw_only=True):
    by: str
    path: str = ""
    """One that its plan does not name; empty: those that it names, and those for which
    its work was refused."""

    def decide(self, state: State) -> Events:
        """Allow the paths; a task that waited for it goes on."""
        convoy, task = self.unsettled(state)
        gate = convoy.settings.gate
        known = (*named_paths(task.spec), *task.refused_paths)
        found = protected((self.path,) if self.path else known, gate)
        if kept := forbidden(found):
            raise Refusal(f"no agent may change {kept[0]}: a person must do it")
        new = tuple(path for path in found if path not in task.allowed)
        if not new:
            what = self.path or f"every path in the plan of task {task.number}"
            if task.state == "blocked" and not unallowed(task, gate):
                why = f"another reason: {clause(task.why)}"
                raise Refusal(f"task {task.number} is blocked for {why}")
            raise Refusal(f"{what} is already allowed or is not protected")
        allowed = copied(TaskAllowed, self, paths=new)
        if task.state != "blocked":
            return (allowed,)
        queued = decided(copied(RetryTask, self), allowed.change(state))
        return (allowed,) if isinstance(queued, Refusal) else (allowed, *queued)


def named_paths(spec: TaskSpec) -> tuple[str, ...]:
    words = paths_in(f"{spec.title}\n{own_words(spec)}")
    return tuple(dict.fromkeys((*spec.paths, *words)))


def kept_by_protected_paths(convoy: Convoy, specs: Iterable[TaskSpec]) -> Events:
    """Return that each task waits for a person that declares protected paths.

    Its work could not pass the gate: no session is spent on it before.
    """
    gate = convoy.settings.gate
    return tuple(
        TaskBlocked(convoy=convoy.name, task=n, why=wants(n, paths))
        for n, spec in ((spec.number, spec) for spec in specs)
        if (paths := unallowed(Task(spec=spec), gate)) and not kind_of(spec).answer
    )


def left_to_people(convoy: Convoy, listed: Iterable[SubIssue]) -> Events:
    """Return that what a person is assigned to on the forge waits for that person."""
    tasks = {each.issue: each.task for each in convoy.named}
    return tuple(
        TaskBlocked(
            convoy=convoy.name,
            task=tasks[sub.issue],
            why=f"#{sub.issue} is assigned to {sub.kept_by} and counts as done when it "
            f"is closed as completed; `/brat retry {tasks[sub.issue]}` gives it to an "
            "agent",
        )
        for sub in listed
        if sub.kept_by and sub.issue in tasks
    )


GUESSED: Final = Usage(
    input_tokens=100_000, cached_tokens=400_000, output_tokens=15_000
)
"""A guess at what one attempt uses if nothing is known about its engine."""


def estimate(
    state: State, convoy: Convoy, tasks: Collection[TaskSpec]
) -> Estimate | None:
    """Return what these tasks may take; None: nothing is known.

    Each is thought to take the median of what earlier tasks of its engine's type and
    model took with all their attempts. One whose price is not known counts nothing.
    """
    engines = {task.engine: convoy.settings.engines[task.engine] for task in tasks}
    past = {name: tuple(state.past_tasks(each)) for name, each in engines.items()}
    prices: dict[str, float | None] = {}
    for name, each in engines.items():
        used = [task.used for task in past[name]]
        known = [one.usd for one in used if one.usd > 0 and not one.unpriced_tokens]
        guess = priced(GUESSED, None, each.price).usd if each.price else None
        prices[name] = median(known) if known else guess
    usd = [price for task in tasks if (price := prices[task.engine]) is not None]
    worked = {n: [task.worked_ms / 1000 for task in some] for n, some in past.items()}
    if not usd and not all(worked.values()):
        return None
    return Estimate(
        usd=round(sum(usd), 2) if usd else None,
        seconds=sum(round(median(worked[task.engine])) for task in tasks)
        if all(worked.values())
        else None,
        tasks=sum(map(len, past.values())),
    )


class AddTask(ConvoyCommand, frozen=True, kw_only=True):
    """A person wants one more task; its number is the next one."""

    spec: TaskSpec
    by: str

    def decide(self, state: State) -> Events:
        convoy, spec = self.live(state), self.spec
        if not convoy.tasks:
            raise Refusal(f"{convoy.name} has no plan yet")
        if convoy.settled and (convoy.pull is None or convoy.given or convoy.asked):
            raise Refusal(f"all tasks of {convoy.name} are done, and it is landing")
        if len(convoy.tasks) >= convoy.settings.tasks:
            most = counted(convoy.settings.tasks, "task")
            raise Refusal(f"a convoy may have at most {most}")
        if spec.number != convoy.next_number:
            raise Refusal(f"{spec.number} is not the next task number")
        dropped = [task.number for task in convoy.tasks if task.state == "dropped"]
        if lost := [number for number in (*spec.after, *spec.on) if number in dropped]:
            raise Refusal(f"task {lost[0]} was dropped, so nothing can wait for it")
        check_plan(convoy, (*(task.spec for task in convoy.tasks), spec))
        return (copied(TaskAdded, self), *kept_by_protected_paths(convoy, (spec,)))


class LinkTask(TaskCommand, frozen=True, kw_only=True):
    on: int
    by: str = ""
    why: str = ""

    def decide(self, state: State) -> Events:
        convoy, task = at_rest(self, state)
        other = convoy.task(self.on)
        if other is None:
            raise Refusal(f"{convoy.name} has no task {self.on}")
        if other.settled:
            raise Refusal(f"task {other.number} is already {other.state}")
        if other.number in task.spec.after:
            raise Refusal(f"task {task.number} already waits for task {other.number}")
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

    def decide(self, state: State) -> Events:
        convoy = self.live(state)
        engines = convoy.settings.engines
        if self.engine not in engines:
            near = did_you_mean(self.engine, engines)
            known = f"{', '.join(sorted(engines))}{near}"
            raise Refusal(f"there is no engine {self.engine}; configured: {known}")
        if self.task is not None:
            asked = TaskCommand(convoy=convoy.name, task=self.task)
            _, task = at_rest(asked, state)
            if task.spec.engine == self.engine:
                raise Refusal(
                    f"task {task.number} already uses the engine {self.engine}"
                )
            return (copied(TaskAssigned, self, task=task.number),)
        fresh = (task for task in convoy.tasks if not task.settled and not task.started)
        given = (task.number for task in fresh if task.spec.engine != self.engine)
        if assigned := tuple(copied(TaskAssigned, self, task=n) for n in given):
            return assigned
        all_have = f"has already started or uses the engine {self.engine}"
        raise Refusal(f"every task {all_have}")


def at_rest(asked: TaskCommand, state: State) -> tuple[Convoy, Task]:
    """Return a convoy, and a task of it that waits, with no session and no work."""
    convoy, task = asked.unsettled(state)
    if task.state not in ("queued", "blocked") or task.attempt is not None:
        why = f"task {task.number} is {task.state}; it is too late to change it"
        raise Refusal(why)
    return convoy, task


class PartTask(TaskCommand, frozen=True, kw_only=True):
    """A person wrote the parts that a task is to be done in."""

    parts: tuple[TaskSpec, ...]
    by: str

    def decide(self, state: State) -> Events:
        convoy, task = at_rest(self, state)
        if not can_be_split(convoy, task):
            fit = "only a task of kind work without a review or tests can be split"
            raise Refusal(f"task {task.number} cannot be split: {fit}")
        first = convoy.next_number
        if len(self.parts) < 2:  # noqa: PLR2004
            raise Refusal(f"task {task.number} must be split into at least 2 parts")
        if any(n != part.number for n, part in enumerate(self.parts, first)):
            raise Refusal(f"parts must be numbered consecutively from {first}")
        if any(part.part_of != task.number for part in self.parts):
            raise Refusal(f"every part must belong to task {task.number}")
        specs = tuple(each.spec for each in convoy.tasks)
        check_plan(convoy, relinked(specs, task.number, self.parts))
        left = [each for each in convoy.tasks if each.state != "dropped"]
        if len(left) + len(self.parts) - 1 > convoy.settings.tasks:
            raise Refusal(f"a convoy may have at most {convoy.settings.tasks} tasks")
        name, numbers = convoy.name, ", ".join(str(p.number) for p in self.parts)
        why = f"{self.by} split it into tasks {numbers}"
        return (
            copied(TaskSplit, self, by=0, person=self.by),
            TaskDropped(convoy=name, task=task.number, why=why, wanted_by=self.by),
            *first_queued(name, self.parts),
            *kept_by_protected_paths(convoy, self.parts),
        )
