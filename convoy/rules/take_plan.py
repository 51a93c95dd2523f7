"""How a convoy takes its plan: by a list, a template or an engine's answer."""

from collections.abc import Mapping

from convoy.events.command import (
    Command,
    Decision,
    Events,
    Refusal,
    in_session,
    in_state,
)
from convoy.events.convoy_plan import ConvoyPlanned
from convoy.events.pausing import ConvoyPaused, paused_because
from convoy.events.task_ends import TaskDropped, TaskMerged
from convoy.events.task_queue import TaskBlocked, TaskQueued
from convoy.kinds import kind_of
from convoy.model.records import Overlap, Scope, TaskSpec, Usage
from convoy.model.state import Convoy, State
from convoy.model.task_graph import find_cycle
from convoy.readiness.estimate import estimate
from convoy.readiness.forecast import forecasts
from convoy.rules.allow_paths import kept_back
from convoy.rules.limit_size import oversized, to_be_split, told


class PlanConvoy(Command, frozen=True, kw_only=True):
    """Take a checked plan."""

    convoy: str
    planner: str
    tasks: tuple[TaskSpec, ...]
    attempt: int = 0
    """The attempt whose session answered with it; 0: none did."""
    usage: Usage = Usage()
    warnings: tuple[str, ...] = ()
    """Remarks for readers of the plan."""
    overlaps: tuple[Overlap, ...] = ()
    """Which of the tasks may collide."""
    scopes: tuple[Scope, ...] = ()
    """What the paths of the tasks are where they start from."""

    def decide(self, state: State) -> Decision:
        """Take a plan; numbers have gaps where a list has ticked items."""
        convoy = in_state(state, self.convoy, "planning")
        if isinstance(convoy, Refusal):
            return convoy
        if convoy.tasks:
            return Refusal(f"{convoy.name} has its plan already")
        if not self.tasks:
            return Refusal("a plan has at least one task")
        numbers = [task.number for task in self.tasks]
        if numbers != sorted({*numbers} - {0}):
            return Refusal("tasks are numbered upwards from 1, each number once")
        if numbers[0] <= convoy.numbered:
            return Refusal(f"the numbers up to {convoy.numbered} were used already")
        if fault := fault_of(convoy, self.tasks):
            return Refusal(fault)
        ended = answered(state, convoy, self)
        if isinstance(ended, Refusal):
            return ended
        settings = convoy.settings
        large = oversized(self.tasks, self.scopes, settings)
        planned = ConvoyPlanned(
            convoy=convoy.name,
            planner=self.planner,
            tasks=self.tasks,
            estimate=estimate(state, convoy, self.tasks),
            warnings=(*self.warnings, *told(large, settings)),
            overlaps=self.overlaps,
            scopes=self.scopes,
            forecasts=forecasts(state, convoy.settings.workers),
        )
        queued = (
            TaskQueued(convoy=convoy.name, task=task.number, cause="planned")
            for task in self.tasks
        )
        kept = kept_back(convoy.name, self.tasks, settings.gate)
        is_kept = {event.task for event in kept if isinstance(event, TaskBlocked)}
        left = {number: why for number, why in large.items() if number not in is_kept}
        waits = (*kept, *to_be_split(convoy.name, left, settings))
        return (*ended, planned, *queued, *waits, *_standing_still(state, convoy))


def _standing_still(state: State, planned: Convoy) -> Events:
    """Pause a convoy that would become active while everything is paused."""
    if not state.paused_by or planned.waits_for_approval:
        return ()
    why = paused_because(state.paused_by)
    return (ConvoyPaused(convoy=planned.name, by=state.paused_by, why=why),)


def fault_of(convoy: Convoy, tasks: tuple[TaskSpec, ...]) -> str | None:
    """Return what would keep a task from ever starting."""
    known = {task.number: task for task in tasks}
    for task in tasks:
        if fault := _target_fault(task, known):
            return fault
        if fault := kind_of(task).fault(convoy.settings, task, tasks):
            return fault
        if lost := [number for number in task.after if number not in known]:
            return f"task {task.number} needs task {lost[0]}, which is not in the plan"
        before = (known[number] for number in task.after)
        if lost := [t.number for t in before if not kind_of(t).may_be_needed]:
            number = min(lost)
            return (
                f"task {task.number} waits for task {number}, which may not be chosen"
            )
        if task.engine not in convoy.settings.workers:
            return (
                f"task {task.number} wants the engine {task.engine}, which is unknown"
            )
    if circle := find_cycle(_edges(tasks)):
        return f"the tasks wait in a circle: {circle}"
    return None


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
        return f"task {task.number} looks at no task's work" if task.on else ""
    if target.is_optional and not task.on:
        return ""
    is_fit = 1 <= len(task.on) <= target.most and all(
        number in known and known[number].kind == target.kind for number in task.on
    )
    return "" if is_fit else f"task {task.number} {target.says}"


def answered(state: State, convoy: Convoy, command: PlanConvoy) -> Events | Refusal:
    """Return how planning ends in a plan: with or without a session's answer."""
    mayor = convoy.mayor
    if command.attempt:
        found = in_session(state, convoy.name, 0, command.attempt)
        if isinstance(found, Refusal):
            return found
        return (TaskMerged(convoy=convoy.name, task=0, usage=command.usage),)
    if mayor is None or mayor.settled:
        return ()
    if mayor.attempt is not None or mayor.state != "blocked":
        return Refusal(f"an engine plans {convoy.name}")
    return (TaskDropped(convoy=convoy.name, task=0, why=mayor.why),)
