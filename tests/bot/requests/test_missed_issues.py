"""A bot that polls finds issues that name it, and answers each once."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bot.loop.loop import Loop
from bot.serving import bot_service
from tests.bot.requests.test_missed_comments import look, settings
from tests.bot.room import room
from tests.world.forge import Town
from tests.world.traffic import Exchange

pytestmark = pytest.mark.layer("landing")

NAMED = "@brat, please:\n\n- [ ] one\n"


@pytest.fixture
async def loop(here: Town) -> AsyncIterator[Loop]:
    """A bot that hears nothing from the forge."""
    async with bot_service.opened(settings(here), lambda _: None) as opened:
        await opened.tick()
        yield opened


async def written(here: Town, body: str, *, by: str = "alice") -> int:
    made = await here.post("issues", {"title": "Spell words", "body": body}, by=by)
    return int(made["number"])


async def said(here: Town, issue: int) -> list[str]:
    return [one["body"] for one in await here.get(f"issues/{issue}/comments")]


async def test_an_issue_that_names_it_becomes_a_convoy_once(
    here: Town, loop: Loop
) -> None:
    issue = await written(here, NAMED)
    for _ in range(3):
        await look(loop)

    (convoy,) = loop.context.mirror.state.convoys.values()
    assert (convoy.issue, convoy.by, len(convoy.tasks)) == (issue, "alice", 1)
    shown = [text for text in await said(here, issue) if "### Convoy" in text]
    assert len(shown) == 1


async def test_a_comment_that_names_it_starts_the_issues_first_convoy(
    here: Town, loop: Loop
) -> None:
    issue = await written(here, "- [ ] one\n")
    await here.post(f"issues/{issue}/comments", {"body": "@brat do it"}, by="alice")
    await look(loop)

    (convoy,) = loop.context.mirror.state.convoys.values()
    assert convoy.issue == issue


async def test_one_that_does_not_name_it_is_left_alone(here: Town, loop: Loop) -> None:
    issue = await written(here, "`@brat` is a bot.")
    await look(loop)

    assert loop.context.mirror.state.convoys == {}
    assert await said(here, issue) == []


async def test_one_that_was_written_before_the_bot_came_is_left_alone(
    here: Town, loop: Loop
) -> None:
    now = datetime.now(UTC)
    here.forge.clock = lambda: now - timedelta(hours=1)
    issue = await written(here, NAMED)
    here.forge.clock = lambda: now
    await here.post(f"issues/{issue}/comments", {"body": "Well."}, by="alice")
    for _ in range(2):
        await look(loop)

    assert loop.context.mirror.state.convoys == {}


async def test_one_that_was_edited_before_it_was_read_is_asked_for_again(
    here: Town, loop: Loop
) -> None:
    issue = await written(here, NAMED)
    later = datetime.now(UTC) + timedelta(seconds=5)
    here.forge.clock = lambda: later
    await here.ask("PATCH", f"issues/{issue}", {"body": NAMED + "More."}, by="alice")
    await look(loop)

    assert loop.context.mirror.state.convoys == {}
    (told,) = await said(here, issue)
    assert "edited" in told


async def test_one_that_is_renamed_to_name_it_later_is_left_alone(
    here: Town, loop: Loop
) -> None:
    issue = await written(here, "- [ ] one\n")
    await look(loop)
    await here.ask("PATCH", f"issues/{issue}", {"body": NAMED}, by="alice")
    await look(loop)

    assert loop.context.mirror.state.convoys == {}
    assert await said(here, issue) == []


# --- assignments ----------------------------------------------------------------------


async def assigned(here: Town, issue: int, *, by: str = "alice") -> None:
    body = {"assignees": ["brat[bot]"]}
    await here.post(f"issues/{issue}/assignees", body, by=by)


def configured(here: Town, loop: Loop, text: str) -> None:
    file = here.folder / "config.toml"
    file.write_text(text)
    loop.context.settings = loop.context.settings.model_copy(
        update={"config_file": file}
    )


async def test_an_assignment_asks_for_nothing_where_that_is_not_configured(
    here: Town, loop: Loop
) -> None:
    await assigned(here, await written(here, "- [ ] one\n"))
    await look(loop)

    assert loop.context.mirror.state.convoys == {}


async def test_one_that_is_assigned_to_it_becomes_a_convoy_where_configured(
    here: Town, loop: Loop
) -> None:
    configured(here, loop, "[triggers]\nassignee = true\n[trust]\noutsiders = true\n")
    other = await written(here, "- [ ] one\n", by="mallory")
    await look(loop)
    await assigned(here, other)
    for _ in range(3):
        await look(loop)

    (convoy,) = loop.context.mirror.state.convoys.values()
    assert (convoy.issue, convoy.by) == (other, "alice")


async def test_what_else_happens_to_an_assigned_one_asks_for_nothing(
    here: Town, loop: Loop
) -> None:
    configured(here, loop, "[triggers]\nassignee = true\n")
    issue = await written(here, "- [ ] one\n")
    now = datetime.now(UTC)
    here.forge.clock = lambda: now - timedelta(hours=1)
    await assigned(here, issue)
    here.forge.clock = lambda: now + timedelta(seconds=5)
    await here.post(f"issues/{issue}/comments", {"body": "Well."}, by="alice")
    for _ in range(2):
        await look(loop)

    assert loop.context.mirror.state.convoys == {}


async def test_a_look_costs_one_request_that_is_answered_by_unchanged(
    tmp_path: Path,
) -> None:
    seen: list[Exchange] = []
    async with room(tmp_path, observe=seen.append) as here:
        for _ in range(2):
            await look(here.loop)
        seen.clear()
        for _ in range(3):
            await look(here.loop)

        lists = [
            each
            for each in seen
            if each.path.endswith("/issues") and "since" in each.query
        ]
        assert [each.status for each in lists] == [304, 304, 304]
