"""The page of analytics, and its table as CSV."""

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any, Final

from aiohttp import web

from bot.dashboard import charts
from bot.dashboard.dashboard_source import DashboardSource
from bot.dashboard.log_history import LogHistory
from convoy.model.session_result import dollars
from convoy.text import spoken_duration
from convoy.views.analytics import (
    Analytics,
    EngineCost,
    TimeSpread,
    analytics_summary,
    csv_text,
)
from grite.errors import BratError

WEEK_MS: Final = 7 * 86_400_000


async def given(source: DashboardSource, now: int) -> Mapping[str, Any]:
    """Return the page's values.

    Raises:
        HTTPNotFound: this dashboard does not hold the whole log.
    """
    history = _known(source)
    try:
        found = await asyncio.to_thread(history.figures)
        week = await asyncio.to_thread(history.costs, now - WEEK_MS)
        ever = await asyncio.to_thread(history.costs, 0)
    except BratError as error:
        raise web.HTTPNotFound(text=f"{error}.\n") from error
    priced = [one for one in found.engines if one.usd]
    return {
        "found": found,
        "summary": analytics_summary(found),
        "bars": charts.bars(found.per_day),
        "width": charts.WIDTH,
        "height": charts.HEIGHT,
        "stages": _spreads(found.stages),
        "engines": _engines(found),
        "week": _costs(week),
        "ever": _costs(ever),
        "lengths": charts.lengths(
            [(name, one.median, one.most) for name, one in found.stages.items()]
        ),
        "shares": charts.lengths(
            [(f"{one.engine}, {one.kind}", one.percent, 100) for one in found.engines]
        ),
        "each": charts.lengths(
            [(f"{one.engine}, {one.kind}", one.usd / one.changes, 0) for one in priced]
        ),
        "runs": charts.lengths(
            [
                (f"{one.engine}, {one.kind}", round(one.ci_runs / one.changes, 2), 0)
                for one in found.engines
            ]
        ),
        "money": charts.lengths([(one.engine, one.usd, 0) for one in week]),
        "causes": charts.lengths([(name, n, 0) for name, n in found.rework]),
        "flaky": charts.lengths([(name, n, 0) for name, n in found.flakes]),
        "answers": charts.lengths(
            [(what, one.median, one.most) for what, one in found.asked.items()]
        ),
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


def _costs(costs: Iterable[EngineCost]) -> list[tuple[object, ...]]:
    return [
        (
            one.engine,
            one.sessions,
            f"{one.tokens:,}",
            dollars(one.usd) if one.usd else "not known",
        )
        for one in costs
    ]


def _spreads(found: Mapping[str, TimeSpread]) -> list[tuple[object, ...]]:
    return [
        (
            name,
            one.count,
            spoken_duration(round(one.median)),
            spoken_duration(round(one.most)),
        )
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
