"""Reviews, ticked boxes and buttons of checks ask for what commands ask for."""

import pytest

from bot.door.inbox import CheckAction
from bot.requests.answers import check_views
from bot.requests.verb_table import VERBS
from brat.forge.resources.forge_records import CheckRun
from convoy.rules.people import BlockTask
from tests.bot.room import FILES, NAME, REPO, Room
from tests.bot.there import there
from tests.world.app_key import pair
from tests.world.github_forge.apps import Apps, NewApp
from tests.world.github_forge.extension import github

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


# --- buttons of checks ----------------------------------------------------------------


RED = """\
CI is red on 0123456789: tests/test_a.py::test_a

>   assert 1 == 2
E   assert 1 == 2

tests/test_a.py:7: AssertionError
FAILED tests/test_a.py::test_a - assert 1 == 2
"""


@pytest.mark.room(delivered=True, extend=github)
async def test_the_buttons_of_a_check_of_an_app_are_commands(here: Room) -> None:
    (door,) = here.forge.store.hooks.all()
    new = NewApp(
        slug="brat",
        owner="you",
        public_key=pair()[1],
        permissions={"checks": "write"},
        events=("check_run",),
        hook=(door.url, door.secret),
    )
    Apps(here.forge).add(new)
    Apps(here.forge).install("brat", REPO)
    await here.worked(1, {"a.py": b"a\n"})
    await here.do(BlockTask(convoy=NAME, task=1, why=RED))
    checks = here.forge.store.check_runs

    def made() -> list[CheckRun]:
        return [one for one in checks.all() if one.conclusion == "action_required"]

    await here.until(made)
    (check,) = made()
    assert [each["label"] for each in check.actions] == ["Try again", "Give up"]
    assert check.annotations == 1
    assert "E   assert 1 == 2" in (check.output.summary or "")

    await here.pressed(check.id, "drop", by="mallory")
    await here.until(lambda: "requires write access" in here.spoken()[-1])
    assert here.task(1).state == "blocked"

    await here.pressed(check.id, "drop")
    await here.until(lambda: here.task(1).state == "dropped")
    await here.until(lambda: not (checks.get(check.id) or check).actions)
    assert (checks.get(check.id) or check).annotations == 1


@pytest.mark.room(APPROVALS)
async def test_a_button_approves_the_commit_of_its_check(here: Room) -> None:
    here.let_in("bea")
    head = await here.worked(1, {"a.py": b"a\n"})
    await here.loop.tick()
    (button,) = check_views(here.convoy, "")
    assert [each["identifier"] for each in button.buttons] == ["approve"]

    for number, commit in enumerate(("b" * 40, head)):
        pressed = CheckAction(
            convoy=NAME, task=1, by="bea", verb="approve", commit=commit
        )
        here.context.inbox.put(f"press-{number}", pressed)
        await here.loop.tick()
        assert bool(here.task(1).approved_by) == (commit == head)


@pytest.mark.room
async def test_no_other_verb_is_a_button_and_a_rerun_retries_all(here: Room) -> None:
    await here.do(BlockTask(convoy=NAME, task=2, why="no CI"))
    await here.swept()
    before = here.convoy
    for verb in ("abort", "help", "Drop", ""):
        pressed = CheckAction(convoy=NAME, task=1, by="you", verb=verb)
        here.context.inbox.put("press", pressed)
        await here.loop.tick()
        assert here.context.inbox.signs() == {}
    assert here.convoy == before

    for _ in range(2):
        here.context.inbox.put("d", CheckAction(convoy=NAME, task=0, by="you"))
        await here.loop.tick()
    assert here.task(2).state == "queued"
    (said,) = here.shown()
    assert "Task 2 is queued again" in said


def test_the_buttons_are_as_short_as_the_forge_takes() -> None:
    for verb in VERBS:
        if (button := verb.on_check) is not None:
            assert max(len(button.label), len(verb.name)) <= 20
            assert len(button.says) <= 40
