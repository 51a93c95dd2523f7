"""How each change came to land, out of the log: one row a task, read event by event."""

from collections.abc import Iterable
from typing import Literal

from msgspec import Struct, field

from convoy.events import Event
from convoy.events.approvals import ConvoyApproved
from convoy.events.candidates import MergeAttempted, MergeLanded
from convoy.events.convoy_plan import ConvoyPlanned
from convoy.events.doubts import MergeCleared, MergeDoubted
from convoy.events.review_verdicts import WorkReviewed
from convoy.events.rival_choice import ChoiceMade
from convoy.events.session_ends import SessionLost, WorkAccepted, WorkRefused
from convoy.events.task_ends import TaskDropped, TaskMerged
from convoy.events.task_queue import TaskBlocked, TaskQueued
from convoy.events.task_start import TaskStarted
from convoy.model.records import Usage
from convoy.model.usage import plus

End = Literal["", "landed", "done", "dropped"]
"""What became of a task; empty: it goes on; `done`: it ended without a commit."""


class Change(Struct, kw_only=True):
    """One task, from its plan to its end."""

    convoy: str
    task: int
    kind: str = ""
    engine: str = ""
    """The kind of agent CLI that worked on it last."""
    planned: int = 0
    """Unix ms, as are the next four; 0: not yet."""
    started: int = 0
    """When its first session began."""
    accepted: int = 0
    """When the gate let its work through last."""
    ended: int = 0
    blocked: int = 0
    """When it began to wait for a person; 0: it does not."""
    sessions: int = 0
    ci_runs: int = 0
    """How many candidates CI was asked to judge."""
    usage: Usage = Usage()
    rework: list[str] = field(default_factory=list)
    """Why it went back to the queue, each time."""
    end: End = ""


class Asked(Struct, frozen=True, kw_only=True):
    """Something that a person was asked, and answered."""

    convoy: str
    task: int
    """0: the convoy's plan."""
    what: str
    since: int
    """Unix ms."""
    answered: int
    """Unix ms."""


class Spent(Struct, frozen=True):
    """What one session used that has ended."""

    at: int
    """Unix ms."""
    engine: str
    """What kind of agent CLI."""
    usage: Usage


class ChangeHistory:
    """The changes of a log, as far as it was read. Not for several threads at once."""

    def __init__(self) -> None:
        """Begin before the log's first event."""
        self.changes: dict[tuple[str, int], Change] = {}
        self.asked: list[Asked] = []
        self.spent: list[Spent] = []
        self.flakes: dict[str, int] = {}
        """How often each check was red and then green on the same files."""
        self.reds: dict[str, int] = {}
        """How often each check was red on a candidate."""
        self._plans: dict[str, int] = {}
        """When plans were written that nobody has approved yet."""

    def read(self, facts: Iterable[tuple[int, Event]]) -> None:
        """Go on with the bots' next events and their times (unix ms), in order."""
        for at, fact in facts:
            if isinstance(fact, ConvoyPlanned):
                self._planned(at, fact)
            elif isinstance(fact, ConvoyApproved):
                self._approved(at, fact)
            elif change := self._change(fact):
                self._task(change, at, fact)

    def _change(self, fact: Event) -> Change | None:
        convoy, task = getattr(fact, "convoy", ""), getattr(fact, "task", 0)
        if not (convoy and task):
            return None
        key = (convoy, task)
        return self.changes.setdefault(key, Change(convoy=convoy, task=task))

    def _planned(self, at: int, fact: ConvoyPlanned) -> None:
        self._plans[fact.convoy] = at
        for spec in fact.tasks:
            key = (fact.convoy, spec.number)
            self.changes[key] = Change(
                convoy=fact.convoy, task=spec.number, kind=spec.kind, planned=at
            )

    def _approved(self, at: int, fact: ConvoyApproved) -> None:
        if since := self._plans.pop(fact.convoy, 0):
            one = Asked(
                convoy=fact.convoy, task=0, what="plan", since=since, answered=at
            )
            self.asked.append(one)

    def _answered(self, change: Change, at: int) -> None:
        if change.blocked:
            one = Asked(
                convoy=change.convoy,
                task=change.task,
                what="blocked task",
                since=change.blocked,
                answered=at,
            )
            self.asked.append(one)
            change.blocked = 0

    def _task(self, change: Change, at: int, fact: Event) -> None:
        self._waited(change, at, fact)
        self._judged(change, fact)
        if usage := getattr(fact, "usage", None):
            self.spent.append(Spent(at, change.engine, usage))
        _worked(change, at, fact)
        _ended(change, at, fact)

    def _waited(self, change: Change, at: int, fact: Event) -> None:
        match fact:
            case TaskQueued() if fact.cause != "planned":
                self._answered(change, at)
                change.rework.append(fact.cause)
            case TaskBlocked():
                change.blocked = at
            case TaskDropped():
                self._answered(change, at)
            case _:
                pass

    def _judged(self, change: Change, fact: Event) -> None:
        match fact:
            case MergeAttempted():
                change.ci_runs += 1
            case MergeDoubted(is_red=True):
                _count(self.reds, fact.checks)
            case MergeCleared():
                _count(self.flakes, fact.flaky)
            case _:
                pass


def _worked(change: Change, at: int, fact: Event) -> None:
    match fact:
        case TaskStarted():
            change.started = change.started or at
            change.sessions += 1
            change.kind, change.engine = fact.kind, fact.engine.type
        case WorkAccepted() | WorkReviewed() | ChoiceMade():
            change.accepted = at
            change.usage = plus(change.usage, fact.usage)
        case WorkRefused() | SessionLost():
            change.usage = plus(change.usage, fact.usage)
        case _:
            pass


def _ended(change: Change, at: int, fact: Event) -> None:
    match fact:
        case MergeLanded():
            change.ended, change.end = at, "landed"
        case TaskMerged(commit=None) if not change.end:
            change.ended, change.end = at, "done"
            change.usage = plus(change.usage, fact.usage)
        case TaskDropped():
            change.ended, change.end = at, "dropped"
        case _:
            pass


def _count(counts: dict[str, int], names: Iterable[str]) -> None:
    for name in names:
        counts[name] = counts.get(name, 0) + 1
