"""What an issue is, is decided before there is a convoy."""

from pathlib import Path

import pytest

from tests.bot.roles.test_chosen_pattern import again, titles
from tests.bot.room import Room, room
from tests.world.issue_form import FORM

pytestmark = pytest.mark.timeout(120)
CONFIG = '[mayor]\nengine = "default"\n'


def has_convoy(here: Room, issue: int) -> bool:
    state = here.loop.context.mirror.state
    return issue in {convoy.issue for convoy in state.convoys.values()}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("- [ ] a (after 2)\n- [ ] b (after 1)", "in a circle: 1 for 2, 2 for 1"),
        ("- [ ] a engine: quantum", 'there is no engine "quantum"'),
        ("- [ ] a paths: ../b", 'must not contain ".."'),
        ("- [ ] #12", "only names another issue"),
        ("- [x] a", "nothing is left to do"),
    ],
)
async def test_a_fault_is_said_and_there_is_no_convoy(
    tmp_path: Path, text: str, told: str
) -> None:
    async with room(tmp_path, {}, roles=("mayor",)) as here:
        said, issue = await again(here, f"/brat start -- {text}")

        assert told in said
        assert not has_convoy(here, issue)


async def test_a_ticked_form_is_one_task_and_says_why(tmp_path: Path) -> None:
    form = {"../.github/ISSUE_TEMPLATE/bug.yml": FORM}
    text = "It hangs:\n- [x] Linux\n- [x] I have searched the existing issues"
    async with room(tmp_path, form, roles=("mayor",)) as here:
        _, issue = await again(here, f"/brat start -- {text}")
        state = here.loop.context.mirror.state
        [convoy] = [c for c in state.convoys.values() if c.issue == issue]

        assert titles(here, issue) == ["Say hello"]
        assert convoy.warnings[0].startswith("this is an issue form: 2 boxes are")


@pytest.mark.parametrize(
    ("box", "planner"),
    [("[ ] I want to work on this", "default"), ("[ ] Write the reader", "")],
)
async def test_an_engine_is_asked_when_boxes_are_no_tasks(
    tmp_path: Path, box: str, planner: str
) -> None:
    async with room(tmp_path, {"config.toml": CONFIG}, roles=("mayor",)) as here:
        _, issue = await again(here, f"/brat start -- - {box}")
        state = here.loop.context.mirror.state
        [convoy] = [c for c in state.convoys.values() if c.issue == issue]

        assert convoy.settings.planner == planner
