"""`pause all` stops the whole repository, also for what is asked for later."""

from pathlib import Path

from tests.bot.room import LIST, Room, room


async def labelled(here: Room, title: str) -> int:
    """Open another issue and label it; return its number."""
    issue = await here.person.open_issue(title, LIST)
    await here.person.relabel(issue, {"brat"}, set())
    await here.swept()
    return issue


async def test_everything_stops_and_goes_on_by_a_persons_word(tmp_path: Path) -> None:
    async with room(tmp_path) as here:
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


async def test_a_plan_is_not_approved_while_everything_is_paused(
    tmp_path: Path,
) -> None:
    async with room(tmp_path, '[mayor]\napprove = "plan"\n') as here:
        await here.answer("/brat pause all")

        assert "paused everything" in await here.answer("/brat approve")
        assert here.convoy_state() == "planning"
        await here.answer("/brat resume all")
        assert "The plan is approved" in await here.answer("/brat approve")
