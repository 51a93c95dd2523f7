"""People are told by a comment of its own, which mentions who asked, what to do."""

import pytest

from convoy.rules.ending import RefuseWork
from tests.bot.lobby import CONFIG as SHELL
from tests.bot.room import NAME, Room

ONE_TRY = f"""\
{SHELL}[witness]
attempts = 1
"""
pytestmark = pytest.mark.room(ONE_TRY)


BRITTLE = f"""\
{SHELL}[witness]
failures = 1
"""


@pytest.mark.room(BRITTLE, roles=("mayor",))
async def test_what_only_fails_pauses_and_says_so(here: Room) -> None:
    await here.started(1)
    await here.do(
        RefuseWork(convoy=NAME, task=1, attempt=1, cause="failed", why="a wrong key")
    )
    here.configure(roles=("mayor", "witness"))
    await here.loop.tick()

    assert here.convoy_state() == "paused"
    assert not [*here.state.running()]
    comment, told = here.spoken()
    assert "@you Every convoy in this repository is paused: too many" in told
    assert "**Why:** too many attempts in a row failed" in comment

    here.configure(roles=("mayor",))
    await here.answer("/brat resume all")
    assert here.convoy_state() == "active"
    assert here.state.failures == 0


CONFIG = "[mayor]\nask = true\n"


def texts(here: Room) -> dict[int, str]:
    """Return the text of each convoy's issue, by the issue."""
    convoys = here.state.convoys.values()
    return {convoy.issue: convoy.text for convoy in convoys}


async def labelled(here: Room, issue: int) -> None:
    await here.person.relabel(issue, {here.context.settings.label}, set())
    await here.swept()


@pytest.mark.timeout(120)
@pytest.mark.room(CONFIG, roles=("mayor",))
async def test_questions_come_once_and_an_answer_begins(here: Room) -> None:
    issue = await here.person.open_issue("Fix the bug", "")
    await labelled(here, issue)
    asked = [text for text in here.spoken() if "more details" in text]

    assert len(asked) == 1
    assert "3. How can you tell that it is done" in asked[0]
    assert issue not in texts(here)

    await labelled(here, issue)
    assert len([t for t in here.spoken() if "1. What is wrong" in t]) == 1
    assert issue not in texts(here)

    await here.person.say(issue, "/brat start -- The greeting lacks a name.")
    await here.swept()
    assert "The greeting lacks a name." in texts(here)[issue]
