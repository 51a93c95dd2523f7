"""A convoy's bot is cut off between any two outside calls that write: nothing changes.

One task depends on another, one dies once, one is sent back by CI once.
"""

import asyncio
from itertools import product
from pathlib import Path

import pytest

from tests.whole.crash import Cut, World, story
from tests.world.layers import sampled

MOMENTS = 75
"""More than there are; a test below holds that."""
SPARE = 5
"""Timing lets a run have a few calls more than another."""
STEP = 2
"""Before a call that writes and after the one before it is the same: 2 is all."""

LANDING = {("before", 32), ("after", 16)}
"""The moments that CI looks at on each change."""

pytestmark = pytest.mark.timeout(600)


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> tuple[World, Cut]:
    return asyncio.run(story(tmp_path_factory.mktemp("calm"), -1, after=False))


@pytest.mark.layer("landing")
def test_undisturbed_it_ends_well(calm: tuple[World, Cut]) -> None:
    undisturbed, cut = calm
    assert cut.moments < MOMENTS, cut.names
    assert undisturbed.convoy == "complete"
    assert undisturbed.tasks == (("merged", 1), ("merged", 2), ("merged", 2))
    assert (undisturbed.pulls, undisturbed.merged_pulls) == (4, 4)
    assert (undisturbed.comments, undisturbed.runs) == (1, 5)
    assert undisturbed.issue_closed
    assert not undisturbed.queue_branches
    assert not undisturbed.faults


@pytest.mark.parametrize(
    ("word", "moment"),
    sampled(product(("before", "after"), range(0, MOMENTS, STEP)), LANDING),
)
def test_a_bot_that_dies_at_any_moment_changes_nothing(
    word: str, moment: int, tmp_path: Path, calm: tuple[World, Cut]
) -> None:
    undisturbed, cut = calm
    after = word == "after"
    if moment > cut.moments + SPARE:
        return  # there is no such moment

    world, _ = asyncio.run(story(tmp_path, moment, after=after))

    assert world == undisturbed
