"""Metrics on the standing of a service's repositories, computed at each scrape.

https://prometheus.io/docs/practices/naming/
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from prometheus_client import CollectorRegistry, Histogram
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from bot.repository.mirror import Mirror
from bot.serving.log_counters import LogCounters
from convoy.model.state import State, asides
from convoy.views import history
from convoy.views.interventions import interventions
from grite import git
from grite.errors import BratError

LAG_EVERY_S: Final = 1.0
LAGS: Final = (0.001, 0.005, 0.025, 0.1, 0.25, 1.0, 5.0)


@dataclass(frozen=True)
class RepositoryStanding:
    """The current standing of one repository."""

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
        clock: Callable[[], int],
    ) -> None:
        """Register the metrics; `clock` returns unix ms."""
        self._standing = standing
        self._clock = clock
        self._counted = LogCounters(registry)
        self._known: dict[str, str | None] = {}
        self.log_commits: dict[str, int] = {}
        self.lag = Histogram(
            "brat_loop_lag_seconds",
            "How late this process comes to what is due.",
            buckets=LAGS,
            registry=registry,
        )
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
        for at, fact in history.bot_facts(new, mirror.state.bots):
            self._counted.note(name, mirror.state, at, fact)

    async def keep_timing(self) -> None:
        """Measure, until cancelled, how late timers fire."""
        loop = asyncio.get_running_loop()
        while True:
            due = loop.time() + LAG_EVERY_S
            await asyncio.sleep(LAG_EVERY_S)
            self.lag.observe(max(0.0, loop.time() - due))

    # --- what is so now -------------------------------------------------------------

    def collect(self) -> Iterable[Metric]:
        """Return the metrics; called by the registry."""
        standing = dict(self._standing())
        yield from _counts(standing, self._clock())
        yield from _spent(standing)
        yield from _set_aside(standing)
        left = GaugeMetricFamily(
            "brat_forge_calls_left",
            "What is left of the forge's rate limit, as it said last.",
            labels=("repository",),
        )
        log = GaugeMetricFamily(
            "brat_log_commits", "Commits of the log.", labels=("repository",)
        )
        for name, one in standing.items():
            log.add_metric((name,), one.log_commits)
            if one.calls_left is not None:
                left.add_metric((name,), one.calls_left)
        yield from (left, log)


def _counts(standing: Mapping[str, RepositoryStanding], now: int) -> Iterator[Metric]:
    by_state = ("repository", "state")
    tasks = GaugeMetricFamily("brat_tasks", "Tasks, by state.", labels=by_state)
    convoys = GaugeMetricFamily("brat_convoys", "Convoys, by state.", labels=by_state)
    waits = GaugeMetricFamily(
        "brat_interventions", "What waits for people.", labels=("repository", "kind")
    )
    for name, one in standing.items():
        known = [summary for _, summary in one.state.convoys.summaries()]
        for state, count in Counter(summary.state for summary in known).items():
            convoys.add_metric((name, state), count)
        states: Counter[str] = Counter()
        for summary in known:
            states.update(summary.tasks)
        for each, count in states.items():
            tasks.add_metric((name, each), count)
        kinds = Counter(
            found.kind for found in interventions(one.state, now, one.faults)
        )
        for kind, count in kinds.items():
            waits.add_metric((name, kind), count)
    yield from (tasks, convoys, waits)


def _spent(standing: Mapping[str, RepositoryStanding]) -> Iterator[Metric]:
    tokens = CounterMetricFamily(
        "brat_tokens", "Used by sessions that ended.", labels=("repository", "kind")
    )
    dollars = CounterMetricFamily(
        "brat_dollars", "Spent by them, where known.", labels=("repository",)
    )
    for name, one in standing.items():
        spent = [known.used for _, known in one.state.convoys.summaries()]
        tokens.add_metric((name, "input"), sum(each.input_tokens for each in spent))
        tokens.add_metric((name, "cached"), sum(each.cached_tokens for each in spent))
        tokens.add_metric((name, "output"), sum(each.output_tokens for each in spent))
        dollars.add_metric((name,), sum(each.usd for each in spent))
    yield from (tokens, dollars)


def _set_aside(standing: Mapping[str, RepositoryStanding]) -> Iterator[Metric]:
    found = GaugeMetricFamily(
        "brat_set_aside",
        "What waits because it was refused or kept failing.",
        labels=("repository",),
    )
    for name, one in standing.items():
        found.add_metric((name,), sum(1 for _ in asides(one.state)))
    yield found
