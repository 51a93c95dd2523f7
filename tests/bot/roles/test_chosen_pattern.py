"""A convoy by a pattern, asked for in a comment or by what is configured."""

from pathlib import Path

import pytest

from tests.bot.room import Room, room

pytestmark = [pytest.mark.timeout(120), pytest.mark.layer("landing")]
GREET = "workflows/greet.yml"
OWN = """\
description: Two steps.
inputs:
  name: {description: whom to greet}
steps:
  - {id: say, title: "Greet {{name}}", body: "{{task}}"}
  - {id: tell, title: "Tell of {{name}}", body: "{{title}}", needs: [say]}
"""


async def again(here: Room, command: str) -> tuple[str, int]:
    """Ask on another issue; return the answer and the issue."""
    before = [*here.spoken(), *here.shown(), command]
    issue = await here.person.open_issue("Say hello", "To everybody.")
    await here.person.say(issue, command)
    here.loop.wake.all()
    await here.loop.tick()
    said = [*here.spoken(), *here.shown()]
    return "\n".join(text for text in said if text not in before), issue


def titles(here: Room, issue: int) -> list[str]:
    state = here.loop.context.mirror.state
    [convoy] = [each for each in state.convoys.values() if each.issue == issue]
    return [task.spec.title for task in convoy.tasks]


async def test_a_comment_asks_for_a_pattern_of_the_repository(tmp_path: Path) -> None:
    async with room(tmp_path, {GREET: OWN}, roles=("mayor",)) as here:
        text, issue = await again(here, '/brat start pattern=greet name="Ann B"')
        [convoy] = [
            each
            for each in here.loop.context.mirror.state.convoys.values()
            if each.issue == issue
        ]

        assert "The convoy is being planned." in text
        assert titles(here, issue) == ["Greet Ann B", "Tell of Ann B"]
        assert convoy.tasks[1].spec.after == (1,)
        assert (convoy.pattern, convoy.inputs) == ("greet", {"name": "Ann B"})
        assert convoy.planner == "pattern greet"


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("/brat start pattern=gret", 'there is no pattern "gret"'),
        ("/brat start pattern=gret", "did you mean greet?"),
        ("/brat start pattern=Greet!", "is not a pattern"),
        ("/brat start pattern=greet", "needs name=… (whom to greet)"),
        ("/brat start pattern=greet nmae=x", "did you mean name?"),
        ("/brat start patern=greet", "did you mean pattern?"),
        ("/brat start pattern=broken", "line 1: this is not YAML"),
    ],
)
async def test_what_cannot_be_planned_is_refused_and_nothing_begins(
    tmp_path: Path, command: str, told: str
) -> None:
    files = {GREET: OWN, "workflows/broken.yml": "steps: ["}
    async with room(tmp_path, files, roles=("mayor",)) as here:
        text, issue = await again(here, command)

        assert told in text
        convoys = here.loop.context.mirror.state.convoys.values()
        assert issue not in {convoy.issue for convoy in convoys}


async def test_a_configured_pattern_plans_what_has_no_task_list(tmp_path: Path) -> None:
    config = '[mayor]\npattern = "greet"\n'
    plain = OWN.replace("{description: whom to greet}", '{default: "all"}')
    files = {GREET: plain, "config.toml": config}
    async with room(tmp_path, files, roles=("mayor",)) as here:
        assert [task.spec.title for task in here.convoy.tasks] == ["one", "two"]

        _, issue = await again(here, "/brat start")
        assert titles(here, issue) == ["Greet all", "Tell of all"]

        _, issue = await again(here, "/brat start pattern=none")
        assert titles(here, issue) == ["Say hello"]
