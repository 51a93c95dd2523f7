"""Pressing "Re-run" or a button on a check of the bot's is a command."""

import pytest

from bot.door.inbox import CheckAction
from bot.requests.answers import check_views
from bot.requests.verb_table import VERBS
from brat.forge.resources.forge_records import CheckRun
from convoy.rules.people import BlockTask
from tests.bot.room import NAME, REPO, Room
from tests.world.app_key import pair
from tests.world.github_forge.apps import Apps, NewApp
from tests.world.github_forge.extension import github

pytestmark = pytest.mark.layer("landing")

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


@pytest.mark.room("[refinery]\napprovals = 1\n")
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


async def test_no_other_verb_is_a_button_and_a_rerun_retries_all(here: Room) -> None:
    await here.do(BlockTask(convoy=NAME, task=2, why="no CI"))
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
