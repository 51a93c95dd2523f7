"""How many comments and mentions each story takes, with few and with all of them."""

from itertools import pairwise
from pathlib import Path

import pytest

from convoy.rules.landing import FailMerge
from convoy.rules.people import BlockTask
from tests.bot.lobby import CONFIG as SHELL
from tests.bot.room import NAME, Room, room

pytestmark = pytest.mark.layer("landing")

CONFIG = f"""\
{SHELL}[witness]
attempts = 2
[refinery]
approvals = 1
[notify]
comments = "{{comments}}"
"""


def count(here: Room) -> tuple[int, int]:
    own = [text for text in here.spoken() if "brat:key=" in text]
    return len(own), sum(text.count("@you") + text.count("@bea") for text in own)


async def blocked(here: Room) -> None:
    await here.do(BlockTask(convoy=NAME, task=1, why="no CI"))
    await here.loop.tick()
    await here.said("/brat retry 1")
    assert here.task(1).state == "queued"


async def approval(here: Room) -> None:
    head = await here.worked(2, {"two.py": b"two\n"})
    await here.loop.tick()
    await here.said(f"/brat approve {head}", by=here.let_in("bea"), on=here.pull(2))
    assert here.task(2).approved_by == ("bea",)


async def red(here: Room) -> None:
    await here.loop.tick()
    candidate = here.task(2).candidate
    assert candidate is not None
    why = f"CI is red on {candidate.commit[:10]}: 1 failed"
    fail = FailMerge(
        convoy=NAME, task=2, candidate=candidate.commit, cause="red", why=why
    )
    await here.do(fail)
    await here.loop.tick()


@pytest.mark.parametrize(
    ("comments", "counts"),
    [
        ("needed", [(1, 0), (1, 1), (1, 1), (0, 0)]),
        ("all", [(1, 0), (2, 2), (2, 2), (0, 0)]),
    ],
)
async def test_a_person_is_mentioned_once_a_story(
    tmp_path: Path, comments: str, counts: list[tuple[int, int]]
) -> None:
    async with room(tmp_path, CONFIG.format(comments=comments)) as here:
        counted = [(0, 0), count(here)]
        for story in (blocked, approval, red):
            await story(here)
            counted.append(count(here))

    came = [(said - a, named - b) for (a, b), (said, named) in pairwise(counted)]
    assert came == counts, "the convoy's own comment, blocked, approval, red"
