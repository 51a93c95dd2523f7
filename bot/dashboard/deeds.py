"""What a button does: the command it puts to the rules. Pure."""

from typing import Final

from convoy.commands import (
    ApprovePlan,
    Command,
    DropTask,
    FailConvoy,
    PauseConvoy,
    ResumeConvoy,
    RetryTask,
)
from convoy.state import Convoy, Task

OF_TASKS: Final = ("retry", "drop")
OF_CONVOYS: Final = ("approve", "pause", "resume", "cancel")


def of_task(verb: str, convoy: str, task: int, by: str) -> Command:
    """Return what the button `verb` on a task asks for, pressed by somebody.

    Raises:
        ValueError: there is no such button.
    """
    match verb:
        case "retry":
            return RetryTask(convoy=convoy, task=task, by=by)
        case "drop":
            return DropTask(convoy=convoy, task=task, why=f"dropped by {by}")
        case _:
            raise ValueError(f"there is no {verb}; there are {', '.join(OF_TASKS)}")


def of_convoy(verb: str, convoy: str, by: str) -> Command:
    """Return what the button `verb` on a convoy asks for, pressed by somebody.

    Whether the repository is staged is for who puts an approval to the rules to find.

    Raises:
        ValueError: there is no such button.
    """
    match verb:
        case "approve":
            return ApprovePlan(convoy=convoy, by=by, staged=True)
        case "pause":
            return PauseConvoy(convoy=convoy, by=by)
        case "resume":
            return ResumeConvoy(convoy=convoy, by=by)
        case "cancel":
            return FailConvoy(convoy=convoy, why=f"cancelled by {by}", by=by)
        case _:
            raise ValueError(f"there is no {verb}; there are {', '.join(OF_CONVOYS)}")


def offered_of_task(task: Task) -> tuple[str, ...]:
    """Return the buttons that a task shows now."""
    if task.state == "blocked":
        return ("retry", "drop")
    return () if task.settled else ("drop",)


def offered_of_convoy(convoy: Convoy) -> tuple[str, ...]:
    """Return the buttons that a convoy shows now."""
    match convoy.state:
        case "active":
            return ("pause", "cancel")
        case "paused":
            return ("resume", "cancel")
        case "planning":
            return ("approve", "cancel") if convoy.tasks else ("cancel",)
        case _:
            return ()
