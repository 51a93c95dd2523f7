"""A bot is cut off while a task is split, and it is split once all the same.

One task is too much for its agent, another waits for it. A few moments of all; more
of them in strict mode (.ci/run): test_crash_sweep.py has what all convoys share.
"""

import asyncio
import json
from pathlib import Path

import pytest

from tests.whole.crash import Cut, Plot, World, story

STEP = 9
MOMENTS = 110
"""More than there are; a test below holds that."""
SPARE = 5
PARTS = {
    "tasks": [
        {"title": f"Part {n}", "instructions": "Do it.", "creates": [f"{n}.txt"]}
        for n in (1, 2)
    ]
}
AGENT = f"""\
case $BRAT_TASK in
1) echo "BRAT: blocked these are two things" ;;
3) echo '{json.dumps(PARTS)}' > plan.json ;;
*) echo done > $BRAT_TASK.txt ;;
esac
"""
ENGINE = f"""
type = "shell"
args = ["sh", "-c", \"\"\"{AGENT.replace('"', chr(92) + '"')}\"\"\"]
"""
PLOT = Plot(
    config=f'[mayor]\nengine = "planner"\n[engine.planner]{ENGINE}'
    f"[engine.default]{ENGINE}",
    text="- [ ] both\n- [ ] then this (after 1)\n",
)

pytestmark = pytest.mark.timeout(600)


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> tuple[World, Cut]:
    folder = tmp_path_factory.mktemp("calm")
    return asyncio.run(story(folder, -1, after=False, plot=PLOT))


def test_undisturbed_it_is_split_once(calm: tuple[World, Cut]) -> None:
    undisturbed, cut = calm
    assert cut.moments < MOMENTS, cut.names
    assert undisturbed.convoy == "complete"
    assert undisturbed.tasks == (
        *(("dropped", 1), ("merged", 1), ("merged", 1)),
        *(("merged", 1), ("merged", 1)),
    )
    assert (undisturbed.pulls, undisturbed.merged_pulls) == (4, 4)
    assert (undisturbed.comments, undisturbed.runs) == (2, 5)
    assert not undisturbed.queue_branches
    assert not undisturbed.faults


@pytest.mark.parametrize(
    ("word", "moment"),
    [(word, at) for word in ("before", "after") for at in range(1, MOMENTS, STEP)],
)
def test_a_bot_that_dies_at_any_moment_splits_it_once(
    word: str, moment: int, tmp_path: Path, calm: tuple[World, Cut]
) -> None:
    undisturbed, cut = calm
    after = word == "after"
    if moment > cut.moments + SPARE:
        return  # there is no such moment

    world, _ = asyncio.run(story(tmp_path, moment, after=after, plot=PLOT))

    assert world == undisturbed
