"""What no delivery told of is found by a look, and answered once.

Issues and comments that are gone keep nothing else waiting.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest

from bot.door.inbox import Remark
from bot.forge.pace import HOUR_S, Pace, pacing
from bot.loop.loop import Loop
from bot.roles.by_hand import NEW_MS
from bot.serving import bot_service
from bot.settings.bot_settings import Settings
from convoy.views import state_document
from tests.bot import hosted
from tests.bot.hosted import elsewhere
from tests.bot.room import room
from tests.bot.serving.hosted_town import labelled
from tests.forge.mutations import mutate
from tests.world.forge import REPO, Town
from tests.world.hand import HandTime
from tests.world.traffic import Exchange

pytestmark = pytest.mark.layer("landing")


def settings(town: Town) -> Settings:
    return hosted.settings(town, token=town.tokens["bot"], roles=("mayor",))


@pytest.fixture
async def loop(town: Town) -> AsyncIterator[Loop]:
    """A bot that has accepted an issue already, and hears nothing from the forge."""
    await labelled(town, REPO)
    async with bot_service.opened(settings(town), lambda _: None) as opened:
        await opened.tick()
        yield opened


def at(town: Town, **off: int) -> None:
    """Set the forge's clock to so much before or after now."""
    time = datetime.now(UTC) + timedelta(**off)
    town.forge.clock = lambda: time


async def comment(town: Town, text: str, *, by: str = "alice") -> int:
    made = await town.post("issues/1/comments", {"body": text}, by=by)
    return int(made["id"])


def ping(issue: int, number: int, by: str = "alice") -> Remark:
    text = "/brat ping"
    return Remark(issue=issue, comment=number, text=text, by=by, on_pull=False)


async def look(loop: Loop, times: int = 1) -> None:
    for _ in range(times):
        loop.wake.all()
        await loop.tick()


async def answers(town: Town, about: str) -> list[str]:
    said = await town.get("issues/1/comments")
    lines = "\n".join(one["body"] for one in said).split("\n")
    return [line for line in lines if about in line]


async def written(town: Town, body: str, *, by: str = "alice") -> int:
    made = await town.post("issues", {"title": "Spell words", "body": body}, by=by)
    return int(made["number"])


def begun(loop: Loop) -> list[tuple[int, str]]:
    convoys = loop.context.mirror.state.convoys.values()
    return [(convoy.issue, convoy.by) for convoy in convoys]


async def test_one_that_was_delivered_too_is_answered_once_and_a_bots_never(
    town: Town, loop: Loop
) -> None:
    await comment(town, "/brat ping", by="bot")
    told = ping(1, await comment(town, "/brat ping"))
    for _ in range(2):
        loop.context.inbox.put("a-delivery", told)
        await look(loop)

    assert len(await answers(town, "brat[bot] is running")) == 1
    assert loop.context.inbox.remarks() == {}


async def test_one_that_was_edited_is_asked_for_again_and_an_old_one_left_alone(
    town: Town, loop: Loop
) -> None:
    """So is an issue that was edited before it was read."""
    edit = {"body": "/brat cancel"}
    old = await comment(town, "Please.")
    at(town, seconds=5)
    await comment(town, "Thank you.")
    await look(loop)
    await town.ask("PATCH", f"issues/comments/{old}", edit, by="alice")
    await look(loop)
    assert await answers(town, "edited") == []

    number = await comment(town, "Please.")
    at(town, seconds=10)
    await town.ask("PATCH", f"issues/comments/{number}", edit, by="alice")
    await look(loop)
    (said,) = await answers(town, "edited before brat read it")
    assert "@alice" in said
    assert loop.context.mirror.state.convoys["fix-it-1"].state == "active"

    issue, text = await written(town, "@brat, please."), {"body": "@brat, more."}
    at(town, seconds=15)
    await town.ask("PATCH", f"issues/{issue}", text, by="alice")
    await look(loop)
    assert begun(loop) == [(1, "alice")]
    (told,) = await town.get(f"issues/{issue}/comments")
    assert "edited" in told["body"]


async def test_a_bot_that_is_new_leaves_what_was_said_before_alone(town: Town) -> None:
    await town.issue()
    await comment(town, "/brat ping")
    async with bot_service.opened(settings(town), lambda _: None) as loop:
        clock = loop.context.clock
        loop.context.clock = lambda: clock() + 3_600_000
        await loop.tick()
        await look(loop)

    assert await answers(town, "brat[bot] is running") == []


