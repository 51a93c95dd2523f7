"""Counts the events in a service's repositories, as their logs grow."""

from typing import Final, Literal, assert_never

from prometheus_client import CollectorRegistry, Counter, Histogram

from convoy.events import Event
from convoy.events.merge_events import MergeAttempted, MergeLanded
from convoy.events.people_events import ConvoyApproved
from convoy.events.plan_events import ConvoyPlanned
from convoy.events.session_events import (
    ChoiceMade,
    SessionLost,
    TaskStarted,
    WorkAccepted,
    WorkRefused,
    WorkReviewed,
)
from convoy.events.task_events import TaskBlocked, TaskDropped, TaskMerged, TaskQueued
from convoy.model.state import State

WAITS: Final = (1.0, 5.0, 15.0, 60.0, 300.0, 900.0, 3600.0, 4 * 3600.0, 24 * 3600.0)
For = Literal["session", "merge", "person"]


class LogCounters:
    """Counts facts; a wait that began before the first of them is not timed."""

    def __init__(self, registry: CollectorRegistry) -> None:
        """Register the counters."""
        self.attempts = Counter(
            "brat_attempts_total",
            "Sessions that ended, by engine and by what became of them.",
            ("repository", "engine", "outcome"),
            registry=registry,
        )
        self.candidates = Counter(
            "brat_candidates_total",
            "Commits that CI was asked to judge; over the landed: its runs for each.",
            ("repository",),
            registry=registry,
        )
        self.landed = Counter(
            "brat_landed_total",
            "Changes that landed.",
            ("repository",),
            registry=registry,
        )
        self.waits = Histogram(
            "brat_wait_seconds",
            "How long tasks waited: for a session, in the merge queue, for a person.",
            ("repository", "for"),
            buckets=WAITS,
            registry=registry,
        )
        self._since: dict[tuple[str, str, int, For], int] = {}
        self._engines: dict[tuple[str, str, int], str] = {}

    def note(self, repository: str, state: State, at: int, fact: Event) -> None:
        """Count one fact.

        Args:
            repository: the repository's full name.
            state: the state after the fact, or a later one.
            at: the fact's time, unix ms.
            fact: a fact that a bot wrote.
        """
        match fact:
            case ConvoyPlanned() | ConvoyApproved():
                self._planned(repository, state, at, fact)
            case TaskQueued() | TaskBlocked() | TaskDropped():
                self._turned(repository, at, fact)
            case TaskStarted():
                where = (repository, fact.convoy, fact.task)
                self._engines[where] = fact.engine.type
                self._end(*where, "session", at)
            case (
                WorkAccepted()
                | WorkRefused()
                | WorkReviewed()
                | ChoiceMade()
                | SessionLost()
                | TaskMerged()
            ):
                self._ended(repository, at, fact)
            case MergeAttempted():
                self.candidates.labels(repository).inc()
            case MergeLanded():
                self.landed.labels(repository).inc()
                self._end(repository, fact.convoy, fact.task, "merge", at)
            case _:
                pass

    def _turned(
        self, name: str, at: int, fact: TaskQueued | TaskBlocked | TaskDropped
    ) -> None:
        where = (name, fact.convoy, fact.task)
        if isinstance(fact, TaskBlocked):
            self._begin(*where, "person", at)
            return
        self._end(*where, "person", at)
        if isinstance(fact, TaskQueued):
            self._begin(*where, "session", at)

    def _planned(
        self, name: str, state: State, at: int, fact: ConvoyPlanned | ConvoyApproved
    ) -> None:
        if isinstance(fact, ConvoyApproved):
            self._end(name, fact.convoy, 0, "person", at)
            return
        convoy = state.convoys.get(fact.convoy)
        if convoy is not None and convoy.state == "planning":
            self._begin(name, fact.convoy, 0, "person", at)
        for spec in fact.tasks:
            self._begin(name, fact.convoy, spec.number, "session", at)

    def _ended(  # noqa: C901  one arm a kind
        self,
        name: str,
        at: int,
        fact: WorkAccepted
        | WorkRefused
        | WorkReviewed
        | ChoiceMade
        | SessionLost
        | TaskMerged,
    ) -> None:
        where = (name, fact.convoy, fact.task)
        match fact:
            case TaskMerged(commit=None) if where not in self._engines:
                return  # a review was counted with its verdict
            case TaskMerged(commit=None):
                outcome = "nothing to do"
            case TaskMerged():
                return  # the work was counted when it was handed in
            case WorkAccepted():
                outcome = "handed in"
                self._begin(name, fact.convoy, fact.task, "merge", at)
            case ChoiceMade(attempt=0):
                return  # no session made the choice
            case WorkReviewed() | ChoiceMade():
                outcome = "handed in"
            case WorkRefused():
                outcome = "refused"
            case SessionLost():
                outcome = "lost"
            case _:
                assert_never(fact)
        engine = self._engines.pop(where, "unknown")
        self.attempts.labels(name, engine, outcome).inc()

    def _begin(self, name: str, convoy: str, task: int, what: For, at: int) -> None:
        self._since.setdefault((name, convoy, task, what), at)

    def _end(self, name: str, convoy: str, task: int, what: For, at: int) -> None:
        since = self._since.pop((name, convoy, task, what), None)
        if since is not None:
            self.waits.labels(name, what).observe(max(0, at - since) / 1000)
