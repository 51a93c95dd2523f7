"""Issues and comments that are gone keep nothing else waiting."""

from collections.abc import Awaitable, Callable
from functools import partial

import pytest

from bot.loop.loop import Loop
from bot.roles.by_hand import NEW_MS
from bot.serving import bot_service
from convoy.views import state_document
from tests.bot.requests.test_missed_comments import answers, comment, ping, settings
from tests.bot.serving.hosted_town import labelled
from tests.forge.mutations import mutate
from tests.world.forge import REPO, Town

pytestmark = pytest.mark.layer("landing")

Goes = Callable[[Town, int], Awaitable[None]]
OTHER = "alice/other"
FEW = 30
"""Far fewer requests than a look a second would make in a minute."""


async def convoys(town: Town) -> None:
    for title in ("Fix it", "Fix that, too"):
        await labelled(town, REPO, title)


async def delete(town: Town, number: int) -> None:
    node = (await town.get(f"issues/{number}"))["node_id"]
    await mutate(town, "deleteIssue", {"issueId": node})


async def transfer(town: Town, number: int, *, private: bool = False) -> None:
    """Move an issue to another repository, where it may get the same number."""
    node = (await town.get(f"issues/{number}"))["node_id"]
    town.forge.add_repository(OTHER, private=private)
    target = (await town.ask("GET", "", repo=OTHER, by="alice")).json()["node_id"]
    await mutate(town, "transferIssue", {"issueId": node, "repositoryId": target})


async def unsay(town: Town, number: int) -> None:
    """Delete the one comment on an issue, which stays."""
    (one,) = await town.get(f"issues/{number}/comments")
    await town.ask("DELETE", f"issues/comments/{one['id']}", by="alice")


async def minute(loop: Loop) -> int:
    """Let a minute pass, with a look each second; return how often was asked."""
    before = loop.context.github.rest.answers
    for _ in range(60):
        loop.context.clock = partial(int, loop.context.clock() + 1000)
        await loop.tick()
    return loop.context.github.rest.answers - before


@pytest.mark.parametrize("goes", [delete, transfer, unsay])
async def test_a_command_that_is_gone_with_or_without_its_issue_keeps_no_other_waiting(
    town: Town, goes: Goes
) -> None:
    await convoys(town)
    third = await town.issue("Gone soon")
    gone = await town.post(f"issues/{third}/comments", {"body": "/brat ping"})
    await goes(town, third)
    number = await comment(town, "/brat ping")
    async with bot_service.opened(settings(town), lambda _: None) as loop:
        await loop.tick()
        loop.context.inbox.put("gone", ping(third, int(gone["id"])))
        loop.context.inbox.put("here", ping(1, number))
        asked = await minute(loop)

        assert len(await answers(town, "brat[bot] is running")) == 1
        assert asked < FEW
        await loop.release()
    async with bot_service.opened(settings(town), lambda _: None) as again:
        await again.tick()
        later = await comment(town, "/brat ping")
        again.context.inbox.put("later", ping(1, later))
        await again.tick()
        await again.tick()

        assert len(await answers(town, "brat[bot] is running")) == 2
        assert again.context.inbox.remarks() == {}


@pytest.mark.parametrize(
    ("goes", "how"),
    [
        (delete, "deleted"),
        (transfer, "transferred"),
        (partial(transfer, private=True), "transferred"),
    ],
)
async def test_a_convoy_whose_issue_is_gone_is_cancelled_and_keeps_no_other_waiting(
    town: Town, goes: Goes, how: str
) -> None:
    await convoys(town)
    async with bot_service.opened(settings(town), lambda _: None) as loop:
        await loop.tick()
        await goes(town, 1)
        late = loop.context.clock() + NEW_MS
        loop.context.clock = partial(int, late)
        number = await town.post(
            "issues/2/comments", {"body": "/brat pause"}, by="alice"
        )
        loop.context.inbox.put("pause", ping(2, int(number["id"])))
        loop.wake.all()
        assert await minute(loop) < 2 * FEW
        state = loop.context.mirror.state
        said = [one["body"] for one in await town.get("issues/2/comments")]
        assert any("brat[bot] is running" in body for body in said)
        gone = state.convoys["fix-it-1"]
        assert (gone.state, gone.why) == ("failed", f"cancelled: issue #1 was {how}")
        assert list(state.asides()) == []
        assert not state.intents
        shown = state_document(state, loop.context.clock())
        assert gone.why in str(shown)
        assert shown["interventions"] == []
