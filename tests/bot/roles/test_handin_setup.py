"""A setup that failed and a hand-off that was not taken are nobody's attempt.

A person is told why, and asked.
"""

import json
from pathlib import Path

import pytest

from bot.roles.handin import collect
from convoy.owed import Collect
from convoy.rules.people import RetryTask
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


TURNED = "Commit 1234 hands nothing to this job: the key that signed it is not allowed."


@pytest.mark.parametrize("attempt", [1, 2])
async def test_a_hand_off_that_was_not_taken_blocks_the_task_with_the_jobs_words(
    tmp_path: Path, attempt: int
) -> None:
    async with room(tmp_path, CONFIG) as here:
        await here.started(1, run=77)
        context = here.loop.context
        draft = context.draft()
        session = f"{NAME}/1/{attempt}"
        told = {"v": 1, "session": session, "why": TURNED}
        data = zipped(("turned-away.json", json.dumps(told).encode()))

        collect(context, draft, Collect(NAME, 1, 77), data)

        task = draft.state.convoys[NAME].task(1)
        assert task is not None
        if attempt == 1:
            assert (task.state, task.spent) == ("blocked", 0)
            assert task.why == f"Its job had no valid hand-off. {TURNED}"
        else:
            assert (task.state, task.cause) == ("queued", "refused")
