"""What people tell the bot in comments, on the local forge: heard and answered."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.bot.room import Room, room as opened


@pytest.fixture
async def room(tmp_path: Path) -> AsyncIterator[Room]:
    async with opened(tmp_path, roles=("mayor",)) as room:
        yield room


async def test_help_and_ping_are_answered(room: Room) -> None:
    text, reactions = await room.said("/brat help")
    assert "`/brat status`" in text
    assert reactions == ["eyes", "rocket"]

    text, _ = await room.said("/brat ping")
    assert "brat[bot] is here" in text


async def test_a_convoy_is_shown_paused_resumed_and_cancelled(room: Room) -> None:
    text, _ = await room.said("/brat status")
    assert "This comment shows where everything stands." in text
    assert "### Convoy `do-it-1`: active" in room.spoken()[0]

    await room.said("/brat pause\n\nWait.")
    assert room.convoy_state() == "paused"
    await room.said("/brat resume")
    assert room.convoy_state() == "active"

    text, reactions = await room.said("/brat drop 2\n\n/brat why 2")
    assert "Task 2 is dropped." in text
    assert "Task 2 is dropped, after 0 attempts." in text
    assert reactions == ["eyes", "rocket"]

    await room.said("/brat cancel")
    assert room.convoy_state() == "failed"


async def test_a_comment_that_comes_again_changes_nothing(room: Room) -> None:
    text, reactions = await room.said("/brat drop 1", times=3)

    assert text.count("Task 1 is dropped.") == 1
    assert reactions == ["eyes", "rocket"]


async def test_what_is_no_command_is_told_so_and_talk_is_left_alone(room: Room) -> None:
    text, reactions = await room.said("/brat statsu")
    assert "did you mean" in text
    assert "confused" in reactions

    text, reactions = await room.said("I like `/brat status` a lot.")
    assert (text, reactions) == ("", [])


async def test_what_the_rules_forbid_is_refused_with_the_reason(room: Room) -> None:
    text, reactions = await room.said("/brat retry 1")

    assert "task 1 of do-it-1 is queued, not blocked" in text
    assert reactions == ["eyes", "confused"]


async def test_a_stranger_is_told_that_it_takes_write_access(room: Room) -> None:
    room.forge.add_user("mallory")
    newest, reactions = await room.said("/brat cancel", by="mallory")

    assert room.convoy_state() == "active"
    assert reactions == ["eyes", "-1"]
    assert "requires write access" in newest


async def test_a_resource_is_locked_for_who_asks(room: Room) -> None:
    await room.said("/brat lock path:src/")
    lease = room.loop.context.mirror.state.leases["path:src/"]
    assert lease.holder == "you"

    await room.said("/brat renew path:src/ ttl=24h")
    longer = room.loop.context.mirror.state.leases["path:src/"]
    assert longer.expires > lease.expires
    assert longer.nonce == lease.nonce

    await room.said("/brat unlock path:src/")
    assert not room.loop.context.mirror.state.leases


async def test_each_answer_says_that_agents_have_no_box(tmp_path: Path) -> None:
    async with opened(tmp_path, '[runner]\nbox = "off"\n', roles=("mayor",)) as room:
        shown = room.spoken()[0]
        refused, _ = await room.said("/brat retry 1")

    assert '`[runner] box = "off"`' in shown
    assert '`[runner] box = "off"`' in refused
