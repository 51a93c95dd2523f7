"""What may happen to a convoy."""

from collections.abc import Mapping

from convoy import ids
from convoy.commands import (
    FailConvoy,
    PauseConvoy,
    PlanConvoy,
    RequestConvoy,
    ResumeConvoy,
    StartBot,
)
from convoy.decide import planning
from convoy.decide.consequence import finish, known
from convoy.decide.everything import paused_because, stands_still
from convoy.decide.lookup import in_state, live
from convoy.decide.verdict import Decision, Events, Refusal
from convoy.estimate import estimate
from convoy.events import (
    ActionIntended,
    BotStarted,
    ConvoyFailed,
    ConvoyPaused,
    ConvoyPlanned,
    ConvoyRequested,
    ConvoyResumed,
    Kind,
    TaskDropped,
    TaskQueued,
    TaskSpec,
)
from convoy.graph import find_cycle
from convoy.needs import FAILED
from convoy.rivals import MOST
from convoy.state import Convoy, State


def start_bot(state: State, command: StartBot) -> Decision:
    """Let an actor speak for a bot, once."""
    if command.actor in state.bots:
        return Refusal(f"actor {command.actor} is a bot already")
    return (BotStarted(version=command.version),)


def request(state: State, command: RequestConvoy) -> Decision:
    """Accept an issue, and announce the comment that shows it."""
    if command.convoy in state.convoys:
        return Refusal(f"a convoy {command.convoy} exists already")
    if refused := stands_still(state):
        return refused
    for convoy in state.live():
        if convoy.issue == command.issue:
            return Refusal(
                f"convoy {convoy.name} of issue #{command.issue} is not finished"
            )
    return (
        ConvoyRequested(
            convoy=command.convoy,
            issue=command.issue,
            title=command.title,
            text=command.text,
            by=command.by,
            target=command.target,
            base=command.base,
            settings=command.settings,
            pattern=command.pattern,
            inputs=command.inputs,
        ),
        ActionIntended(
            key=ids.comment_key(command.convoy), kind="comment", convoy=command.convoy
        ),
    )


def plan(state: State, command: PlanConvoy) -> Decision:
    """Take a plan; its numbers may have gaps, where a list has items that are done."""
    convoy = in_state(state, command.convoy, "planning")
    if isinstance(convoy, Refusal):
        return convoy
    if convoy.tasks:
        return Refusal(f"{convoy.name} has its plan already")
    if not command.tasks:
        return Refusal("a plan has at least one task")
    numbers = [task.number for task in command.tasks]
    if numbers != sorted({*numbers} - {0}):
        return Refusal("tasks are numbered upwards from 1, each number once")
    if fault := fault_of(convoy, command.tasks):
        return Refusal(fault)
    ended = planning.answered(state, convoy, command)
    if isinstance(ended, Refusal):
        return ended
    planned = ConvoyPlanned(
        convoy=convoy.name,
        planner=command.planner,
        tasks=command.tasks,
        estimate=estimate(state, convoy, command.tasks),
        warnings=command.warnings,
        overlaps=command.overlaps,
    )
    queued = (
        TaskQueued(convoy=convoy.name, task=task.number, cause="planned")
        for task in command.tasks
    )
    return (*ended, planned, *queued, *_standing_still(state, convoy))


def _standing_still(state: State, planned: Convoy) -> Events:
    """Pause what would become active while everything is paused."""
    if not state.paused_by or planned.waits_for_approval:
        return ()
    why = paused_because(state.paused_by)
    return (ConvoyPaused(convoy=planned.name, by=state.paused_by, why=why),)


def fault_of(convoy: Convoy, tasks: tuple[TaskSpec, ...]) -> str | None:
    """Return what would keep a task from ever starting."""
    kinds = {task.number: task.kind for task in tasks}
    for task in tasks:
        if fault := _looking_fault(task, kinds):
            return fault
        if fault := _tests_fault(convoy, task, tasks) or _rival_fault(task, tasks):
            return fault
        if lost := [number for number in task.after if number not in kinds]:
            return f"task {task.number} needs task {lost[0]}, which is not in the plan"
        if task.engine not in convoy.settings.workers:
            return (
                f"task {task.number} wants the engine {task.engine}, which is unknown"
            )
    if circle := find_cycle(_edges(tasks)):
        return f"the tasks wait in a circle: {circle}"
    return None


