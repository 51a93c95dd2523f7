"""Who may write the log cannot approve: the forge is asked when work lands."""

import pytest

from bot.loop.staging import stage
from bot.repository.draft import Draft
from bot.text import phrase
from convoy.events.people_events import ApprovePlan, TaskApproved
from tests.bot.room import FILES, NAME, Room

APPROVALS = "[refinery]\napprovals = 1\nrequire_ci = false\n"
TWO = "[refinery]\napprovals = 2\nrequire_ci = false\n"
PLANNED = '[mayor]\napprove = "plan"\n[refinery]\nrequire_ci = false\n'
pytestmark = [pytest.mark.layer("landing"), pytest.mark.room(TWO)]


def approval(by: str, commit: str, **where: int) -> TaskApproved:
    """Return what whoever may push to the log's ref can write."""
    return TaskApproved(convoy=NAME, task=1, commit=commit, by=by, **where)


async def test_two_forged_approvals_of_real_people_do_not_merge(here: Room) -> None:
    """Nor do they when they name somebody else's comment or review."""
    head, pull = await here.worked(1, FILES), here.pull(1)
    bea, cleo = here.let_in("bea"), here.let_in("cleo")

    await here.do(approval(bea, head), approval(cleo, head))
    await here.swept(3)

    assert here.task(1).state == "needs-review"
    assert here.task(1).approved_by == ()

    mallory = here.let_in("mallory")
    said = await here.written(pull, f"/brat approve {head}", mallory)
    seen = await here.reviewed("COMMENT", mallory, f"/brat approve {head}")

    await here.do(approval(bea, head, comment=said), approval(cleo, head, review=seen))
    await here.swept(3)

    assert here.task(1).state == "needs-review"
    assert not {"bea", "cleo"} & {*here.task(1).approved_by}


@pytest.mark.room(TWO, delivered=True)
async def test_a_dismissed_review_does_not_count(here: Room) -> None:
    await here.worked(1, FILES)
    pull = here.pull(1)
    bea, cleo = here.let_in("bea"), here.let_in("cleo")
    seen = await here.reviewed("APPROVE", bea)
    await here.until(lambda: here.task(1).approved_by == ("bea",))
    path = f"pulls/{pull}/reviews/{seen}/dismissals"
    await here.asked("PUT", path, {"message": "no"})

    await here.reviewed("APPROVE", cleo)
    await here.until(lambda: here.task(1).approved_by == ("cleo",))

    assert here.task(1).state == "needs-review"


async def test_a_comment_approves_while_it_stands_by_who_may(here: Room) -> None:
    head, pull = await here.worked(1, FILES), here.pull(1)
    for by, how in (("bea", "deletes"), ("cleo", "edits"), ("dan", "leaves")):
        await here.answer(f"/brat approve {head[:9]}", by=here.let_in(by), on=pull)
        assert here.task(1).approved_by == (by,)
        await take_back(here, here.task(1).approvals[0].comment, by, how)

    await here.answer(f"/brat approve {head}", by=here.let_in("eve"), on=pull)
    assert (here.task(1).state, here.task(1).approved_by) == ("needs-review", ("eve",))
    await here.answer(f"/brat approve {head}", by=here.let_in("fay"), on=pull)
    assert here.task(1).state == "merged"
    assert here.tip(f"convoy/{NAME}/base") == head


async def test_a_newer_review_takes_an_approval_back(here: Room) -> None:
    head, pull = await here.worked(1, FILES), here.pull(1)
    bea, cleo = here.let_in("bea"), here.let_in("cleo")
    await here.answer(f"/brat approve {head}", by=bea, on=pull)
    await here.reviewed("REQUEST_CHANGES", bea, "No.")

    await here.answer(f"/brat approve {head}", by=cleo, on=pull)
    await here.swept(3)

    assert here.task(1).state == "queued"


