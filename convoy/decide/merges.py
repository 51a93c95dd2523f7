"""What may land: the current candidate, after what it needs."""

from typing import Final

from msgspec.structs import replace

from convoy import ids
from convoy.commands import (
    AttemptMerge,
    FailMerge,
    LandMerge,
    ProveRival,
    ProveTests,
)
from convoy.decide.consequence import again, completed, convoy_next, finish
from convoy.decide.lookup import live, task_in
from convoy.decide.verdict import Decision, Refusal
from convoy.events import (
    ConvoyFailed,
    MergeAttempted,
    MergeFailed,
    MergeLanded,
    Settings,
    TaskBlocked,
    TaskMerged,
    TestsProven,
    WorkProven,
)
from convoy.queue import kept_back
from convoy.rivals import is_unchosen
from convoy.state import Convoy, State, Task

UNJUDGED: Final = ("none",)
"""What is noted on a landing where CI is not required."""


def attempt(state: State, command: AttemptMerge) -> Decision:
    """Note a candidate of work that is still the newest, once."""
    convoy = live(state, command.convoy)
    if isinstance(convoy, Refusal):
        return convoy
    current = convoy.candidate
    if command.task:
        task = task_in(state, convoy.name, command.task, "needs-review")
        if isinstance(task, Refusal):
            return task
        if task.work is None or task.work.commit != command.work:
            return Refusal(f"task {command.task} has other work by now")
        is_trial = _is_tried(convoy, task) and command.candidate == task.work.commit
        if not is_trial and (waits := kept_back(convoy, task)):
            return Refusal(f"task {command.task} waits for {waits}")
        current = task.candidate
    elif not convoy.settled:
        return Refusal(f"{convoy.name} has tasks that are not settled")
    offered = (command.candidate, command.base, command.work)
    if current and (current.commit, current.base, current.work) == offered:
        return Refusal(f"{command.candidate} is the candidate already")
    return (
        MergeAttempted(
            convoy=convoy.name,
            task=command.task,
            strategy=convoy.settings.strategy if command.task else "merge",
            candidate=command.candidate,
            base=command.base,
            work=command.work,
        ),
    )


def fail(state: State, command: FailMerge) -> Decision:
    """Send the task back; a convoy that cannot merge is given up.

    Without a candidate it conflicts; with one, only the current one is blamed.
    """
    convoy = live(state, command.convoy)
    if isinstance(convoy, Refusal):
        return convoy
    if command.candidate is not None and not _is_current(convoy, command):
        return Refusal(f"{command.candidate} is not the candidate any more")
    failed = MergeFailed(
        convoy=convoy.name,
        task=command.task,
        candidate=command.candidate,
        why=command.why,
    )
    if command.task == 0:
        if not convoy.settled:
            return Refusal(f"{convoy.name} is not merging")
        given_up = ConvoyFailed(convoy=convoy.name, why=command.why)
        return (failed, given_up, finish(convoy.name))
    task = task_in(state, convoy.name, command.task, "needs-review")
    if isinstance(task, Refusal):
        return task
    if is_unchosen(convoy, task):  # CI has chosen among the rivals, and not this one
        why = command.why
        out = TaskBlocked(convoy=convoy.name, task=task.number, why=why, cause="red")
        return (failed, out)
    return (failed, *again(state, command, task))


def prove(state: State, command: ProveTests) -> Decision:
    """Note that CI found the tests red that are on trial now."""
    task = task_in(state, command.convoy, command.task, "needs-review")
    if isinstance(task, Refusal):
        return task
    if task.spec.kind != "tests":
        return Refusal(f"task {task.number} writes no tests for others")
    if task.candidate is None or task.candidate.commit != command.commit:
        return Refusal(f"{command.commit} is not the candidate any more")
    if not _is_judged(state.convoys[command.convoy].settings, command.judged):
        return Refusal(f"{command.commit} was not judged by all that must be")
    proven = TestsProven(
        convoy=command.convoy,
        task=task.number,
        commit=command.commit,
        judged=command.judged,
    )
    return (proven,)


def prove_rival(state: State, command: ProveRival) -> Decision:
    """Note that CI found a rival's work green, where CI is asked."""
    task = task_in(state, command.convoy, command.task, "needs-review")
    if isinstance(task, Refusal):
        return task
    convoy = state.convoys[command.convoy]
    if not is_unchosen(convoy, task):
        return Refusal(f"task {task.number} has no rivals")
    if task.work is None or task.work.commit != command.commit or task.is_proven:
        return Refusal(f"{command.commit} is not on trial")
    shown = task.candidate is not None and task.candidate.commit == command.commit
    if convoy.settings.require_ci and not shown:
        return Refusal(f"{command.commit} is not the candidate any more")
    is_judged = _is_judged(convoy.settings, command.judged)
    if not is_judged:
        return Refusal(f"{command.commit} was not judged by all that must be green")
    proven = WorkProven(
        convoy=command.convoy,
        task=task.number,
        commit=command.commit,
        judged=command.judged,
        lines=command.lines,
    )
    return (proven,)


def land(state: State, command: LandMerge) -> Decision:
    """Land the current candidate, after all its task needs."""
    convoy = live(state, command.convoy)
    if isinstance(convoy, Refusal):
        return convoy
    if not _is_current(convoy, command):
        return Refusal(f"{command.candidate} is not the candidate any more")
    if not _is_judged(convoy.settings, command.judged):
        return Refusal(f"{command.candidate} was not judged by all that must be green")
    task = convoy.task(command.task)
    if convoy.held or (task and kept_back(convoy, task)):
        return Refusal(f"{command.candidate} may not land now")
    landed = MergeLanded(
        convoy=convoy.name,
        task=command.task,
        candidate=command.candidate,
        branch=ids.base_branch(convoy.name) if task else convoy.target,
        judged=command.judged,
    )
    if task is None:
        return (landed, *completed(convoy, command.candidate))
    if unmet := [n for n in task.spec.after if not _merged(convoy, n)]:
        return Refusal(f"task {task.number} needs task {unmet[0]} merged first")
    merged = TaskMerged(convoy=convoy.name, task=task.number, commit=command.candidate)
    done = replace(task, state="merged", landed=command.candidate)
    return (landed, merged, *convoy_next(convoy, done))


def _is_current(convoy: Convoy, command: FailMerge | LandMerge) -> bool:
    task = convoy.task(command.task)
    candidate = task.candidate if task else convoy.candidate
    return candidate is not None and candidate.commit == command.candidate


def _is_tried(convoy: Convoy, task: Task) -> bool:
    """Whether CI judges its work as it is, and nothing lands of it."""
    return task.spec.kind == "tests" or is_unchosen(convoy, task)


def _is_judged(settings: Settings, judged: tuple[str, ...]) -> bool:
    if not settings.require_ci:
        return judged == UNJUDGED
    return judged not in ((), UNJUDGED) and set(settings.checks) <= set(judged)


def _merged(convoy: Convoy, number: int) -> bool:
    task = convoy.task(number)
    return task is not None and task.state == "merged"
