"""What a plan may take, summed up and in words. Pure."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Final

from msgspec import Struct

from convoy.model.records import Forecast, Spread
from convoy.model.spending import dollars
from convoy.text.counts_and_times import counted

NOTHING: Final = "nothing known yet"
_MINUTE: Final = 60
_HOUR: Final = 3600


class Range(Struct, frozen=True, kw_only=True):
    """What all tasks of a plan may take, each from the least to the most seen."""

    seconds: Spread
    """Of all sessions, one after another."""
    chain_s: float
    """The middle of the longest chain of tasks that wait for each other."""
    usd: Spread | None
    """Null: no price is known of some task."""


def whole_plan(
    tasks: Mapping[int, tuple[Forecast | None, tuple[int, ...]]],
) -> Range | None:
    """Return what a plan may take; None: of some task nothing is known.

    Args:
        tasks: by number, the forecast of each task and which it waits for.
    """
    known = [forecast for forecast, _ in tasks.values() if forecast is not None]
    if not tasks or len(known) < len(tasks):
        return None

    @cache
    def ends(number: int) -> float:
        forecast, on = tasks[number]
        middle = forecast.seconds.middle if forecast else 0
        return middle + max((ends(each) for each in on if each in tasks), default=0)

    prices = [each.usd for each in known if each.usd is not None]
    return Range(
        seconds=_sum([each.seconds for each in known]),
        chain_s=max(map(ends, tasks)),
        usd=_sum(prices) if len(prices) == len(known) else None,
    )


def _sum(spreads: Sequence[Spread]) -> Spread:
    return Spread(
        sum(each.low for each in spreads),
        sum(each.middle for each in spreads),
        sum(each.high for each in spreads),
    )


def one_task(forecast: Forecast | None) -> str:
    """Return what a task may take, in a few words."""
    if forecast is None:
        return NOTHING
    rests = f"by {counted(forecast.tasks, 'earlier task')} of its engine"
    return f"{_time(forecast.seconds)}, {_price(forecast.usd)}, {rests}"


def all_tasks(found: Range | None) -> str:
    """Return what a whole plan may take, in a few words."""
    if found is None:
        return NOTHING
    chain = f"{span(found.chain_s)} for the longest chain"
    return f"sessions of {_time(found.seconds)}, {chain}, {_price(found.usd)}"


def span(seconds: float) -> str:
    """Return a length of time in one or two units."""
    if seconds < 2 * _MINUTE:
        return f"{seconds:.0f} s"
    if seconds < 2 * _HOUR:
        return f"{round(seconds / _MINUTE)} min"
    return f"{seconds / _HOUR:.1f} h"


def _time(found: Spread) -> str:
    return f"about {span(found.middle)} ({span(found.low)} to {span(found.high)})"


def _price(usd: Spread | None) -> str:
    if usd is None:
        return "price not known"
    return f"{dollars(usd.middle)} ({dollars(usd.low)} to {dollars(usd.high)})"
