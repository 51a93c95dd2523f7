"""Convoys by the clock, on the local forge: one for each time, whoever looks."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot.serving import bot_service
from bot.settings.oneshot_settings import SCHEDULE_WINDOW_S
from convoy.config import due
from convoy.model.ids import HOUR_MS
from tests.bot.room import SHELL, Room, empty_room

pytestmark = pytest.mark.layer("landing")

DAILY = SHELL + '[schedule.deps]\nhours = 24\ntitle = "Look after"\ntext = "All."\n'
DAY_MS = 24 * HOUR_MS
NOON = 1_767_323_045_000
"""A day begins here, unix ms."""


@pytest.fixture
async def here(tmp_path: Path) -> AsyncIterator[Room]:
    async with empty_room(tmp_path, DAILY) as here:
        yield here


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


async def test_each_time_makes_one_convoy_when_the_last_one_has_ended(
    here: Room,
) -> None:
    first, later = times(here)
    for at in (first, first + 1000, later, first + DAY_MS):
        await look(here, at)

    (convoy,) = here.convoys()
    assert (convoy.title, convoy.by) == ("Look after", "brat[bot]")
    assert convoy.text == "All."
    (issue,) = here.forge.store.issues.all()
    assert "Opened by the schedule `deps`" in (issue.body or "")

    await here.person.say(convoy.issue, "/brat cancel")
    await here.came()
    await look(here, first + DAY_MS + 1000)
    await look(here, first + DAY_MS + 2000)

    assert [each.state for each in here.convoys()] == ["failed", "active"]


async def test_another_process_finds_what_was_opened(here: Room) -> None:
    first, _ = times(here)
    await look(here, first)
    settings = here.context.settings
    async with bot_service.opened(settings, lambda _: None) as again:
        here.loop = again
        await look(here, first + 1000)

    assert len(here.forge.store.issues.all()) == 1
    assert len(here.convoys()) == 1


async def test_a_loop_that_is_woken_once_a_day_misses_no_time(here: Room) -> None:
    first, later = times(here)
    here.configure(schedule_window_s=SCHEDULE_WINDOW_S)
    for at in (later, later + HOUR_MS, first + DAY_MS - 1000):
        await look(here, at)

    assert len(here.convoys()) == 1


async def test_the_clock_starts_nothing_where_all_is_staged(tmp_path: Path) -> None:
    async with empty_room(tmp_path, "staged = true\n" + DAILY) as here:
        first, later = times(here)
        for at in (first, first + 1000, later):
            await look(here, at)

        assert not here.convoys()
        assert not here.forge.store.issues.all()
