"""Finds the repositories that stand still: nothing moves until that changes."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from prometheus_client import Metric
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from bot.loop.loop import Loop
from bot.loop.refused_parts import LogRefused

PATIENCE_MS: Final = 120_000
"""How long every tick of a repository may be cut short before it stands still."""


@dataclass(kw_only=True)
class Standstill:
    """Watches one repository's ticks."""

    clock: Callable[[], int]
    """Returns unix ms."""
    _cut_since: int | None = None
    """When the first of the last ticks, all cut short, ended; None: none was."""

    def seen(self, loop: Loop) -> None:
        """Note how a tick ended."""
        if loop.cut_by is None:
            self._cut_since = None
        elif self._cut_since is None:
            self._cut_since = self.clock()

    def why(self, loop: Loop | None, trouble: str) -> str:
        """Return why the repository stands still; empty: it moves.

        Args:
            loop: the repository's; None: it is not open.
            trouble: why it is not.
        """
        if loop is None:
            return trouble and f"its loop cannot run: {trouble}"
        if isinstance(loop.cut_by, LogRefused):
            return f"the forge refuses its log, so nothing can land: {loop.cut_by}"
        since = self._cut_since
        if since is None or self.clock() - since <= PATIENCE_MS:
            return ""
        return f"every tick was cut short for over two minutes: {loop.cut_by}"


class StandstillMetric(Collector):
    """Tells for each repository whether it stands still."""

    def __init__(self, reasons: Callable[[], Mapping[str, str]]) -> None:
        """Ask at each scrape why each repository stands still; empty: it moves."""
        self._reasons = reasons

    def collect(self) -> Iterable[Metric]:
        """Return the metric; called by the registry."""
        still = GaugeMetricFamily(
            "brat_repository_standing_still",
            "1: nothing of the repository moves; /readyz says why.",
            labels=("repository",),
        )
        for name, why in self._reasons().items():
            still.add_metric((name,), bool(why))
        yield still
