"""Labels that people set are obeyed; labels that the bot sets stay true."""

import pytest

from bot.door.inbox import ALL_PARTS
from tests.bot.room import NAME, Room

pytestmark = pytest.mark.layer("landing")

FILES = {"README.md": b"# app\n", "one.py": b"one\n"}
FREE = "[refinery]\nrequire_ci = false\n"


async def labelled(here: Room, number: int, *add: str) -> None:
    await here.person.relabel(number, {*add}, set())


async def unlabelled(here: Room, number: int, *remove: str) -> None:
    await here.person.relabel(number, set(), {*remove})


@pytest.mark.room(FREE, delivered=True)
async def test_nothing_of_a_held_issue_starts_or_merges(here: Room) -> None:
    await labelled(here, here.issue, "brat:hold")
    await here.until(lambda: here.convoy.held == "brat:hold")
    await here.until(lambda: "Held" in here.spoken()[0])

    assert here.tip(f"convoy/{NAME}/base") == here.tip("main")
    assert here.labels() == {"brat:active", "brat:hold"}
    await unlabelled(here, here.issue, "brat:hold")
    await here.until(lambda: not here.convoy.held)

    await here.worked(1, FILES)
    await here.until(lambda: here.task(1).state == "merged")


@pytest.mark.room("[refinery]\napprovals = 1\nrequire_ci = false\n")
async def test_a_held_pull_request_does_not_merge(here: Room) -> None:
    head = await here.worked(1, FILES)
    bea, pull = here.let_in("bea"), here.pull(1)
    await labelled(here, pull, "brat:hold")
    here.loop.wake.up("issues")
    await here.loop.tick()
    assert here.task(1).held == "brat:hold"

    await here.said(f"/brat approve {head}", by=bea, on=pull)
    assert here.task(1).state == "needs-review"
    await unlabelled(here, pull, "brat:hold")
    here.loop.wake.up("issues")
    await here.until(lambda: here.task(1).state == "merged")


async def test_an_issue_that_is_off_limits_is_left_alone(here: Room) -> None:
    other = await here.person.open_issue("Not this", "- [ ] one")
    await labelled(here, other, "brat", "brat:no")
    before = here.spoken()

    await here.swept()
    said, reactions = await here.said("/brat ping", on_issue=other)

    assert len(here.state.convoys) == 1
    assert (said, reactions) == ("", [])
    assert here.labels(other) == {"brat", "brat:no"}
    assert len(here.spoken()) == len(before) + 1


async def test_a_convoy_whose_issue_becomes_off_limits_stands_still(here: Room) -> None:
    await labelled(here, here.issue, "brat:no")
    here.loop.wake.up("issues")
    await here.loop.tick()
    shown = here.spoken()[0]

    said, reactions = await here.said("/brat cancel")

    assert here.convoy.held == "brat:no"
    assert (said, reactions) == ("", [])
    assert here.convoy_state() == "active"
    assert here.spoken()[0] == shown


async def test_labels_that_show_a_state_stay_true(here: Room) -> None:
    await unlabelled(here, here.issue, "brat:active")
    await labelled(here, here.issue, "brat:complete", "bug")

    for part in ALL_PARTS:
        here.loop.wake.up(part)
    await here.loop.tick()

    assert here.labels() == {"brat:active", "bug"}
