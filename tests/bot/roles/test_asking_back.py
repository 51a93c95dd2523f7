"""An issue that says too little is asked about once, and planned when answered."""

import pytest

from tests.bot.room import Room

pytestmark = pytest.mark.timeout(120)
CONFIG = "[mayor]\nask = true\n"


def texts(here: Room) -> dict[int, str]:
    """Return the text of each convoy's issue, by the issue."""
    convoys = here.state.convoys.values()
    return {convoy.issue: convoy.text for convoy in convoys}


async def labelled(here: Room, issue: int) -> None:
    await here.person.relabel(issue, {here.context.settings.label}, set())
    await here.swept()


@pytest.mark.room({"config.toml": CONFIG}, roles=("mayor",))
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
