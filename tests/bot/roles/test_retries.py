"""What may have been done is not done again before it had time to show."""

import pytest

from bot.roles.bot_context import (
    BotContext,
    Unsettled,
    another_try,
    quiet_try,
    trying,
)
from grite.errors import Unavailable
from tests.bot.lobby import Lobby

KEY = "comment:fix-7"


def patient(context: BotContext, *, once: bool = False) -> list[int]:
    """Let a context believe a look ten seconds after a try, by hands that we move."""
    given = {"settle_s": 10.0, "once": once}
    context.settings = context.settings.model_copy(update=given)
    now = [1_000_000]
    context.clock = lambda: now[0]
    return now


async def test_what_was_announced_just_now_was_not_done_before(hall: Lobby) -> None:
    context = hall.context
    patient(context)
    context.memory.fresh.add(KEY)

    another_try(context, KEY).repeat()

    assert another_try(context, KEY).look


async def test_after_a_lost_answer_it_is_looked_for_until_it_would_show(
    hall: Lobby,
) -> None:
    context = hall.context
    now = patient(context)
    for begin in (another_try, quiet_try):
        with pytest.raises(Unavailable), trying(context, KEY):
            raise Unavailable("no answer")
        now[0] += 9_999
        with pytest.raises(Unsettled, match="may already be done"):
            begin(context, KEY).repeat()
        now[0] += 1
        begin(context, KEY).repeat()


async def test_another_processes_try_may_have_been_just_now(hall: Lobby) -> None:
    now = patient(hall.context)
    with pytest.raises(Unsettled):
        another_try(hall.context, KEY).repeat()
    now[0] += 10_000
    another_try(hall.context, KEY).repeat()

    patient(hall.context, once=True)
    another_try(hall.context, "comment:other-8").repeat()
    quiet_try(hall.context, "denied:9").repeat()
