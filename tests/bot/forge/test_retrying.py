"""What may have been done is not done again before it had time to show."""

from pathlib import Path

import pytest

from bot.desk import Desk
from bot.forge.retrying import Unsettled, another_try, failed_try, quiet_try
from tests.bot.lobby import lobby

KEY = "comment:fix-7"


class Hands:
    def __init__(self) -> None:
        self.now = 1_000_000

    def __call__(self) -> int:
        return self.now


def patient(desk: Desk, *, once: bool = False) -> Hands:
    """Let a desk believe a look ten seconds after a try, by hands that we move."""
    given = {"settle_s": 10.0, "once": once}
    desk.settings = desk.settings.model_copy(update=given)
    hands = desk.clock = Hands()
    return hands


async def test_what_was_announced_just_now_was_not_done_before(tmp_path: Path) -> None:
    async with lobby(tmp_path) as here:
        desk = here.loop.desk
        patient(desk)
        desk.fresh.add(KEY)

        another_try(desk, KEY).repeat()

        assert another_try(desk, KEY).look


async def test_after_a_lost_answer_it_is_looked_for_until_it_would_show(
    tmp_path: Path,
) -> None:
    async with lobby(tmp_path) as here:
        desk = here.loop.desk
        hands = patient(desk)
        for begin in (another_try, quiet_try):
            failed_try(desk, KEY)
            hands.now += 9_999
            with pytest.raises(Unsettled, match="may have been done"):
                begin(desk, KEY).repeat()
            hands.now += 1
            begin(desk, KEY).repeat()


async def test_another_processes_try_may_have_been_just_now(tmp_path: Path) -> None:
    async with lobby(tmp_path) as here:
        hands = patient(here.loop.desk)
        with pytest.raises(Unsettled):
            another_try(here.loop.desk, KEY).repeat()
        hands.now += 10_000
        another_try(here.loop.desk, KEY).repeat()

        patient(here.loop.desk, once=True)
        another_try(here.loop.desk, "comment:other-8").repeat()
        quiet_try(here.loop.desk, "denied:9").repeat()
