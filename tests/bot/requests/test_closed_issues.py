"""A person's no on an issue: closed, or its label taken off.

Told by a delivery, found by a sweep, or seen only by the look before a landing.
"""

from pathlib import Path

import pytest

from convoy.model import ids
from tests.bot.requests.test_closed_pulls import (
    APPROVED,
    FILES,
    approve,
    called,
    kept_back,
)
from tests.bot.room import NAME, Room, room

pytestmark = pytest.mark.layer("landing")

BASE = ids.base_branch(NAME)
ASKED = "reopen the issue or say `/brat resume`"


async def turn(here: Room, state: str) -> None:
    await here.asked("PATCH", f"issues/{here.issue}", {"state": state})


@pytest.mark.parametrize("found_by", ["delivery", "sweep", "landing"])
async def test_nothing_lands_of_a_closed_issue_until_it_is_reopened(
    tmp_path: Path, found_by: str
) -> None:
    async with room(tmp_path, APPROVED, delivered=found_by == "delivery") as here:
        head = await here.worked(1, FILES)
        await turn(here, "closed")
        if found_by == "delivery":
            await here.until(lambda: here.convoy_state() == "paused")
        elif found_by == "sweep":
            await here.swept()
        await approve(here, head)
        await here.swept()

        assert here.convoy_state() == "paused"
        assert here.task(1).state == "needs-review"
        assert here.tip(BASE) == here.tip("main")
        assert called(here, ASKED) == 1
        assert f"issue #{here.issue} was closed" in kept_back(here)

        await turn(here, "open")
        await here.swept()
        assert here.task(1).state == "merged"
        assert here.convoy_state() == "active"
        assert called(here, ASKED) == 1


@pytest.mark.room("[refinery]\nrequire_ci = false\n")
async def test_a_person_lets_the_convoy_of_a_closed_issue_go_on(here: Room) -> None:
    await turn(here, "closed")
    await here.swept()
    assert here.convoy_state() == "paused"

    await here.answer("/brat pause all")
    answer = await here.answer("/brat resume all")
    assert f"Still paused for another reason: #{here.issue}." in answer
    assert here.convoy_state() == "paused"
    await here.answer("/brat resume")
    await here.worked(1, FILES)
    await here.swept()

    assert here.task(1).state == "merged"
    assert called(here, ASKED) == 1
    await turn(here, "open")
    await turn(here, "closed")
    await here.swept()
    assert here.convoy.issue_is == "overruled"  # nobody saw it open


async def test_reopening_resumes_only_what_the_closing_paused(here: Room) -> None:
    await here.answer("/brat pause")
    await turn(here, "closed")
    await here.swept()
    assert called(here, ASKED) == 1
    await turn(here, "open")
    await here.swept()

    assert here.convoy_state() == "paused"
    assert here.convoy.issue_is == "open"


@pytest.mark.room('[mayor]\napprove = "plan"\n')
async def test_a_plan_approved_on_a_closed_issue_starts_when_a_person_says_so(
    here: Room,
) -> None:
    await turn(here, "closed")
    await here.swept()
    await here.answer("/brat approve")
    assert here.convoy.kept_by

    assert "The convoy continues" in await here.answer("/brat resume")
    assert (here.convoy_state(), here.convoy.kept_by) == ("active", "")


@pytest.mark.room(APPROVED)
async def test_a_label_taken_off_just_before_the_landing_counts(here: Room) -> None:
    head = await here.worked(1, FILES)
    label = f"issues/{here.issue}/labels/brat:active"
    await here.asked("DELETE", label, None)
    await approve(here, head)
    await here.swept()

    assert here.convoy.why == "cancelled: you removed the label"
    assert here.tip(BASE) == here.tip("main")


@pytest.mark.room(delivered=True)
async def test_taking_the_label_off_ends_the_convoy_and_says_how_to_ask_again(
    here: Room,
) -> None:
    await here.until(lambda: here.labels() == {"brat:active"})
    label = f"issues/{here.issue}/labels/brat:active"
    await here.asked("DELETE", label, None)
    await here.until(lambda: here.convoy_state() == "failed")
    await here.swept()

    assert here.convoy.why == "cancelled: you removed the label"
    assert called(here, "To start a new convoy, add the label `brat` again") == 1
    assert here.labels() == {"brat:failed"}
    await here.person.relabel(here.issue, {"brat"}, set())
    await here.swept()
    assert len(here.state.convoys) == 2


@pytest.mark.room("[refinery]\nrequire_ci = false\n", text="- [ ] one", delivered=True)
async def test_the_issue_that_brat_closes_asks_nobody(here: Room) -> None:
    await here.worked(1, FILES)
    await here.until(lambda: here.convoy_state() == "complete")
    await here.swept()

    assert called(here, ASKED) == 0
    assert here.context.observed.issues == {}
