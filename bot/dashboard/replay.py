"""A convoy's page as it was after each step of its log."""

import asyncio
import re
from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from aiohttp import web
from msgspec import Struct

from bot.dashboard import page_contents
from bot.dashboard.dashboard_source import DashboardSource
from convoy.log.record import LogStep
from convoy.model.state import Convoy, State
from convoy.rules.starting import valid_leases
from convoy.views.reasons import waits_for
from grite.errors import BratError

_NUMBER: Final = re.compile("[1-9][0-9]{0,8}")


class Replayed(Struct, frozen=True):
    """One step of a convoy, and what the log folded to there."""

    number: int
    """From 1."""
    last: int
    """How many steps there are."""
    step: LogStep
    state: State
    convoy: Convoy


async def replayed(source: DashboardSource, name: str, wanted: str) -> Replayed:
    """Return a step of a convoy.

    Args:
        source: the repository.
        name: the convoy's.
        wanted: the step's number, from 1; anything else means the last one.

    Raises:
        HTTPNotFound: this dashboard knows no past, or the log does not hold it whole.
    """
    past = source.past
    try:
        steps = await asyncio.to_thread(past.steps, name) if past else ()
        if past is None or not steps:
            raise web.HTTPNotFound(text=f"The past of {name} is not known here.\n")
        number = min(int(wanted), len(steps)) if _is_number(wanted) else len(steps)
        step = steps[number - 1]
        state = await asyncio.to_thread(past.at, step)
    except BratError as error:
        raise web.HTTPNotFound(text=f"{error}.\n") from error
    return Replayed(number, len(steps), step, state, state.convoys[name])


def _is_number(text: str) -> bool:
    return _NUMBER.fullmatch(text) is not None


def given(one: Replayed) -> Mapping[str, Any]:
    """Return the page's values; nothing in it can be pressed, as it is past."""
    then = one.step.at
    values = page_contents.of_convoy(one.state, one.convoy, then)
    leases = valid_leases(one.state, then)
    now_past = {"interventions": (), "buttons": (), "may_write": False}
    return {
        **values,
        **now_past,
        "replay": one,
        "waits_for": partial(waits_for, leases=leases),
    }
