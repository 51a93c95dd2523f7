"""The page of analytics, and its table as CSV."""

import asyncio
from collections.abc import Mapping
from typing import Any

from aiohttp import web

from bot.dashboard import charts
from bot.dashboard.dashboard_source import DashboardSource
from bot.dashboard.log_history import LogHistory
from convoy.model.spending import dollars
from convoy.text.duration import spoken
from convoy.views.analytics import Analytics, Spread
from convoy.views.analytics_words import summary
from convoy.views.change_table import csv_text
from grite.errors import BratError


async def given(source: DashboardSource) -> Mapping[str, Any]:
    """Return the page's values.

    Raises:
        HTTPNotFound: this dashboard does not hold the whole log.
    """
    history = _known(source)
    try:
        found = await asyncio.to_thread(history.figures)
    except BratError as error:
        raise web.HTTPNotFound(text=f"{error}.\n") from error
    return {
        "found": found,
        "summary": summary(found),
        "bars": charts.bars(found.per_day),
        "width": charts.WIDTH,
        "height": charts.HEIGHT,
        "stages": _spreads(found.stages),
        "engines": _engines(found),
        "asked": _spreads(found.asked),
    }


async def table(source: DashboardSource) -> web.Response:
    """Return the changes as CSV; raises as `given` does."""
    try:
        found = await asyncio.to_thread(_known(source).rows)
    except BratError as error:
        raise web.HTTPNotFound(text=f"{error}.\n") from error
    return web.Response(text=csv_text(found), content_type="text/csv")


def _known(source: DashboardSource) -> LogHistory:
    if source.history is None:
        raise web.HTTPNotFound(text="This dashboard does not hold the whole log.\n")
    return source.history


def _spreads(found: Mapping[str, Spread]) -> list[tuple[object, ...]]:
    return [
        (name, one.count, spoken(round(one.median)), spoken(round(one.most)))
        for name, one in found.items()
    ]


def _engines(found: Analytics) -> list[tuple[object, ...]]:
    return [
        (
            one.engine,
            one.kind,
            one.changes,
            f"{one.percent} % ({one.first_try})",
            one.sessions,
            dollars(one.usd) if one.usd else "",
        )
        for one in found.engines
    ]
