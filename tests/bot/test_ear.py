"""What people tell the bot in comments, on the local forge: heard and answered."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from msgspec.structs import replace

from bot import service
from bot.github import GitHub
from bot.inbox import Remark
from bot.loop import Loop
from brat import local, registration as registrations
from brat.forge.records import Ci
from brat.forge.server import serving
from brat.forge.state import Forge
from brat.registration import FORGE_FOLDER, Source
from tests.world.forge import make_source


@dataclass
class Room:
    """An issue with a convoy, a bot that listens, and the person who owns it all."""

    loop: Loop
    person: GitHub
    forge: Forge
    issue: int

    async def said(self, text: str, times: int = 1) -> tuple[str, list[str]]:
        """Let the person comment; return the bot's newest reply and the reactions."""
        before = len(self.forge.store.comments.all())
        comment = await self.person.say(self.issue, text)
        for _ in range(times):
            self.loop.desk.inbox.put(f"delivery-{comment}", self.remark(comment, text))
            await self.loop.tick()
        replies = [each.body for each in self.forge.store.comments.all()[before + 1 :]]
        reactions = self.forge.store.reactions.of(comment)
        return "\n".join(replies), [each.content for each in reactions]

    def convoy_state(self) -> str:
        """Return the state of the issue's convoy."""
        return self.loop.desk.mirror.state.convoys["do-it-1"].state

    def remark(self, comment: int, text: str) -> Remark:
        """Return what the door keeps of a comment."""
        return Remark(
            issue=self.issue,
            comment=comment,
            text=text,
            by="you",
            on_pull=False,
            title="Do it",
            body="- [ ] one\n- [ ] two\n",
        )


@pytest.fixture
async def room(tmp_path: Path) -> AsyncIterator[Room]:
    source = make_source(tmp_path / "source")
    known = registrations.register(
        tmp_path, Source(path=source, branch="main", name="app", person="you")
    )
    registrations.set_ci(tmp_path, known, Ci())
    with Forge(tmp_path / FORGE_FOLDER) as forge:
        async with serving(forge) as url, local.person(url, known) as person:
            settings = local.bot_settings(tmp_path, known, url, roles=("mayor",))
            async with service.opened(settings, lambda _: None) as loop:
                issue = await person.open_issue("Do it", "- [ ] one\n- [ ] two\n")
                await person.relabel(issue, {"brat"}, set())
                await loop.tick()
                yield Room(loop, person, forge, issue)


async def test_help_and_ping_are_answered(room: Room) -> None:
    text, reactions = await room.said("/brat help")
    assert "`/brat status`" in text
    assert reactions == ["eyes", "rocket"]

    text, _ = await room.said("/brat ping")
    assert "brat[bot] is here" in text


async def test_a_convoy_is_shown_paused_resumed_and_cancelled(room: Room) -> None:
    text, _ = await room.said("/brat status")
    assert "### Convoy `do-it-1`: active" in text

    await room.said("Wait.\n\n/brat pause")
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
    comment = await room.person.say(room.issue, "/brat cancel")
    remark = room.remark(comment, "/brat cancel")
    stranger = replace(remark, by="mallory")

    room.loop.desk.inbox.put("delivery-m", stranger)
    await room.loop.tick()

    assert room.convoy_state() == "active"
    reactions = [each.content for each in room.forge.store.reactions.of(comment)]
    assert reactions == ["eyes", "-1"]
    newest = room.forge.store.comments.all()[-1].body
    assert "takes write access" in newest


async def test_a_resource_is_locked_for_who_asks(room: Room) -> None:
    await room.said("/brat lock path:src/")
    lease = room.loop.desk.mirror.state.leases["path:src/"]
    assert lease.holder == "you"

    await room.said("/brat unlock path:src/")
    assert not room.loop.desk.mirror.state.leases
