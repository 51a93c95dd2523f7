"""May this be the plan? How a convoy takes it, and what of it waits for people.

A plan comes from a list, a template or an engine's answer. Tasks that change protected
paths wait until a person lets them. What the plan may take, by the median of earlier
tasks, only informs people and delays nothing.
"""

from collections.abc import Collection, Iterable, Mapping
from statistics import median
from typing import Final

from convoy.events import (
    ConvoyCommand,
    Decision,
    Events,
    Refusal,
    TaskCommand,
    clause,
    copied,
    decided,
    in_session,
    in_state,
    unsettled,
)
from convoy.events.plan_events import ConvoyPlanned, TaskAllowed
from convoy.events.session_events import WorkAccepted
from convoy.events.task_events import TaskBlocked, TaskDropped, TaskMerged, TaskQueued
from convoy.gate import forbidden, protected, unallowed, wants
from convoy.kinds import kind_of
from convoy.model.records import (
    EngineSpec,
    Estimate,
    Scope,
    SubIssue,
    TaskSpec,
    Usage,
)
from convoy.model.session_result import priced
from convoy.model.state import Convoy, State, Task, past_tasks
from convoy.model.task_graph import find_cycle
from convoy.planner import own_words, paths_in
from convoy.rules.people import RetryTask, standstill


class PlanConvoy(ConvoyCommand, frozen=True, kw_only=True):
    """Take a checked plan."""

    planner: str
    tasks: tuple[TaskSpec, ...]
    attempt: int = 0
    """The attempt whose session answered with it; 0: none did."""
    usage: Usage = Usage()
    warnings: tuple[str, ...] = ()
    """Remarks for readers of the plan."""
    scopes: tuple[Scope, ...] = ()
    """What the paths of the tasks are where they start from."""

    def decide(self, state: State) -> Decision:
        """Take a plan; numbers have gaps where a list has ticked items."""
        convoy = in_state(state, self.convoy, "planning")
        if convoy.tasks:
            return Refusal(f"{convoy.name} already has its plan")
        if not self.tasks:
            return Refusal("a plan must have at least one task")
        numbers = [task.number for task in self.tasks]
        if numbers != sorted({*numbers} - {0}):
            return Refusal("task numbers must be positive and in ascending order")
        if numbers[0] <= convoy.numbered:
            return Refusal(f"task numbers up to {convoy.numbered} are already used")
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
        ended = answered(state, convoy, self)
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
        if lost := [number for number in task.after if number not in known]:
            why = f"needs task {lost[0]}, which is not in the plan"
            raise Refusal(f"task {task.number} {why}")
        before = (known[number] for number in task.after)
        if lost := [t.number for t in before if not kind_of(t).may_be_needed]:
            why = f"needs task {min(lost)}, which might not be chosen"
            raise Refusal(f"task {task.number} {why}")
        if task.engine not in convoy.settings.workers:
            why = f"uses an unknown engine, {task.engine}"
            raise Refusal(f"task {task.number} {why}")
    if circle := find_cycle(_edges(tasks)):
        names = ", ".join(map(str, circle))
        raise Refusal(f"tasks wait for each other in a cycle: {names}")


def _edges(tasks: tuple[TaskSpec, ...]) -> dict[int, set[int]]:
    """Return what each task cannot end before.

    Work that lands after a task that looks at it also lands after what that task waits
    for.
    """
    edges = {task.number: {*task.after, *task.on} for task in tasks}
    for task in tasks:
        target = kind_of(task).target
        if target is not None and target.lands_after:
            for number in task.on:
                edges[number] |= {*task.after}
    return edges


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


def answered(state: State, convoy: Convoy, command: PlanConvoy) -> Events:
    """Return how planning ends in a plan: with or without a session's answer."""
    mayor = convoy.mayor
    if command.attempt:
        in_session(state, convoy.name, 0, command.attempt)
        return (TaskMerged(convoy=convoy.name, task=0, usage=command.usage),)
    if mayor is None or mayor.settled:
        return ()
    if mayor.attempt is not None or mayor.state != "blocked":
        raise Refusal(f"{convoy.name} is being planned")
    return (TaskDropped(convoy=convoy.name, task=0, why=mayor.why),)


class AllowPaths(TaskCommand, frozen=True, kw_only=True):
    """A person lets a task change protected paths."""

    by: str
    path: str = ""
    """One that its plan does not name; empty: those that it names."""

    def decide(self, state: State) -> Decision:
        """Allow the paths; a task that waited for it goes on."""
        convoy, task = unsettled(state, self.convoy, self.task)
        gate = convoy.settings.gate
        asked = (self.path,) if self.path else named_paths(task.spec)
        found = protected(asked, gate)
        if kept := forbidden(found):
            return Refusal(f"no agent may change {kept[0]}: a person must do it")
        new = tuple(path for path in found if path not in task.allowed)
        if not new:
            what = self.path or f"every path in the plan of task {task.number}"
            if task.state == "blocked" and not unallowed(task, gate):
                why = f"another reason: {clause(task.why)}"
                return Refusal(f"task {task.number} is blocked for {why}")
            return Refusal(f"{what} is already allowed or is not protected")
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
    past = {name: tuple(past_tasks(state, each)) for name, each in engines.items()}
    prices = {name: _price(past[name], each) for name, each in engines.items()}
    usd = [price for task in tasks if (price := prices[task.engine]) is not None]
    worked = {n: [task.worked_ms / 1000 for task in each] for n, each in past.items()}
    if not usd and not all(worked.values()):
        return None
    return Estimate(
        usd=round(sum(usd), 2) if usd else None,
        seconds=sum(round(median(worked[task.engine])) for task in tasks)
        if all(worked.values())
        else None,
        tasks=sum(map(len, past.values())),
    )


def _price(past: Collection[Task], engine: EngineSpec) -> float | None:
    """Return what a task may cost, in US dollars; None: no price is known."""
    known = [
        task.used.usd
        for task in past
        if task.used.usd > 0 and not task.used.unpriced_tokens
    ]
    if known:
        return median(known)
    return priced(GUESSED, None, engine.price).usd if engine.price else None
