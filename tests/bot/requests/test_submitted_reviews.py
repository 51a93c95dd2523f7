"""Reviews and ticked boxes, delivered by the forge, ask for what commands ask for."""

import pytest

from tests.bot.room import FILES, Room
from tests.bot.there import there

pytestmark = [pytest.mark.layer("landing"), pytest.mark.room(delivered=True)]

APPROVALS = "[refinery]\napprovals = 1\n"


@pytest.mark.room(APPROVALS, delivered=True)
async def test_a_review_approves_exactly_what_was_reviewed(here: Room) -> None:
    head = await here.worked(1, FILES)
    await here.reviewed("APPROVE", here.let_in("bea"))
    await here.until(lambda: "Approved" in "".join(here.shown()))

    assert here.task(1).approved_by == ("bea",)
    assert there(here.task(1).candidate).work == head


async def test_a_reviews_command_is_heard_once_and_a_remark_is_none(here: Room) -> None:
    await here.worked(1, FILES)
    bea, before = here.let_in("bea"), len(here.spoken())

    await here.reviewed("COMMENT", "you", "Nice.")
    await here.reviewed("COMMENT", bea, "/brat pause\n\nNot yet.")
    await here.until(lambda: "Nothing new will start" in "".join(here.shown()))
    await here.swept(2)

    assert here.convoy_state() == "paused"
    assert here.task(1).state == "needs-review"
    assert len(here.spoken()) == before
    assert len(here.shown()) == 1

    text = "/brat revise -- Shorter.\n\n/brat ping"
    await here.reviewed("REQUEST_CHANGES", bea, text)
    await here.until(lambda: "continues its work" in here.spoken()[-1])

    assert "is running" in here.spoken()[-1]
    assert here.task(1).notes == ("bea asks for changes: Shorter.",)


@pytest.mark.room
async def test_a_review_found_by_a_look_gives_no_commands(here: Room) -> None:
    await here.worked(1, FILES)
    bea = here.let_in("bea")
    await here.reviewed("COMMENT", bea, "/brat pause")
    await here.swept(3)

    assert here.convoy_state() == "active"
    assert "repeat its commands in a comment" in here.spoken()[-1]
    assert sum("@bea" in text for text in here.spoken()) == 1

    await here.reviewed("REQUEST_CHANGES", bea, "Shorter. <!-- x -->")
    await here.swept(3)
    await here.worked(1, {"README.md": b"# app\n", "one.py": b"1\n"})
    await here.swept()

    assert here.task(1).state == "needs-review", "an old review is of old work"
    assert here.task(1).notes == ("bea asks for changes: Shorter.",)
    assert len(here.shown()) == 1


def surface(here: Room) -> str:
    number = there(here.convoy.comment)
    comment = there(here.forge.store.comments.get(number))
    return comment.body


async def tick(here: Room, says: str, by: str = "you") -> None:
    """Let somebody tick a box, as the page does: by an edit of the comment."""
    text = surface(here)
    assert f"- [ ] {says} " in text
    body = {"body": text.replace(f"- [ ] {says} ", f"- [x] {says} ")}
    await here.asked("PATCH", f"issues/comments/{here.convoy.comment}", body, by)


@pytest.mark.room('[mayor]\napprove = "plan"\n', delivered=True)
async def test_a_tick_counts_by_right_or_is_taken_back(here: Room) -> None:
    await tick(here, "Cancel the convoy", here.let_in("bea"))
    here.let_in("bea", "read")
    await here.until(lambda: "requires write access" in here.spoken()[-1])
    assert here.convoy_state() == "planning"
    await here.until(lambda: "- [ ] Cancel the convoy" in surface(here))

    await tick(here, "Approve the plan")
    await here.until(lambda: here.convoy_state() == "active")
    await here.until(lambda: "Approve the plan" not in surface(here))

    await tick(here, "Cancel the convoy")
    await here.until(lambda: here.convoy_state() == "failed")
    await here.until(lambda: "- [" not in surface(here))


@pytest.mark.room
async def test_a_tick_is_kept_when_the_comment_is_written_meanwhile(here: Room) -> None:
    # no delivery tells of it
    await here.loop.tick()
    await tick(here, "Cancel the convoy")

    await here.said("/brat pause")

    assert "paused" in surface(here)
    assert "- [x] Cancel the convoy" in surface(here)
    assert here.convoy_state() == "paused"
