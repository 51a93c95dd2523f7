"""What a person or a program decides in one word: a button, a command, a request. Pure.

Each word is one command to the rules, and one `/brat` line that asks a bot elsewhere
for the same.
"""

from typing import Final

from msgspec import Struct

from convoy.commands import (
    AddTask,
    ApprovePlan,
    BlockTask,
    Command,
    DropTask,
    FailConvoy,
    PauseConvoy,
    ResumeConvoy,
    RetryTask,
    TellTask,
)
from convoy.events import TaskSpec
from convoy.planner import tasklist
from convoy.state import Convoy, Task
from convoy.text.plaintext import clean
from convoy.text.redaction import redacted
from grite.errors import BratError

OF_TASKS: Final = ("retry", "drop", "stop", "tell")
OF_CONVOYS: Final = ("approve", "pause", "resume", "cancel", "add")
WITH_TEXT: Final = frozenset({"tell", "add"})
_SAID: Final = {"stop": "cancel"}


class NoSuchDeed(BratError):
    """There is no such word."""


class NotPossible(BratError):
    """It makes no sense here, whatever the rules say."""


class Deed(Struct, frozen=True, kw_only=True):
    """One thing that somebody decides."""

    verb: str
    task: int = 0
    """0: it is about the convoy."""
    text: str = ""
    """What is to be said, or added."""

    @property
    def comment(self) -> str:
        """As it is said on the convoy's issue."""
        word = _SAID.get(self.verb, self.verb)
        about = f" task-{self.task}" if self.task else ""
        return f"/brat {word}{about}{f' -- {self.text}' if self.text else ''}"


def command(deed: Deed, convoy: Convoy, by: str) -> Command:
    """Return what is put to the rules when somebody decides this.

    Whether the repository is staged is for who puts an approval to the rules to find.

    Raises:
        NoSuchDeed: there is no such word.
        NotPossible: there is nothing to do it to, or it was done.
        PlanError: the text is no task.
    """
    known = OF_TASKS if deed.task else OF_CONVOYS
    if deed.verb not in known:
        raise NoSuchDeed(f"there is no {deed.verb}; there are {', '.join(known)}")
    if deed.verb in WITH_TEXT and not deed.text.strip():
        raise NotPossible(f"{deed.verb} needs a text")
    return _of_task(deed, convoy, by) if deed.task else _of_convoy(deed, convoy, by)


def _of_task(deed: Deed, convoy: Convoy, by: str) -> Command:
    name, number = convoy.name, deed.task
    match deed.verb:
        case "retry":
            return RetryTask(convoy=name, task=number, by=by)
        case "drop":
            return DropTask(convoy=name, task=number, why=f"dropped by {by}")
        case "tell":
            said = redacted(clean(deed.text))
            return TellTask(convoy=name, task=number, by=by, text=said)
        case _:
            task = convoy.task(number)
            if task is None or task.attempt is None:
                raise NotPossible(f"task {number} of {name} has no session that runs")
            return BlockTask(convoy=name, task=number, why=f"stopped by {by}", by=by)


def _of_convoy(deed: Deed, convoy: Convoy, by: str) -> Command:
    name = convoy.name
    match deed.verb:
        case "approve":
            return ApprovePlan(convoy=name, by=by, staged=convoy.settings.staged)
        case "pause":
            return PauseConvoy(convoy=name, by=by)
        case "resume":
            return ResumeConvoy(convoy=name, by=by)
        case "cancel":
            return FailConvoy(convoy=name, why=f"cancelled by {by}", by=by)
        case _:
            return _added(deed.text, convoy, by)


def _added(text: str, convoy: Convoy, by: str) -> Command:
    """Return the task that a text asks for, unless somebody asked for it already."""
    known = {task.number: task.state == "merged" for task in convoy.tasks}
    spec = tasklist.addition(convoy.title, text, known, convoy.settings.workers)
    for task in convoy.tasks:
        if _asks(task.spec) == _asks(spec) and not task.settled:
            raise NotPossible(
                f"task {task.number} of {convoy.name} asks for it already"
            )
    return AddTask(convoy=convoy.name, spec=spec, by=by)


def _asks(spec: TaskSpec) -> tuple[object, ...]:
    """Return what a task asks for; its instructions hold its number, too."""
    return spec.title, spec.paths, spec.needs, spec.after, spec.engine


def offered_of_task(task: Task) -> tuple[str, ...]:
    """Return the buttons that a task shows now."""
    if task.state == "blocked":
        return ("retry", "drop")
    if task.attempt is not None:
        return ("stop", "drop")
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
