"""What comes by mail commands nothing: its sender can be forged."""

import pytest

from bot.door.inbox import Remark, Review
from tests.bot.room import Room
from tests.world.github_forge.extension import github
from tests.world.github_forge.graphql_nodes import MailedTexts
from tests.world.github_forge.shapes import said_in

pytestmark = pytest.mark.room(roles=("mayor",), extend=github)


async def mailed(here: Room, text: str, by: str = "you") -> list[str]:
    """Let a comment come by mail; return what the bot says of it."""
    comment = await here.written(here.issue, text, by)
    MailedTexts(here.forge.folder).mark(comment)
    before = len(here.spoken())
    remark = Remark(issue=here.issue, comment=comment, text=text, by=by, on_pull=False)
    here.context.inbox.put(f"mail-{comment}", remark)
    await here.loop.tick()
    return here.spoken()[before:]


async def test_a_command_by_mail_is_not_carried_out_and_told_so(here: Room) -> None:
    quoted = "Thank you!\n\nOn Mon, Nov 3, 2025, Bea wrote:\n/brat cancel"
    for text in ("/brat cancel\n/brat drop 1", quoted):
        (said,) = await mailed(here, text)

        assert here.convoy_state() == "active"
        assert here.task(1).state == "queued"
        assert said.count("commands sent by email are not accepted") == 1


async def test_a_mail_without_a_command_is_left_alone(here: Room) -> None:
    assert await mailed(here, "Thank you!\n\n> /brat cancel") == []


@pytest.mark.room(extend=github)
async def test_commands_of_a_review_by_mail_do_not_count(here: Room) -> None:
    await here.worked(1, {"one.py": b"one\n"})
    await here.reviewed("COMMENT", text="/brat drop 2")
    (review,) = said_in(here.forge.store).reviews.all()
    MailedTexts(here.forge.folder).mark(review.id)
    kept = Review(
        pull=here.pull(1),
        review=review.id,
        verdict="commented",
        commit=review.commit,
        text=review.body,
        by="you",
    )
    here.context.inbox.put("mailed-review", kept)
    await here.loop.tick()

    assert here.task(2).state == "queued"
    assert "commands sent by email are not accepted" in here.spoken()[-1]
