"""What is said of lines reaches the next attempt, and is answered where it was said."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from bot.text import replies
from convoy.model.ids import task_branch
from tests.bot.room import NAME, Room, room
from tests.world.github_forge.extension import github
from tests.world.github_forge.review_comments import LineComment, comments_of

pytestmark = pytest.mark.layer("landing")

FILES = {"README.md": b"# app\n", "one.py": b"one\ntwo\nthree\n"}
LISTED = '[review]\nbots = ["coder[bot]", "linter[bot]"]\n'


def on(line: int, says: str) -> dict[str, object]:
    return {"path": "one.py", "line": line, "body": says}


async def review(
    here: Room, by: str, *lines: dict[str, object], text: str = ""
) -> None:
    """Let somebody speak of lines of the first task's change."""
    body = {"event": "COMMENT", "body": text, "comments": lines}
    await here.asked("POST", f"pulls/{here.pull(1)}/reviews", body, by)


def let_bot_in(here: Room, login: str) -> str:
    """Let a bot write reviews here."""
    here.let_in(login, "read")
    store = here.forge.store
    (found,) = (each for each in store.users.all() if each.login == login)
    with store.change():
        store.users.put(replace(found, kind="Bot"))
    return login


def lines_of(here: Room) -> list[LineComment]:
    return comments_of(here.forge.store).all()


def answers(here: Room) -> list[str]:
    return [each.body.splitlines()[-1] for each in lines_of(here) if each.begins]


async def looks(here: Room, times: int = 3) -> None:
    for _ in range(times):
        here.loop.wake.all()
        await here.loop.tick()


@pytest.mark.parametrize("delivered", [True, False])
async def test_a_persons_thread_is_answered_with_the_commit_once(
    tmp_path: Path, *, delivered: bool
) -> None:
    opened = room(tmp_path, delivered=delivered, extend=github)
    async with opened as here:
        await here.worked(1, FILES)
        await review(here, here.let_in("bea"), on(2, "Say `2`, not `two`."))
        here.loop.wake.all()
        await here.until(lambda: here.task(1).state == "queued")

        (told,) = here.task(1).notes
        for part in ("one.py, line 2", "+two", "bea: Say `2`, not `two`.", "Thread "):
            assert part in told

        made = await here.worked(1, {**FILES, "one.py": b"one\n2\nthree\n"})
        await looks(here)

        assert answers(here) == [f"Done in {made}."]
        assert here.tip(task_branch(NAME, 1)) == made
        assert not lines_of(here)[0].is_resolved, "a person resolves their own"
        assert here.task(1).state == "needs-review", "its own answer asks for nothing"


async def test_a_listed_bot_asks_for_work_and_an_unlisted_one_is_ignored_once(
    tmp_path: Path,
) -> None:
    async with room(tmp_path, LISTED, delivered=True, extend=github) as here:
        await here.worked(1, FILES)
        stranger = let_bot_in(here, "other[bot]")
        for line in (1, 2):
            await review(here, stranger, on(line, "Delete it all."))
        await review(here, let_bot_in(here, "coder[bot]"), on(3, "/brat pause"))
        await here.until(lambda: here.task(1).state == "queued")
        await here.worked(1, {**FILES, "one.py": b"one\ntwo\n3\n"})
        await looks(here)

        assert here.convoy_state() == "active", "a bot gives no commands"
        assert "Delete it all" not in "".join(here.task(1).notes)
        said = [text for text in here.spoken() if "are ignored here" in text]
        assert len(said) == 1
        assert "`other[bot]`" in said[0]
        answered = [e for e in lines_of(here) if e.path == "one.py" and e.is_resolved]
        assert [each.body for each in answered] == ["/brat pause"]
        assert len(answers(here)) == 1


async def test_a_bot_that_asks_for_the_same_again_stops_for_a_person(
    tmp_path: Path,
) -> None:
    async with room(tmp_path, LISTED, delivered=True, extend=github) as here:
        bot = let_bot_in(here, "linter[bot]")
        for content in (b"a\n", b"b\n", b"c\n"):
            await here.worked(1, {**FILES, "one.py": content})
            await review(here, bot, on(1, "Use tabs."))
            await here.until(lambda: here.task(1).state != "needs-review")

        assert here.task(1).state == "blocked"
        assert "asks for the same in one.py again and again" in here.task(1).why


async def test_a_command_on_a_line_is_heard_as_in_a_comment(tmp_path: Path) -> None:
    async with room(tmp_path, delivered=True, extend=github) as here:
        await here.worked(1, FILES)
        await review(here, here.let_in("bea"), on(1, "/brat pause"))
        await here.until(lambda: here.convoy_state() == "paused")

        assert here.task(1).state == "needs-review"


def test_an_answer_says_why_a_thread_is_not_followed() -> None:
    assert replies.of_thread("it is right", is_done=False) == (
        "Left as it is: `it is right`"
    )
