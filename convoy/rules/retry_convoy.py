"""How a person takes up a convoy that failed, or whose landing waits."""

from convoy.events.command import Command, Decision, Events, Refusal
from convoy.events.convoy_retries import ConvoyRetried
from convoy.events.forge_actions import ActionIntended
from convoy.events.pausing import ConvoyPaused, paused_because
from convoy.kinds.relations import is_done, needed, trial
from convoy.model import ids
from convoy.model.state import Convoy, State, Task
from convoy.readiness.unlanded_work import unlanded


class RetryConvoy(Command, frozen=True, kw_only=True):
    """A person wants a convoy to go on that failed, or whose landing waits."""

    convoy: str
    by: str

    def decide(self, state: State) -> Decision:
        """Take the convoy up with its work, and what was dropped when it failed."""
        convoy = state.convoys.get(self.convoy)
        if convoy is None:
            return Refusal(f"there is no convoy {self.convoy}")
        if convoy.state != "failed":
            if convoy.ended or not convoy.sync.stalled:
                return Refusal(f"{convoy.name} is {convoy.state}, not failed")
            return (ConvoyRetried(convoy=convoy.name, by=self.by),)
        if other := _successor(state, convoy):
            return Refusal(f"issue #{convoy.issue} has the convoy {other} by now")
        if convoy.issue_is == "gone":
            return Refusal(f"issue #{convoy.issue} was deleted or transferred")
        tasks = taken_up(convoy)
        if convoy.tasks and not tasks and not unlanded(convoy):
            return Refusal(f"nothing of {convoy.name} is left to do")
        retried = ConvoyRetried(
            convoy=convoy.name, by=self.by, tasks=tuple(task.number for task in tasks)
        )
        return (retried, *_shown(state, convoy, tasks), *_standing_still(state, convoy))


def taken_up(convoy: Convoy) -> tuple[Task, ...]:
    """Return the dropped tasks that are taken up again with a convoy that failed.

    These were dropped when it failed; where it failed because each had been dropped,
    all of them. What needs a task that stays dropped stays so, too.
    """
    dropped = [task for task in convoy.tasks if task.state == "dropped"]
    found = {task.number: task for task in dropped if task.why == convoy.why}
    if not found and not _has_landed(convoy):
        found = {t.number: t for t in dropped if not is_done(convoy, t)}
    gone = {task.number for task in dropped} - found.keys()
    while lost := {n for n, task in found.items() if gone & _needs(task)}:
        gone |= lost
        found = {n: task for n, task in found.items() if n not in lost}
    return tuple(found.values())


def _needs(task: Task) -> set[int]:
    return {*task.spec.after, *needed(task.spec)}


def _has_landed(convoy: Convoy) -> bool:
    return any(task.landed for task in convoy.tasks)


def _successor(state: State, convoy: Convoy) -> str:
    """Return the live convoy of the same issue; empty: there is none."""
    found = (each for each in state.live() if each.issue == convoy.issue)
    return next((each.name for each in found), "")


def _shown(state: State, convoy: Convoy, tasks: tuple[Task, ...]) -> Events:
    """Announce the pull requests that were not opened because it failed."""
    hidden = (task for task in tasks if task.work and not task.pull)
    numbers = [task.number for task in hidden if not trial(convoy, task)]
    if not tasks and unlanded(convoy) and convoy.pull is None:
        numbers.append(0)
    keys = ((number, ids.pull_key(convoy.name, number)) for number in numbers)
    return tuple(
        ActionIntended(key=key, kind="pull", convoy=convoy.name, task=number)
        for number, key in keys
        if key not in state.intents
    )


def _standing_still(state: State, convoy: Convoy) -> Events:
    """Pause a convoy that would become active while everything is paused."""
    if not state.paused_by or not convoy.tasks:
        return ()
    why = paused_because(state.paused_by)
    return (ConvoyPaused(convoy=convoy.name, by=state.paused_by, why=why),)
