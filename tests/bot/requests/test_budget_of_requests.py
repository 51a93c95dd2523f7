"""However often a bot is made to look, it keeps its budget, and answers people."""

from bot.door.inbox import Remark
from bot.forge.pace import HOUR_S, Pace, pacing
from bot.serving import bot_service
from tests.bot.requests.test_missed_comments import answers, comment, settings
from tests.world.forge import REPO, Town
from tests.world.hand import HandTime

SPENT = 1_600
"""Of the 2,000 requests that a repository has at hand, the last 500 are for answers."""


async def test_people_are_answered_when_the_share_is_used_up(
    here: Town, hand: HandTime
) -> None:
    await here.issue()
    pace = Pace(pacing(1.0), hand.time)
    assert pace.shares is not None
    for _ in range(SPENT):
        pace.shares.spend(f"/repos/{REPO}/issues", hand.passed)
    async with bot_service.opened(settings(here), lambda _: None, pace=pace) as loop:
        number = await comment(here, "/brat ping")
        said = Remark(
            issue=1, comment=number, text="/brat ping", by="alice", on_pull=False
        )
        loop.context.inbox.put("asked", said)
        assert await loop.tick()
        waits = loop.context.troubles["look/comments"]
        await loop.tick()

        assert "the repository's share is used up; it continues at " in waits
        assert len(await answers(here, "brat[bot] is here")) == 1

        hand.passed += HOUR_S
        loop.wake.all()
        assert not await loop.tick()
        assert loop.context.troubles == {}
