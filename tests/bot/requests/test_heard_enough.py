"""Who says too much is told so once an hour, and the others are heard all the same."""

from pathlib import Path

import pytest

from bot.door.inbox import Review, Ticked
from bot.roles.bot_context import MOST_PEOPLE, AnswerBudget
from bot.serving import bot_service
from convoy.model.ids import HOUR_MS
from convoy.rules.people import BlockTask
from grite.wal import WAL_REF
from tests.bot.hosted import elsewhere
from tests.bot.room import NAME, Room, room
from tests.bot.there import there

pytestmark = pytest.mark.layer("landing")

TOO_MUCH = "You have reached brat's hourly limit."


async def pings(here: Room, times: int, by: str) -> None:
    for _ in range(times):
        await here.written(1, "/brat ping", by)
    await here.came(times)
    await here.loop.tick()


def bots_words(here: Room) -> list[str]:
    return [text for text in here.spoken() if "brat:key" in text]


async def test_a_strangers_comments_are_answered_up_to_a_budget(
    hall: Room, tmp_path: Path
) -> None:
    """What was ignored stays so, for another process, too; an hour later all is new."""
    await hall.write("Spell words", "- [ ] one\n")
    await pings(hall, 30, "mallory")

    said = bots_words(hall)
    assert len([text for text in said if "is running, version" in text]) == 12
    (told,) = (text for text in said if TOO_MUCH in text)
    assert "@mallory" in told
    assert len(said) == 13
    assert len(hall.forge.store.reactions.all()) == 2 * 12 + 1
    assert hall.context.inbox.remarks() == {}

    mirror = hall.context.mirror
    log = mirror.refs[WAL_REF]
    await pings(hall, 3, "mallory")
    assert mirror.refs[WAL_REF] == log, "what is not answered is not written down"
    assert len(bots_words(hall)) == 13

    await pings(hall, 1, "you")
    assert len(bots_words(hall)) == 14

    known = len(hall.spoken())
    again = elsewhere(hall.context.settings, tmp_path / "another")
    await hall.loop.release()
    async with bot_service.opened(again, lambda _: None) as other:
        await other.tick()
        other.wake.all()
        await other.tick()
        await other.release()
    assert len(hall.spoken()) == known

    clock = hall.context.clock
    hall.context.clock = lambda: clock() + HOUR_MS
    await pings(hall, 1, "mallory")
    assert "is running, version" in bots_words(hall)[-1]


async def test_a_person_with_write_access_is_heard_longer(here: Room) -> None:
    """Reviews and ticks are counted, too."""
    here.configure(answers_hour=2, writer_answers_hour=4)
    await here.worked(1, {"a.py": b"a\n"})
    for _ in range(4):
        assert "is running" in await here.answer("/brat ping")
    known = len(here.spoken())

    comment, pull = there(here.convoy.comment), here.pull(1)
    tick = Ticked(issue=here.issue, comment=comment, boxes=("cancel",), by="you")
    told = Review(
        pull=pull, review=3, verdict="changes_requested", commit="", text="No", by="you"
    )
    for delivery, asked in (("a-review", told), ("a-tick", tick)):
        here.context.inbox.put(delivery, asked)
        await here.loop.tick()

    assert [TOO_MUCH in text for text in here.spoken()[known:]] == [True]
    assert here.task(1).state == "needs-review"
    assert here.context.inbox.signs() == {}
    assert await here.answer("/brat cancel") == ""
    assert here.convoy_state() == "active"
    assert "is running" in await here.answer("/brat ping", by="mallory")


async def test_a_stranger_who_opens_issues_is_told_up_to_the_budget(hall: Room) -> None:
    for number in range(20):
        await hall.write(f"Idea {number}", "@brat do it", by="mallory")
    await hall.came(20)
    await hall.loop.tick()

    assert (
        len([text for text in hall.spoken() if "cannot start a convoy" in text]) == 12
    )
    assert hall.context.inbox.requests() == {}


def test_many_names_take_no_more_room() -> None:
    budget = AnswerBudget()
    for number in range(3 * MOST_PEOPLE):
        budget.of(f"mallory-{number}", 1_000).at["answer:1"] = 1_000

    assert len(budget._people) == MOST_PEOPLE  # noqa: SLF001  the promise is about it
    assert len(budget.of(f"mallory-{3 * MOST_PEOPLE - 1}", 1_000).at) == 1
    assert budget.of("mallory-0", 1_000).at == {}


@pytest.mark.parametrize(("comments", "came"), [("needed", (2, 1)), ("all", (3, 2))])
async def test_a_person_is_mentioned_once_where_a_task_blocks(
    tmp_path: Path, comments: str, came: tuple[int, int]
) -> None:
    async with room(tmp_path, f'[notify]\ncomments = "{comments}"\n') as here:
        assert "@you" not in "".join(bots_words(here)), "the convoy's own comment"
        await here.do(BlockTask(convoy=NAME, task=1, why="no CI"))
        await here.loop.tick()
        await here.said("/brat retry 1")

        assert here.task(1).state == "queued"
        own = bots_words(here)
        assert (len(own), "".join(own).count("@you")) == came