def _edges(tasks: tuple[TaskSpec, ...]) -> dict[int, set[int]]:
    """Return what each task cannot end before.

    Work lands after its review, and so after what the review waits for; a rival after
    its choice.
    """
    edges = {task.number: {*task.after, *task.on} for task in tasks}
    for task in tasks:
        if task.kind in ("review", "choice"):
            for number in task.on:
                edges[number] |= {*task.after}
    return edges


def _looking_fault(task: TaskSpec, kinds: Mapping[int, Kind]) -> str:
    """Return what is wrong with the tasks whose work it looks at; empty: nothing."""
    if task.kind == "work" and task.on:
        is_tests = len(task.on) == 1 and kinds.get(task.on[0]) == "tests"
        return "" if is_tests else f"task {task.number} is on one task that is tests"
    if task.kind == "split":
        is_work = len(task.on) == 1 and kinds.get(task.on[0]) == "work"
        return "" if is_work else f"task {task.number} splits one task that is work"
    if task.kind == "choice":
        are_rivals = all(kinds.get(number) == "rival" for number in task.on)
        if are_rivals and 1 <= len(task.on) <= MOST:
            return ""
        return f"task {task.number} chooses between 1 to {MOST} tasks that are rivals"
    if task.kind != "review":
        return f"task {task.number} looks at no task's work" if task.on else ""
    if len(task.on) != 1 or kinds.get(task.on[0]) != "work":
        return f"task {task.number} reviews one task that is work"
    return ""


def _tests_fault(convoy: Convoy, task: TaskSpec, tasks: tuple[TaskSpec, ...]) -> str:
    """Return what keeps tests from being seen red, and then passed by one task."""
    if task.kind != "tests":
        return ""
    if not convoy.settings.require_ci:
        return f"CI must find the tests of task {task.number} red, and none is required"
    code = [t for t in tasks if t.kind == "work" and task.number in t.on]
    if len(code) != 1:
        return f"one task of work is on the tests of task {task.number}"
    if not {*code[0].after} <= {*task.after}:
        return f"task {code[0].number} waits for more than its tests do"
    return ""


def _rival_fault(task: TaskSpec, tasks: tuple[TaskSpec, ...]) -> str:
    """Return what keeps one rival from being chosen, or leaves it lost and needed."""
    rivals = {other.number for other in tasks if other.kind == "rival"}
    if lost := rivals.intersection(task.after):
        number = min(lost)
        return f"task {task.number} waits for task {number}, which may not be chosen"
    if task.kind != "rival":
        return ""
    choices = [t for t in tasks if t.kind == "choice" and task.number in t.on]
    if len(choices) != 1:
        return f"one choice is between task {task.number} and its rivals"
    return ""


def fail(state: State, command: FailConvoy) -> Decision:
    """Give the convoy up; what is not merged is dropped."""
    convoy = live(state, command.convoy)
    if isinstance(convoy, Refusal):
        return convoy
    dropped = (
        TaskDropped(convoy=convoy.name, task=task.number, why=command.why)
        for task in (*((convoy.mayor,) if convoy.mayor else ()), *convoy.tasks)
        if not task.settled
    )
    return (
        *dropped,
        ConvoyFailed(convoy=convoy.name, why=command.why),
        *known(convoy.name, command.by, FAILED),
        finish(convoy.name),
    )


def pause(state: State, command: PauseConvoy) -> Decision:
    """Start nothing new."""
    convoy = in_state(state, command.convoy, "active")
    if isinstance(convoy, Refusal):
        return convoy
    return (ConvoyPaused(convoy=convoy.name, by=command.by, why=command.why),)


def resume(state: State, command: ResumeConvoy) -> Decision:
    """Go on."""
    convoy = in_state(state, command.convoy, "paused")
    if isinstance(convoy, Refusal):
        return convoy
    return (ConvoyResumed(convoy=convoy.name, by=command.by),)
