"""A bot that polls finds issues that name it, and answers each once."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest

from bot.loop.loop import Loop
from bot.serving import bot_service
from tests.bot.requests.test_missed_comments import look, settings
from tests.world.forge import Town

pytestmark = pytest.mark.layer("landing")

NAMED = "@brat, please:\n\n- [ ] one\n"


@pytest.fixture
async def loop(town: Town) -> AsyncIterator[Loop]:
    async with bot_service.opened(settings(town), lambda _: None) as opened:
        await opened.tick()
        yield opened


async def written(town: Town, body: str, *, by: str = "alice") -> int:
    made = await town.post("issues", {"title": "Spell words", "body": body}, by=by)
    return int(made["number"])


async def said(town: Town, issue: int) -> list[str]:
    return [one["body"] for one in await town.get(f"issues/{issue}/comments")]


async def test_an_issue_that_names_it_becomes_a_convoy_once(
    town: Town, loop: Loop
) -> None:
    issue = await written(town, NAMED)
    for _ in range(3):
        await look(loop)

    (convoy,) = loop.context.mirror.state.convoys.values()
    assert (convoy.issue, convoy.by, len(convoy.tasks)) == (issue, "alice", 1)
    shown = [text for text in await said(town, issue) if "### Convoy" in text]
    assert len(shown) == 1


async def test_one_that_was_written_before_the_bot_came_is_left_alone(
    town: Town, loop: Loop
) -> None:
    now = datetime.now(UTC)
    town.forge.clock = lambda: now - timedelta(hours=1)
    issue = await written(town, NAMED)
    town.forge.clock = lambda: now
    await town.post(f"issues/{issue}/comments", {"body": "Well."}, by="alice")
    for _ in range(2):
        await look(loop)

    assert loop.context.mirror.state.convoys == {}


async def test_one_that_was_edited_before_it_was_read_is_asked_for_again(
    town: Town, loop: Loop
) -> None:
    issue = await written(town, NAMED)
    later = datetime.now(UTC) + timedelta(seconds=5)
    town.forge.clock = lambda: later
    await town.ask("PATCH", f"issues/{issue}", {"body": NAMED + "More."}, by="alice")
    await look(loop)

    assert loop.context.mirror.state.convoys == {}
    (told,) = await said(town, issue)
    assert "edited" in told


async def test_one_that_is_renamed_to_name_it_later_is_left_alone(
    town: Town, loop: Loop
) -> None:
    issue = await written(town, "- [ ] one\n")
    await look(loop)
    await town.ask("PATCH", f"issues/{issue}", {"body": NAMED}, by="alice")
    await look(loop)

    assert loop.context.mirror.state.convoys == {}
    assert await said(town, issue) == []


# --- assignments ----------------------------------------------------------------------


async def assigned(town: Town, issue: int, *, by: str = "alice") -> None:
    body = {"assignees": ["brat[bot]"]}
    await town.post(f"issues/{issue}/assignees", body, by=by)


def configured(town: Town, loop: Loop, text: str) -> None:
    file = town.folder / "config.toml"
    file.write_text(text)
    loop.context.settings = loop.context.settings.model_copy(
        update={"config_file": file}
    )


async def test_an_assignment_asks_for_nothing_where_that_is_not_configured(
    town: Town, loop: Loop
) -> None:
    await assigned(town, await written(town, "- [ ] one\n"))
    await look(loop)

    assert loop.context.mirror.state.convoys == {}


async def test_one_that_is_assigned_to_it_becomes_a_convoy_where_configured(
    town: Town, loop: Loop
) -> None:
    configured(town, loop, "[triggers]\nassignee = true\n[trust]\noutsiders = true\n")
    other = await written(town, "- [ ] one\n", by="mallory")
    await look(loop)
    await assigned(town, other)
    for _ in range(3):
        await look(loop)

    (convoy,) = loop.context.mirror.state.convoys.values()
    assert (convoy.issue, convoy.by) == (other, "alice")


async def test_what_else_happens_to_an_assigned_one_asks_for_nothing(
    town: Town, loop: Loop
) -> None:
    configured(town, loop, "[triggers]\nassignee = true\n")
    issue = await written(town, "- [ ] one\n")
    now = datetime.now(UTC)
    town.forge.clock = lambda: now - timedelta(hours=1)
    await assigned(town, issue)
    town.forge.clock = lambda: now + timedelta(seconds=5)
    await town.post(f"issues/{issue}/comments", {"body": "Well."}, by="alice")
    for _ in range(2):
        await look(loop)

    assert loop.context.mirror.state.convoys == {}
