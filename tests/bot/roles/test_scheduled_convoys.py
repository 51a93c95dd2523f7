"""Convoys by the clock, on the local forge: one for each time, whoever looks."""

from datetime import UTC, datetime

import pytest

from bot.serving import bot_service
from bot.settings.oneshot_settings import SCHEDULE_WINDOW_S
from convoy.config import due
from convoy.model.ids import HOUR_MS
from tests.bot.room import SHELL, Room

DAILY = SHELL + '[schedule.deps]\nhours = 24\ntitle = "Look after"\ntext = "All."\n'
DAY_MS = 24 * HOUR_MS
NOON = 1_767_323_045_000
"""A day begins here, unix ms."""
pytestmark = [
    pytest.mark.layer("landing"),
    pytest.mark.room(DAILY, text=None, roles=("mayor",)),
]


async def look(here: Room, at: int) -> None:
    """Let the bot look at everything at this time, its own and the forge's."""
    here.context.clock = lambda: at
    here.forge.clock = lambda: datetime.fromtimestamp(at / 1000, UTC)
    await here.swept()


def times(here: Room) -> tuple[int, int]:
    repository = here.context.settings.repository
    looks = (NOON + hour * HOUR_MS for hour in range(25))
    first = next(at for at in looks if due({"deps": 24}, repository, at))
    return first, first + 2 * HOUR_MS


async def test_each_time_makes_one_convoy_when_the_last_has_ended(here: Room) -> None:
    first, later = times(here)
    await look(here, first)
    another = bot_service.opened(here.context.settings, lambda _: None)
    async with another as here.loop:  # it finds what was opened
        for at in (first + 1000, later, first + DAY_MS):
            await look(here, at)

        (convoy,) = here.convoys()
        assert (convoy.title, convoy.by) == ("Look after", "brat[bot]")
        assert convoy.text == "All."
        (issue,) = here.forge.store.issues.all()
        assert "Opened by the schedule `deps`" in (issue.body or "")

        await here.person.say(convoy.issue, "/brat cancel")
        await look(here, first + DAY_MS + 1000)
        await look(here, first + DAY_MS + 2000)
        assert [each.state for each in here.convoys()] == ["failed", "active"]


async def test_a_loop_that_is_woken_once_a_day_misses_no_time(here: Room) -> None:
    first, later = times(here)
    here.configure(schedule_window_s=SCHEDULE_WINDOW_S)
    for at in (later, later + HOUR_MS, first + DAY_MS - 1000):
        await look(here, at)

    assert len(here.convoys()) == 1


@pytest.mark.room("staged = true\n" + DAILY, text=None, roles=("mayor",))
async def test_the_clock_starts_nothing_where_all_is_staged(here: Room) -> None:
    first, later = times(here)
    for at in (first, first + 1000, later):
        await look(here, at)

    assert not here.convoys()
    assert not here.forge.store.issues.all()
