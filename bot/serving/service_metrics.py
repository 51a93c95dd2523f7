"""Metrics of a service: how its repositories stand at each scrape, and events counted.

They are in Prometheus' text format, on a port of their own. No label takes a value that
a stranger sends: every label value is kept for good.
https://prometheus.io/docs/practices/naming/
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from aiohttp import web
from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter as CounterMetric,
    Gauge,
    generate_latest,
)
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from bot.repository.mirror import Mirror
from convoy.events import Event, session_events
from convoy.events.merge_events import MergeAttempted, MergeLanded
from convoy.events.task_events import TaskMerged
from convoy.model.state import State
from convoy.views import history
from convoy.views.interventions import interventions
from grite import git
from grite.errors import BratError

METRICS_PATH: Final = "/metrics"
WHOSE: Final = ("repository",)


@dataclass(frozen=True)
class RepositoryStanding:
    state: State
    calls_left: int | None
    """The calls left by the forge's last answer; None: it has not said."""
    faults: tuple[str, ...] = ()


class ServiceMetrics(Collector):
    """The metrics of the service and all repositories; for one event loop."""

    def __init__(
        self,
        standing: Callable[[], Mapping[str, RepositoryStanding]],
        still: Callable[[], Mapping[str, str]],
        clock: Callable[[], int],
    ) -> None:
        """Ask at each scrape; `still` returns why a repository stands still, or ""."""
        self._standing = standing
        self._still = still
        self._clock = clock
        self._known: dict[str, str | None] = {}
        self._engines: dict[tuple[str, str, int], str] = {}
        self.log_commits: dict[str, int] = {}
        self.registry = CollectorRegistry()
        self.registry.register(self)
        self._counted = {
            name: CounterMetric(f"brat_{name}", said, labels, registry=self.registry)
            for name, (said, labels) in _COUNTERS.items()
        }

    def watch(self, name: str, said: str, count: Callable[[], float]) -> None:
        Gauge(name, said, registry=self.registry).set_function(count)

    def application(self) -> web.Application:
        app = web.Application()
        app.router.add_get(METRICS_PATH, self._show)
        return app

    def text(self) -> bytes:
        return generate_latest(self.registry)

    async def _show(self, _: web.Request) -> web.Response:
        body = self.text()
        return web.Response(body=body, headers={"Content-Type": CONTENT_TYPE_LATEST})

    def answered(self, event: str, status: int) -> None:
        self._counted["deliveries"].labels(event, status).inc()

    def ticked(self, repository: str, *, cut_short: bool) -> None:
        outcome = "cut short" if cut_short else "whole"
        self._counted["ticks"].labels(repository, outcome).inc()

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
            self.note(name, fact)

    def note(self, repository: str, fact: Event) -> None:
        where = (repository, getattr(fact, "convoy", ""), getattr(fact, "task", 0))
        match fact:
            case session_events.TaskStarted():
                self._engines[where] = fact.engine.type
            case session_events.WorkAccepted() | session_events.WorkReviewed():
                self._ended(where, "handed in")
            case session_events.ChoiceMade() if fact.attempt:
                # Else no session made the choice.
                self._ended(where, "handed in")
            case session_events.WorkRefused():
                self._ended(where, "refused")
            case session_events.SessionLost():
                self._ended(where, "lost")
            case TaskMerged(commit=None) if where in self._engines:
                # Other work was counted when handed in, a review with its verdict.
                self._ended(where, "nothing to do")
            case MergeAttempted():
                self._counted["candidates"].labels(repository).inc()
            case MergeLanded():
                self._counted["landed"].labels(repository).inc()
            case _:
                pass

    def _ended(self, where: tuple[str, str, int], outcome: str) -> None:
        engine = self._engines.pop(where, "unknown")
        self._counted["attempts"].labels(where[0], engine, outcome).inc()

    def collect(self) -> Iterable[Metric]:
        found = {
            name: kind(f"brat_{name}", said, labels=("repository", by) if by else WHOSE)
            for name, (kind, said, by) in _FAMILIES.items()
        }
        now = self._clock()
        for repository, one in self._standing().items():
            known = [summary for _, summary in one.state.convoys.summaries()]
            used = [summary.used for summary in known]
            kinds = (each.kind for each in interventions(one.state, now, one.faults))
            tasks: Counter[str] = Counter()
            for summary in known:
                tasks.update(summary.tasks)
            counted: dict[str, Mapping[str, float | None]] = {
                "tasks": tasks,
                "convoys": Counter(summary.state for summary in known),
                "interventions": Counter(kinds),
                "tokens": {
                    "input": sum(each.input_tokens for each in used),
                    "cached": sum(each.cached_tokens for each in used),
                    "output": sum(each.output_tokens for each in used),
                },
                "dollars": {"": sum(each.usd for each in used)},
                "set_aside": {"": sum(1 for _ in one.state.asides())},
                "log_commits": {"": self.log_commits.get(repository, 0)},
                "forge_calls_left": {"": one.calls_left},
            }
            for name, counts in counted.items():
                for label, count in counts.items():
                    labels = (repository, label) if label else (repository,)
                    if count is not None:
                        found[name].add_metric(labels, count)
        for repository, why in self._still().items():
            found["repository_standing_still"].add_metric((repository,), bool(why))
        yield from found.values()


_COUNTERS: Final = {
    "deliveries": (
        "Webhook deliveries, by event and response status.",
        ("event", "status"),
    ),
    "ticks": ("Rounds of a repository's loop, by result.", (*WHOSE, "outcome")),
    "attempts": (
        "Ended sessions, by engine and outcome.",
        (*WHOSE, "engine", "outcome"),
    ),
    "candidates": (
        (
            "Commits that CI was asked to test; divide by landed changes for "
            "CI runs per change."
        ),
        WHOSE,
    ),
    "landed": ("Changes that landed.", WHOSE),
}
"""What is counted: help of each, and what it is told by."""
_FAMILIES: Final = {
    "tasks": (GaugeMetricFamily, "Tasks, by state.", "state"),
    "convoys": (GaugeMetricFamily, "Convoys, by state.", "state"),
    "interventions": (GaugeMetricFamily, "Items that are waiting for people.", "kind"),
    "tokens": (CounterMetricFamily, "Tokens used by ended sessions.", "kind"),
    "dollars": (
        CounterMetricFamily,
        "US dollars spent by ended sessions, if known.",
        "",
    ),
    "set_aside": (
        GaugeMetricFamily,
        "Items set aside because they were refused or because they failed repeatedly.",
        "",
    ),
    "forge_calls_left": (
        GaugeMetricFamily,
        "Requests left in the forge's rate limit, as last reported.",
        "",
    ),
    "log_commits": (GaugeMetricFamily, "Commits in the log.", ""),
    "repository_standing_still": (
        GaugeMetricFamily,
        "1 if the repository is making no progress; /readyz says why.",
        "",
    ),
}
"""What is so at a scrape: kind and help of each, and what it is told by."""
