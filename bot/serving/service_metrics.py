"""Metrics of a service: how its repositories stand at each scrape, and events counted.

https://prometheus.io/docs/practices/naming/
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from prometheus_client import CollectorRegistry, Counter as CounterMetric
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from bot.repository.mirror import Mirror
from convoy.events import Event
from convoy.events.merge_events import MergeAttempted, MergeLanded
from convoy.events.session_events import (
    ChoiceMade,
    SessionLost,
    TaskStarted,
    WorkAccepted,
    WorkRefused,
    WorkReviewed,
)
from convoy.events.task_events import TaskMerged
from convoy.model.state import State, asides
from convoy.views import history
from convoy.views.interventions import interventions
from grite import git
from grite.errors import BratError


@dataclass(frozen=True)
class RepositoryStanding:
    state: State
    calls_left: int | None
    """The calls left by the forge's last answer; None: it has not said."""
    log_commits: int
    faults: tuple[str, ...] = ()
    """The faults in unreadable parts of the log."""


class ServiceMetrics(Collector):
    """The metrics of all repositories; for one event loop."""

    def __init__(
        self,
        registry: CollectorRegistry,
        standing: Callable[[], Mapping[str, RepositoryStanding]],
        still: Callable[[], Mapping[str, str]],
        clock: Callable[[], int],
    ) -> None:
        """Register the metrics; `clock` returns unix ms.

        `still` returns why each repository stands still; empty: it moves.
        """
        self._standing = standing
        self._still = still
        self._clock = clock
        self._counted = LogCounters(registry)
        self._known: dict[str, str | None] = {}
        self.log_commits: dict[str, int] = {}
        registry.register(self)

    # --- what happens ---------------------------------------------------------------

    def begin(self, name: str, mirror: Mirror) -> None:
        """Count a repository's log from here on; may block."""
        head = mirror.head
        self.log_commits[name] = 0
        if head:
            counted = git.run(["rev-list", "--count", head], cwd=mirror.path)
            self.log_commits[name] = int(counted.stdout)
        self._known[name] = head

    def follow(self, name: str, mirror: Mirror) -> None:
        """Count the events added to a repository's log since the last call."""
        head, known = mirror.head, self._known.get(name)
        if head is None or head == known:
            return
        self._known[name] = head
        try:
            new = mirror.log.entries(head, since=known)
        except BratError:
            return  # the log was rewritten; the loop reports it
        self.log_commits[name] = self.log_commits.get(name, 0) + len(new)
        for _, fact in history.bot_facts(new, mirror.state.bots):
            self._counted.note(name, fact)

    # --- what is so now -------------------------------------------------------------

    def collect(self) -> Iterable[Metric]:
        standing = dict(self._standing())
        now = self._clock()
        whose = ("repository",)
        by_state, by_kind = ("repository", "state"), ("repository", "kind")
        tasks = GaugeMetricFamily("brat_tasks", "Tasks, by state.", labels=by_state)
        convoys = GaugeMetricFamily(
            "brat_convoys", "Convoys, by state.", labels=by_state
        )
        waits = GaugeMetricFamily(
            "brat_interventions", "What waits for people.", labels=by_kind
        )
        tokens = CounterMetricFamily(
            "brat_tokens", "Used by sessions that ended.", labels=by_kind
        )
        dollars = CounterMetricFamily(
            "brat_dollars", "Spent by them, where known.", labels=whose
        )
        aside = GaugeMetricFamily(
            "brat_set_aside",
            "What waits because it was refused or kept failing.",
            labels=whose,
        )
        left = GaugeMetricFamily(
            "brat_forge_calls_left",
            "What is left of the forge's rate limit, as it said last.",
            labels=whose,
        )
        log = GaugeMetricFamily("brat_log_commits", "Commits of the log.", labels=whose)
        for name, one in standing.items():
            known = [summary for _, summary in one.state.convoys.summaries()]
            for state, count in Counter(summary.state for summary in known).items():
                convoys.add_metric((name, state), count)
            states: Counter[str] = Counter()
            for summary in known:
                states.update(summary.tasks)
            for each, count in states.items():
                tasks.add_metric((name, each), count)
            kinds = (each.kind for each in interventions(one.state, now, one.faults))
            for kind, count in Counter(kinds).items():
                waits.add_metric((name, kind), count)
            spent = [summary.used for summary in known]
            tokens.add_metric((name, "input"), sum(each.input_tokens for each in spent))
            tokens.add_metric(
                (name, "cached"), sum(each.cached_tokens for each in spent)
            )
            tokens.add_metric(
                (name, "output"), sum(each.output_tokens for each in spent)
            )
            dollars.add_metric((name,), sum(each.usd for each in spent))
            aside.add_metric((name,), sum(1 for _ in asides(one.state)))
            log.add_metric((name,), one.log_commits)
            if one.calls_left is not None:
                left.add_metric((name,), one.calls_left)
        still = GaugeMetricFamily(
            "brat_repository_standing_still",
            "1: nothing of the repository moves; /readyz says why.",
            labels=whose,
        )
        for name, why in self._still().items():
            still.add_metric((name,), bool(why))
        yield from (tasks, convoys, waits, tokens, dollars, aside, left, log, still)


class LogCounters:
    def __init__(self, registry: CollectorRegistry) -> None:
        self.attempts = CounterMetric(
            "brat_attempts_total",
            "Sessions that ended, by engine and by what became of them.",
            ("repository", "engine", "outcome"),
            registry=registry,
        )
        self.candidates = CounterMetric(
            "brat_candidates_total",
            "Commits that CI was asked to judge; over the landed: its runs for each.",
            ("repository",),
            registry=registry,
        )
        self.landed = CounterMetric(
            "brat_landed_total",
            "Changes that landed.",
            ("repository",),
            registry=registry,
        )
        self._engines: dict[tuple[str, str, int], str] = {}

    def note(self, repository: str, fact: Event) -> None:
        """Count one fact that a bot wrote."""
        where = (repository, getattr(fact, "convoy", ""), getattr(fact, "task", 0))
        match fact:
            case TaskStarted():
                self._engines[where] = fact.engine.type
            case WorkAccepted() | WorkReviewed():
                self._ended(where, "handed in")
            case ChoiceMade() if fact.attempt:  # else no session made the choice
                self._ended(where, "handed in")
            case WorkRefused():
                self._ended(where, "refused")
            case SessionLost():
                self._ended(where, "lost")
            case TaskMerged(commit=None) if where in self._engines:
                # Other work was counted when handed in, a review with its verdict.
                self._ended(where, "nothing to do")
            case MergeAttempted():
                self.candidates.labels(repository).inc()
            case MergeLanded():
                self.landed.labels(repository).inc()
            case _:
                pass

    def _ended(self, where: tuple[str, str, int], outcome: str) -> None:
        engine = self._engines.pop(where, "unknown")
        self.attempts.labels(where[0], engine, outcome).inc()
