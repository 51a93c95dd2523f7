"""Nothing is to be done: an agent says so and a command agrees, or the branch does."""

from pathlib import Path

import pytest

from tests.bot.roles.test_handin_half_done import CONFIG, handed_in
from tests.bot.room import NAME, room

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
        assert "there is nothing to do" in task.why
        assert "no acceptance command to confirm that" in task.why


@pytest.mark.layer("landing")
@pytest.mark.parametrize("strategy", ["rebase", "squash", "merge"])
async def test_what_other_work_has_landed_is_nothing_to_do(
    tmp_path: Path, strategy: str
) -> None:
    config = f'[refinery]\nstrategy = "{strategy}"\n'
    async with room(tmp_path, config) as here:
        work = await here.worked(1, {"one.py": b"one\n"})
        assert here.task(1).state == "needs-review"

        tip = await here.landed_on_base({"one.py": b"one\n"})
        await here.until(lambda: here.task(1).state == "merged")

        assert here.task(1).landed is None
        assert "already has all of its changes" in here.task(1).why
        assert here.tip(f"convoy/{NAME}/base") == tip
        assert here.tip(f"convoy/{NAME}/task-1") == tip
        kept = here.loop.context.mirror.refs.values()
        assert work in kept
