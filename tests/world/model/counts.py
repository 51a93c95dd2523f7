"""What has happened, in the words that are counted: a proof must have met it."""

from convoy.events import Event
from convoy.events.merge_events import (
    MergeAttempted,
    MergeCleared,
    MergeDoubted,
    MergeFailed,
    MergeLanded,
    TestsProven,
    WorkProven,
)
from convoy.events.plan_events import TaskSplit
from convoy.events.session_events import ChoiceMade, TaskStarted, WorkReviewed
from convoy.events.target_events import SyncFailed, SyncLanded
from convoy.events.task_events import ConvoyCompleted, TaskBlocked, TaskMerged
from convoy.kinds.rivals import NONE_LEFT
from convoy.model.state import Convoy, State
from convoy.owed.landings import NOT_RED


def names_of(  # noqa: C901, PLR0912  one arm a kind
    before: State, fact: Event
) -> tuple[str, ...]:
    """Return what has happened with a fact, in the words that are counted."""
    match fact:
        case MergeFailed(why=why) if why == NOT_RED:
            return ("tests not red",)
        case MergeFailed():
            return (f"task {'red' if fact.candidate else 'conflict'}",)
        case MergeDoubted():
            return ("task doubted",)
        case MergeCleared():
            return ("green alone",)
        case SyncFailed():
            return (f"convoy {'red' if fact.candidate else 'conflict'}",)
        case SyncLanded(task=0):
            return ("target taken in",)
        case SyncLanded():
            return ("target taken in by a task",)
        case MergeLanded(task=0):
            return ("convoy landed",)
        case MergeLanded():
            return (f"landed by {before.convoys[fact.convoy].settings.strategy}",)
        case MergeAttempted():
            return _built(before.convoys[fact.convoy], fact)
        case WorkReviewed():
            return ("review",)
        case TestsProven():
            return ("tests proven",)
        case TaskSplit():
            return ("split",)
        case TaskBlocked(why=why) if "it was not split" in why:
            return ("not split",)
        case WorkProven():
            return ("rival green",)
        case ChoiceMade(attempt=0):
            return ("only one left",)
        case ChoiceMade():
            is_rule = fact.text.startswith("of those")
            return ("chosen by rule" if is_rule else "chosen",)
        case TaskBlocked(why=why) if why == NONE_LEFT:
            return ("no rival left",)
        case TaskBlocked(why=why) if "asks for changes after" in why:
            return ("review blocked",)
        case TaskMerged(why=why) if why:
            return ("task with nothing to merge",)
        case TaskMerged(commit=None):
            return ("noop",)
        case TaskStarted():
            others = {convoy.name for convoy, _ in before.running()} - {fact.convoy}
            return ("two convoys at once",) if others else ()
        case ConvoyCompleted():
            return ("completed",)
        case _:
            return ()


def _built(convoy: Convoy, fact: MergeAttempted) -> tuple[str, ...]:
    task = convoy.task(fact.task)
    whose, old = ("task", task.candidate) if task else ("convoy", convoy.candidate)
    again = f"{whose} built again" if old is not None else ""
    return (again,) if again else ()