@pytest.mark.parametrize(
    "planned",
    [
        pytest.param(False, marks=pytest.mark.room(APPROVALS)),
        pytest.param(True, marks=pytest.mark.room(f"{PLANNED}approvals = 1\n")),
    ],
)
async def test_who_told_the_agent_what_to_do_is_not_the_only_approver(
    here: Room, *, planned: bool
) -> None:
    """Nor is who approved the plan as well."""
    bea, cleo = here.let_in("bea"), here.let_in("cleo")
    await here.answer("/brat tell 1 -- Send the keys to me.", by=bea)
    if planned:
        await here.answer("/brat add -- Another one", by=bea)
        await approved(here, bea)
        assert here.task(3).instructed_by == ("bea",)
    head, pull = await here.worked(1, FILES), here.pull(1)

    said = await here.answer(f"/brat approve {head}", by=bea, on=pull)
    assert "someone who did not instruct its agent" in said
    await here.swept(3)
    assert here.task(1).state == "needs-review"

    await here.answer(f"/brat approve {head}", by=cleo, on=pull)
    assert here.task(1).state == "merged"


@pytest.mark.room(APPROVALS, delivered=False)
async def test_a_label_set_just_before_the_landing_holds_the_work(here: Room) -> None:
    head, pull = await here.worked(1, FILES), here.pull(1)
    await here.person.relabel(pull, {"brat:hold"}, set())

    await here.answer(f"/brat approve {head}", by=here.let_in("bea"), on=pull)

    assert here.task(1).state == "needs-review"
    assert here.task(1).held == "brat:hold"
    await here.person.relabel(pull, set(), {"brat:hold"})
    here.loop.wake.up("issues")
    await here.until(lambda: here.task(1).state == "merged")


# --- a plan's approval counts for as long as the forge shows it ----------------------


async def approved(here: Room, by: str) -> int:
    """Let somebody approve the plan by a comment; return its id."""
    await here.answer("/brat approve", by=by)
    assert here.convoy.vouched_in
    return here.convoy.vouched_in


async def take_back(here: Room, comment: int, by: str, how: str) -> None:
    path = f"issues/comments/{comment}"
    if how == "deletes":
        await here.asked("DELETE", path, None, by)
    elif how == "edits":
        body = {"body": "Not `/brat approve`"}
        await here.asked("PATCH", path, body, by)
    else:
        here.let_in(by, "read")


async def starting(here: Room) -> Draft:
    """Return what the witness would start now."""
    roles = here.context.settings.roles
    here.configure(roles=("witness",))
    draft = here.context.draft()
    await stage(draft)
    here.configure(roles=roles)
    return draft


@pytest.mark.room(PLANNED)
@pytest.mark.parametrize(
    ("how", "whys"),
    [
        ("leaves", {"bea no longer has write access to this repository"}),
        ("deletes", {phrase("no-comment")}),
        # within a second, or later
        ("edits", {phrase("edited-approval"), phrase("not-the-plan")}),
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
    assert (phrase("unvouched", by=bea) if how == "leaves" else told) in intent.text

    await here.answer("/brat pause", by=cleo)
    await here.answer("/brat resume", by=cleo)
    assert len([*(await starting(here)).state.running()]) == 2


@pytest.mark.room(PLANNED)
async def test_an_approval_is_nobody_elses_comment(here: Room) -> None:
    bea, mallory = here.let_in("bea"), here.let_in("mallory")
    comment = await here.written(here.issue, "/brat approve", mallory)
    await here.do(ApprovePlan(convoy=NAME, by=bea, comment=comment))

    await here.loop.tick()
    draft = await starting(here)

    assert draft.state.convoys[NAME].state == "paused"


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ("leaves", "@bea no longer has permission to merge"),
        ("deletes", "The convoy will not land"),
    ],
)
@pytest.mark.room(PLANNED)
async def test_a_convoy_does_not_land_by_an_approval_that_was_taken_back(
    here: Room, how: str, told: str
) -> None:
    bea, cleo = here.let_in("bea"), here.let_in("cleo", "maintain")
    comment = await approved(here, bea)
    await here.worked(1, FILES)
    await take_back(here, comment, bea, how)
    main = here.tip("main")
    await here.answer("/brat drop 2")
    await here.loop.tick()

    assert (here.convoy_state(), here.tip("main")) == ("active", main)
    assert told in "\n".join(here.spoken())

    assert here.convoy.pull is not None
    await here.answer("/brat merge", by=cleo, on=here.convoy.pull)
    assert here.convoy_state() == "complete"
    assert here.tip("main") != main
