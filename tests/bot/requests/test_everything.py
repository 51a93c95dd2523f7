"""`pause all` stops the whole repository, also for what is asked for later."""

import pytest

from tests.bot.room import LIST, NAME, Room


async def labelled(here: Room, title: str) -> int:
    issue = await here.person.open_issue(title, LIST)
    await here.person.relabel(issue, {"brat"}, set())
    await here.swept()
    return issue


async def test_everything_stops_and_goes_on_by_a_persons_word(here: Room) -> None:
    said = await here.answer("/brat pause all")
    assert "Everything is paused, including 1 convoy." in said
    assert here.convoy_state() == "paused"
    assert here.convoy.why == "you paused everything in this repository"
    assert "you already paused everything" in await here.answer("/brat pause all")

    other = await labelled(here, "Do more")
    assert "say `/brat resume all`, then ask again" in here.spoken()[-1]
    assert here.labels(other) == set()

    assert "including 1 convoy" in await here.answer("/brat resume all")
    assert here.convoy_state() == "active"
    assert "nothing is paused" in await here.answer("/brat resume all")
    again = await labelled(here, "Do more of it")
    assert here.labels(again) == {"brat:active"}


@pytest.mark.room('[mayor]\napprove = "plan"\n')
async def test_a_plan_is_not_approved_while_everything_is_paused(here: Room) -> None:
    await here.answer("/brat pause all")

    assert "paused everything" in await here.answer("/brat approve")
    assert here.convoy_state() == "planning"
    await here.answer("/brat resume all")
    said = await here.answer("/brat approve 1234567")
    assert "use this command on the pull request for that commit" in said
    assert "The plan is approved" in await here.answer("/brat approve")
    assert (here.convoy_state(), here.labels()) == ("active", {"brat:active"})
    assert here.tip(f"convoy/{NAME}/base") == here.tip("main")
    assert "is active, not planning" in await here.answer("/brat approve")