async def test_one_that_the_list_shows_late_or_while_no_bot_ran_is_answered(
    town: Town, loop: Loop
) -> None:
    at(town, minutes=10)
    await comment(town, "Thank you.")
    await look(loop)
    at(town, minutes=6)
    await comment(town, "/brat ping")
    await look(loop)
    assert len(await answers(town, "brat[bot] is running")) == 1

    at(town, minutes=11)
    await comment(town, "/brat ping")
    again = elsewhere(loop.context.settings, town.folder / "another")
    async with bot_service.opened(again, lambda _: None) as other:
        await loop.release()
        await other.tick()
        await look(other)
    assert len(await answers(town, "brat[bot] is running")) == 2


async def test_looks_at_what_is_known_are_answered_by_unchanged(tmp_path: Path) -> None:
    """One for all comments, one for all issues, one for each live convoy's comment."""
    seen: list[Exchange] = []
    async with room(tmp_path, observe=seen.append) as here:
        await here.said("/brat ping")
        await look(here.loop)
        looks = here.context.memory.comments
        assert looks is not None
        known = dict(looks.seen)
        await look(here.loop)
        seen.clear()
        await look(here.loop, 2)
        shown = f"/issues/comments/{here.convoy.comment}"

    lists = [each for each in seen if each.path.endswith("/issues/comments")]
    issues = [each for each in seen if each.path.endswith("/issues")]
    since = [each for each in issues if "since" in each.query]
    shows = [each for each in seen if each.path.endswith(shown)]
    for asked in (lists, since, shows):
        assert [each.status for each in asked] == [304, 304]
    assert len({each.query["since"] for each in lists}) == 1
    assert {each.method for each in seen} == {"GET"}
    assert looks.seen == known
    assert len(known) == 2


SPENT = 1_600
"""Of the 2,000 requests that a repository has at hand, the last 500 are for answers."""


async def test_people_are_answered_when_the_share_is_used_up(
    town: Town, hand: HandTime
) -> None:
    await town.issue()
    pace = Pace(pacing(1.0), hand.time)
    assert pace.shares is not None
    for _ in range(SPENT):
        pace.shares.spend(f"/repos/{REPO}/issues", hand.passed)
    async with bot_service.opened(settings(town), lambda _: None, pace=pace) as loop:
        said = ping(1, await comment(town, "/brat ping"))
        loop.context.inbox.put("asked", said)
        assert await loop.tick()
        waits = loop.context.troubles["look/comments"]
        await loop.tick()

        assert (
            "this repository has used its share of the hourly requests; "
            "requests resume at " in waits
        )
        assert len(await answers(town, "brat[bot] is running")) == 1

        hand.passed += HOUR_S
        loop.wake.all()
        assert not await loop.tick()
        assert loop.context.troubles == {}


async def assigned(town: Town, issue: int, *logins: str, by: str = "alice") -> None:
    body = {"assignees": logins}
    await town.ask("PATCH", f"issues/{issue}", body, by=by)


async def test_one_that_is_assigned_to_it_becomes_a_convoy_where_configured(
    town: Town, loop: Loop
) -> None:
    """What else happens to one that was assigned long ago asks for nothing."""
    file = town.folder / "config.toml"
    file.write_text("[triggers]\nassignee = true\n[trust]\noutsiders = true\n")
    told = {"config_file": file}
    loop.context.settings = loop.context.settings.model_copy(update=told)
    other = await written(town, "- [ ] one\n", by="mallory")
    old = await written(town, "- [ ] one\n")
    await look(loop)
    await assigned(town, other, "brat[bot]", by="carol")
    await assigned(town, other, by="carol")
    await assigned(town, other, "brat[bot]")
    await assigned(town, other, "brat[bot]", "carol", by="carol")
    at(town, hours=-1)
    await assigned(town, old, "brat[bot]")
    at(town, seconds=5)
    await town.post(f"issues/{old}/comments", {"body": "Well."}, by="alice")
    await look(loop, 3)

    assert begun(loop) == [(1, "alice"), (other, "alice")]


# --- what is gone ---------------------------------------------------------------------


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
