"""A convoy that has no plan, yet or for good, has no tasks; people talk to it."""

from pathlib import Path

import pytest

from bot.requests.verb_table import VERBS
from bot.serving import bot_service
from convoy.rules.people import FailConvoy
from tests.bot.another_folder import elsewhere
from tests.bot.room import NAME, Room, room

pytestmark = pytest.mark.layer("landing")

PLANNED_BY_ENGINE = """\
[engine.default]
type = "shell"
args = ["true"]
[mayor]
engine = "default"
"""
NO_PLAN = FailConvoy(convoy=NAME, why="task 1: there is no plan")
LINES = {
    "add": "/brat add -- Write more",
    "depends": "/brat depends 2 on 1",
    "engine": "/brat engine default",
    "lock": "/brat lock path:src/",
    "logs": "/brat logs 1",
    "priority": "/brat priority p0",
    "renew": "/brat renew path:src/",
    "tell": "/brat tell 1 -- More.",
    "unlock": "/brat unlock path:src/",
    "why": "/brat why 1",
    "drop": "/brat drop 1",
}


async def other_issue(here: Room, title: str) -> int:
    issue = await here.person.open_issue(title, "- [ ] only\n")
    await here.person.relabel(issue, {"brat"}, set())
    return issue


async def test_more_is_asked_for_where_the_plan_was_refused(tmp_path: Path) -> None:
    config = PLANNED_BY_ENGINE
    async with room(tmp_path, config, text="Do it.", delivered=True) as here:
        await here.do(NO_PLAN)
        await here.until(lambda: here.convoy_state() == "failed")
        assert here.convoy.tasks == ()

        await here.person.say(here.issue, "/brat add -- Write more")
        await here.until(lambda: "That cannot be done" in here.spoken()[-1])
        assert f"{NAME} is failed" in here.spoken()[-1]

        other = await other_issue(here, "Another")
        await here.until(lambda: here.labels(other) == {"brat:active"})

        settings = here.loop.context.settings
        again = elsewhere(settings, tmp_path / "another")
        async with bot_service.opened(again, lambda _: None) as loop:
            await here.loop.release()
            third = await other_issue(here, "A third")
            await loop.tick()
            assert loop.context.troubles == {}
            assert here.labels(third) == {"brat:active"}


@pytest.mark.parametrize("failed", [True, False])
async def test_every_verb_is_answered_where_there_is_no_task(
    tmp_path: Path, *, failed: bool
) -> None:
    async with room(tmp_path, PLANNED_BY_ENGINE, text="Do it.") as here:
        if failed:
            await here.do(NO_PLAN)
        assert here.convoy.tasks == ()
        for verb in VERBS:
            if verb.name == "start":
                continue  # it begins another convoy
            line = LINES.get(verb.name, f"/brat {verb.name}")

            reply = await here.answer(line)

            assert reply.startswith(("<!-- brat:key=", f"{NAME} ")), line
            assert here.loop.context.troubles == {}, line
            assert here.loop.context.inbox.remarks() == {}, line
