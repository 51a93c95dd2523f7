"""Staged mode: all is planned and shown, and nothing is written but one comment."""

from pathlib import Path

import pytest

from tests.bot.room import EVERYBODY, NAME, Room, room
from tests.world.traffic import Exchange

STAGED = 'staged = true\n[engine.default]\ntype = "shell"\nargs = ["true"]\n'
pytestmark = pytest.mark.room(STAGED)
PLANNED_BY_ENGINE = STAGED + '[mayor]\nengine = "default"\n'


def branches(here: Room) -> set[str]:
    return {ref for ref in here.context.mirror.refs if ref.startswith("refs/heads/")}


async def test_a_staged_convoy_writes_one_comment_and_nothing_else(
    tmp_path: Path,
) -> None:
    seen: list[Exchange] = []
    async with room(
        tmp_path, PLANNED_BY_ENGINE, roles=EVERYBODY, observe=seen.append
    ) as here:
        seen.clear()
        await here.swept()

        (comment,) = here.spoken()
        assert "**Staged:** nothing has started, and nothing will." in comment
        assert "start 2 sessions at once (2 tasks by `default`)" in comment
        assert "| 1 | one | queued |" in comment
        assert "remove `staged = true` from" in comment
        assert "Approve the plan" not in comment
        assert {each.method for each in seen} <= {"GET"}
        assert here.labels() == {"brat"}
        assert branches(here) == {"refs/heads/main"}
        assert here.convoy_state() == "planning"


async def test_it_goes_on_once_staged_is_taken_out(here: Room) -> None:
    said = await here.answer("/brat approve")
    assert "remove `staged = true` from `.brat/config.toml`" in said
    assert here.convoy_state() == "planning"

    await here.configured(STAGED.replace("true\n", "false\n", 1))
    said = await here.answer("/brat approve")

    assert "The plan is approved" in said
    assert here.convoy_state() == "active"
    assert here.labels() == {"brat:active"}
    assert f"refs/heads/convoy/{NAME}/base" in branches(here)
    assert "Staged" not in here.spoken()[0]
