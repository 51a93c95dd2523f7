"""An agent says that nothing is to be done: that counts where a command agrees."""

from pathlib import Path

import pytest

from tests.bot.roles.test_handin_half_done import CONFIG, handed_in
from tests.bot.room import room

NOOP = {"status": "noop", "conclusion": "noop"}
CHECKED = "- [ ] Add a accept: `test -e a`\n"


async def test_a_task_whose_command_passes_is_settled(tmp_path: Path) -> None:
    async with room(tmp_path, CONFIG, text=CHECKED) as here:
        assert here.task(1).spec.acceptance == "test -e a"
        await here.started(1, run=77)

        task = await handed_in(here, **NOOP, accepted=True)

        assert (task.state, task.landed) == ("merged", None)


@pytest.mark.parametrize("text", [CHECKED, "- [ ] Add a\n"])
async def test_without_it_the_attempt_failed(tmp_path: Path, text: str) -> None:
    accepted = None if text is CHECKED else True  # a claim that nobody asked for
    async with room(tmp_path, CONFIG, text=text) as here:
        await here.started(1, run=77)

        task = await handed_in(here, **NOOP, accepted=accepted)

        assert task.state == "queued"
        assert "nothing is to be done" in task.why
        assert "no acceptance command that could agree" in task.why
