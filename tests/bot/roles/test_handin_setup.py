"""A setup that failed is nobody's attempt: a person is told why, and asked."""

import json
from pathlib import Path

from bot.roles.handin import collect
from convoy.owed.actions import Collect
from convoy.rules.stop_task import RetryTask
from tests.bot.result_artifacts import zipped
from tests.bot.room import NAME, room

CONFIG = '[engine.default]\ntype = "shell"\nargs = ["true"]\n'
WHY = ".brat/setup.sh exited with status 4: No package foo."


async def test_it_blocks_the_task_and_costs_no_attempt(tmp_path: Path) -> None:
    async with room(tmp_path, CONFIG) as here:
        await here.started(1, run=77)
        context = here.loop.context
        draft = context.draft()
        task = draft.state.convoys[NAME].task(1)
        assert task is not None
        assert task.attempt is not None
        result = {
            "v": 1,
            "session": f"{NAME}/1/1",
            "nonce": task.attempt.nonce,
            "conclusion": "failure",
            "outcome": "setup",
            "why": WHY,
            "base": task.attempt.base,
        }
        data = zipped(("result.json", json.dumps(result).encode()))

        collect(context, draft, Collect(NAME, 1, 77), data)

        task = draft.state.convoys[NAME].task(1)
        assert task is not None
        assert (task.state, task.why, task.spent) == ("blocked", WHY, 0)
        assert draft.submit(RetryTask(convoy=NAME, task=1, by="ann")) is None
        task = draft.state.convoys[NAME].task(1)
        assert task is not None
        assert task.state == "queued"
