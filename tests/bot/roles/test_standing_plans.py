"""A plan's approval counts for as long as the forge shows it."""

import pytest

from bot.loop.staging import stage
from bot.repository.draft import Draft
from bot.text import replies as texts
from convoy.events.people_events import ApprovePlan
from tests.bot.room import FILES, NAME, Room

PLANNED = '[mayor]\napprove = "plan"\n[refinery]\nrequire_ci = false\n'
pytestmark = [pytest.mark.layer("landing"), pytest.mark.room(PLANNED)]


async def approved(here: Room, by: str) -> int:
    """Let somebody approve the plan by a comment; return its id."""
    await here.answer("/brat approve", by=by)
    comment = here.convoy.vouched_in
    assert comment
    return comment


async def take_back(here: Room, comment: int, by: str, how: str) -> None:
    path = f"issues/comments/{comment}"
    if how == "deletes":
        await here.asked("DELETE", path, None, by)
    else:
        await here.asked("PATCH", path, {"body": "Not `/brat approve`"}, by)


async def starting(here: Room) -> Draft:
    """Return what the witness would start now."""
    roles = here.context.settings.roles
    here.configure(roles=("witness",))
    draft = here.context.draft()
    await stage(draft)
    here.configure(roles=roles)
    return draft


@pytest.mark.parametrize(
    ("how", "whys"),
    [
        ("deletes", {texts.NO_COMMENT}),
        # within a second, or later
        ("edits", {texts.EDITED_APPROVAL, texts.NOT_THE_PLAN}),
    ],
)
async def test_nothing_starts_by_an_approval_that_was_taken_back(
    here: Room, how: str, whys: set[str]
) -> None:
    bea, cleo = here.let_in("bea"), here.let_in("cleo")
    comment = await approved(here, bea)
    assert len([*(await starting(here)).state.running()]) == 2

    await take_back(here, comment, bea, how)
    draft = await starting(here)

    paused = draft.state.convoys[NAME]
    assert paused.state == "paused"
    assert paused.why in whys
    assert [*draft.state.running()] == []
    [intent] = draft.state.intents.values()
    told = f"@bea's approval of the plan no longer counts: {paused.why}."
    assert told in intent.text

    await here.answer("/brat pause", by=cleo)
    await here.answer("/brat resume", by=cleo)
    assert len([*(await starting(here)).state.running()]) == 2


async def test_an_approval_is_nobody_elses_comment(here: Room) -> None:
    bea, mallory = here.let_in("bea"), here.let_in("mallory")
    comment = await here.written(here.issue, "/brat approve", mallory)
    await here.do(ApprovePlan(convoy=NAME, by=bea, comment=comment))

    await here.loop.tick()
    draft = await starting(here)

    assert draft.state.convoys[NAME].state == "paused"


async def test_a_convoy_does_not_land_by_an_approval_that_was_taken_back(
    here: Room,
) -> None:
    bea, cleo = here.let_in("bea"), here.let_in("cleo", "maintain")
    comment = await approved(here, bea)
    await here.worked(1, FILES)
    await take_back(here, comment, bea, "deletes")
    main = here.tip("main")
    await here.answer("/brat drop 2")
    await here.loop.tick()

    assert (here.convoy_state(), here.tip("main")) == ("active", main)
    assert "The convoy will not land" in "\n".join(here.spoken())

    assert here.convoy.pull is not None
    await here.answer("/brat merge", by=cleo, on=here.convoy.pull)
    assert here.convoy_state() == "complete"
    assert here.tip("main") != main


@pytest.mark.room(PLANNED + "approvals = 1\n")
async def test_who_instructed_and_approved_a_plan_is_not_the_only_one_for_its_work(
    here: Room,
) -> None:
    bea, cleo = here.let_in("bea"), here.let_in("cleo")
    await here.answer("/brat tell 1 -- Leave a door open.", by=bea)
    await here.answer("/brat add -- Another one", by=bea)
    await approved(here, bea)
    assert here.task(3).instructed_by == ("bea",)
    head = await here.worked(1, FILES)

    said = await here.answer(f"/brat approve {head}", by=bea, on=here.pull(1))
    assert "someone who did not instruct its agent" in said
    assert here.task(1).state == "needs-review"

    await here.answer(f"/brat approve {head}", by=cleo, on=here.pull(1))
    assert here.task(1).state == "merged"
