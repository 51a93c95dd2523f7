"""A command is acknowledged the moment it arrives, whatever the loop waits for."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from time import monotonic

import pytest

from bot.roles.bot_context import MOST_COMMENTS, RecentComments
from tests.bot.lobby import Lobby
from tests.bot.room import DEADLINE_S, Room, room
from tests.world.forge import until
from tests.world.github_forge.injected_faults import Faults
from tests.world.traffic import Exchange

EYES = "eyes"
pytestmark = pytest.mark.room(roles=("mayor",), delivered=True)

A_MINUTE_ON_S = 61.0
"""The pushes before this are no longer counted."""


class Reactions:
    """The reactions that reached the forge, and how many there were."""

    def __init__(self) -> None:
        self.sent: list[str] = []

    def __call__(self, exchange: Exchange) -> None:
        if exchange.method == "POST" and exchange.path.endswith("/reactions"):
            self.sent.append(exchange.path.split("/")[-2])


def reacted(here: Room, comment: int) -> list[str]:
    return [each.content for each in here.forge.store.reactions.of(comment)]


@asynccontextmanager
async def pushing_slowly(here: Room) -> AsyncIterator[None]:
    """Let the loop tick in a world where its pushes are an hour apart."""
    context = here.context
    paced = {"push_gap_s": 3600.0}
    context.settings = context.settings.model_copy(update=paced)

    async def ticking() -> None:
        while True:
            await here.loop.tick()
            await here.loop.wait(again=False)

    async with asyncio.timeout(DEADLINE_S), asyncio.TaskGroup() as group:
        task = group.create_task(ticking())
        yield
        task.cancel()


async def test_eyes_need_no_tick_and_no_lease(tmp_path: Path) -> None:
    sent = Reactions()
    async with room(tmp_path, roles=("mayor",), delivered=True, observe=sent) as here:
        await here.loop.release()
        here.context.github.guard(here.loop.lease.check)
        comment = await here.person.say(here.issue, "/brat ping")

        async def seen() -> bool:
            return reacted(here, comment) == [EYES]

        await until(seen)
        here.context.github.guard(lambda: None)
        assert not here.loop.lease.held

        await here.until(lambda: reacted(here, comment) == [EYES, "rocket"])
        assert sent.sent == [str(comment)] * 2


async def test_talk_and_what_is_off_limits_have_no_eyes(here: Room) -> None:
    off = await here.person.open_issue("Leave it", "")
    await here.person.relabel(off, {"brat:no"}, set())
    talk = await here.person.say(here.issue, "I like `/brat status` a lot.")
    hidden = await here.person.say(off, "/brat ping")
    last = await here.person.say(here.issue, "/brat ping")
    await here.until(lambda: reacted(here, last) == [EYES, "rocket"])

    assert reacted(here, talk) == reacted(here, hidden) == []


async def test_a_failure_stops_nothing_and_the_tick_reacts_instead(hall: Lobby) -> None:
    issue = await hall.write("Spell words", "- [ ] one\n")
    faults = Faults(hall.forge.folder)
    faults.refuse("POST", ".*/reactions", 403, "Not now", 2)
    for _ in range(2):
        await hall.you.say(issue, "/brat ping")

    async def refused() -> bool:
        return len(faults.met()) == 2

    await until(refused)
    await hall.loop.tick()
    assert [each.content for each in hall.forge.store.reactions.all()] == [
        EYES,
        EYES,
        "rocket",
        "rocket",
    ]


async def test_what_people_wait_for_ends_the_wait_between_pushes(here: Room) -> None:
    await here.said("/brat ping")  # the lease is ours
    here.loop.lease.ticking = lambda: monotonic() + A_MINUTE_ON_S
    async with pushing_slowly(here):
        comment = await here.person.say(here.issue, "/brat pause")

        async def answered() -> bool:
            return reacted(here, comment) == [EYES, "rocket"]

        await until(answered, deadline_s=DEADLINE_S)
        assert here.convoy_state() == "paused"


@pytest.mark.room(roles=("mayor",))
async def test_a_job_that_stays_hears_people_between_its_pushes(here: Room) -> None:
    here.loop.stays = lambda _: True
    async with pushing_slowly(here):
        comment = await here.person.say(here.issue, "/brat pause")

        async def answered() -> bool:
            return "rocket" in reacted(here, comment)

        await until(answered)


def test_only_the_newest_comments_are_remembered() -> None:
    recent = RecentComments()
    assert recent.add(0)
    assert not recent.add(0)
    for number in range(1, MOST_COMMENTS + 1):
        recent.add(number)
    assert recent.add(0)
    recent.discard(0)
    recent.discard(0)
    assert recent.add(0)
