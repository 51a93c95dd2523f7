"""The bot's metrics in Prometheus' text format, on a port of their own.

No label takes a value that a stranger sends: every label value is kept for good.
https://prometheus.io/docs/practices/naming/
"""

from collections.abc import Callable
from typing import Final

from aiohttp import web
from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    generate_latest,
)

PATH: Final = "/metrics"
ANSWER_S: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0, 10.0)
"""GitHub waits ten seconds for the answer to a delivery."""


class Metrics:
    """The counters; one object per process."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.deliveries = Counter(
            "brat_deliveries_total",
            "Webhook deliveries, by event and by what was answered.",
            ("event", "status"),
            registry=self.registry,
        )
        self.answer_s = Histogram(
            "brat_delivery_answer_seconds",
            "Time until a delivery was answered.",
            buckets=ANSWER_S,
            registry=self.registry,
        )
        self.ticks = Counter(
            "brat_ticks_total",
            "Rounds of a repository's loop, by how they ended.",
            ("repository", "outcome"),
            registry=self.registry,
        )
        self.redelivered = Counter(
            "brat_redeliveries_asked_total",
            "Deliveries that the forge was asked to send again.",
            registry=self.registry,
        )
        self.redelivery_failures = Counter(
            "brat_redelivery_failures_total",
            "Looks for lost deliveries that failed.",
            registry=self.registry,
        )

    def answered(self, event: str, status: int, seconds: float) -> None:
        """Count a delivery that was answered."""
        self.deliveries.labels(event, status).inc()
        self.answer_s.observe(seconds)

    def watch(self, name: str, said: str, count: Callable[[], float]) -> None:
        """Add a gauge whose value `count` returns at each scrape."""
        Gauge(name, said, registry=self.registry).set_function(count)

    def application(self) -> web.Application:
        """Return the aiohttp application."""
        app = web.Application()
        app.router.add_get(PATH, self._show)
        return app

    def text(self) -> bytes:
        """Return all metrics in Prometheus' text format."""
        return generate_latest(self.registry)

    async def _show(self, _: web.Request) -> web.Response:
        body = self.text()
        return web.Response(body=body, headers={"Content-Type": CONTENT_TYPE_LATEST})
