"""A person's no on an issue or a shared branch: closed, unlabelled, deleted, pushed to.

Told by a delivery, found by a sweep, or seen only by the look before a landing.
"""

import pytest

from convoy.model import ids
from tests.bot.requests.test_closed_pulls import (
    APPROVED,
    ASKED,
    approve,
    called,
    kept_back,
    reopen,
    turns,
)
from tests.bot.room import FILES, NAME, Room

pytestmark = pytest.mark.layer("landing")

BASE = ids.base_branch(NAME)


@pytest.mark.room("[refinery]\nrequire_ci = false\n")
async def test_a_person_lets_the_convoy_of_a_closed_issue_go_on(here: Room) -> None:
    """Reopening resumes only what the closing paused."""
    await here.answer("/brat pause")
    for state in ("closed", "open"):
        await turns(state)(here, 0)
        await here.swept()
    assert (here.convoy_state(), here.convoy.issue_is) == ("paused", "open")
    await here.answer("/brat resume")
    await turns("closed")(here, 0)
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
    await turns("open")(here, 0)
    await turns("closed")(here, 0)
    await here.swept()
    assert here.convoy.issue_is == "overruled"  # nobody saw it open


@pytest.mark.room(APPROVED)
async def test_a_label_taken_off_just_before_the_landing_counts(here: Room) -> None:
    head = await here.worked(1, FILES)
    await here.person.relabel(here.issue, set(), {"brat:active"})
    await approve(here, head)
    await here.swept()

    assert here.convoy.why == "cancelled: you removed the label"
    assert here.tip(BASE) == here.tip("main")


@pytest.mark.room("[refinery]\nrequire_ci = false\n", text="- [ ] one", delivered=True)
async def test_the_issue_that_brat_closes_asks_nobody(here: Room) -> None:
    await here.worked(1, FILES)
    await here.until(lambda: here.convoy_state() == "complete")
    await here.swept()

    assert called(here, ASKED) == 0
    assert here.context.observed.issues == {}


# --- a shared branch that is deleted or pushed to -------------------------------------


SAID = f"The branch `{BASE}` was deleted"


@pytest.mark.parametrize("delivered", [True, False], ids=["delivery", "sweep"])
@pytest.mark.room(APPROVED)
async def test_a_convoy_without_its_branch_pauses_until_a_person_wants_it_again(
    here: Room, *, delivered: bool
) -> None:
    await approve(here, await here.worked(1, FILES))
    assert here.task(1).state == "merged"
    await here.worked(2, {"README.md": b"# app\n", "two.py": b"two\n"})
    pull = here.pull(2)
    await here.push(f":refs/heads/{BASE}")
    if delivered:
        await here.until(lambda: here.convoy_state() == "paused")
    await here.swept()

    assert here.convoy_state() == "paused"
    assert f"its branch {BASE} was deleted" in kept_back(here)
    assert here.task(2).taken_out is None
    assert called(here, SAID) == 1
    await here.answer("/brat resume")
    await here.swept()
    assert here.convoy_state() == "active"
    assert here.tip(BASE) == here.task(1).landed

    await reopen(here, pull)
    await here.swept()
    assert here.task(2).taken_out is None
    await here.push(f":refs/heads/{BASE}")
    await here.swept()
    assert here.convoy_state() == "paused"
    assert called(here, SAID) == 2
    await here.push(f"{here.task(1).landed}:refs/heads/{BASE}")
    await here.swept()
    assert here.convoy_state() == "active"


@pytest.mark.room(APPROVED)
async def test_what_is_closed_with_a_deleted_branch_is_nobodys_no(here: Room) -> None:
    await here.worked(1, FILES)
    await here.swept()
    here.configure(sole=False)
    await here.push(f":refs/heads/{BASE}")
    here.loop.wake.take()
    here.loop.wake.up("pulls")  # the delivery about the branch is late
    await here.loop.tick()
    await here.swept()

    assert here.convoy_state() == "paused"
    assert here.task(1).taken_out is None
    assert called(here, "removed from the merge queue") == 0
    assert called(here, SAID) == 1


EVIL = {".brat/config.toml": b"[refinery]\nrequire_ci = false\n", "evil.py": b"1\n"}
FREE = "[refinery]\nrequire_ci = false\nbypass = true\n"


@pytest.mark.parametrize("answer", ["taken in", "put back", "not by a maintainer"])
@pytest.mark.room(FREE)
async def test_what_somebody_pushed_to_the_branch_lands_when_somebody_answers_for_it(
    here: Room, answer: str
) -> None:
    await here.worked(1, FILES)
    await here.until(lambda: here.task(1).state == "merged")
    known = here.tip(BASE)
    evil = here.history().commit(FILES | EVIL, known)
    await here.push(f"{evil}:refs/heads/{BASE}", by=here.let_in("mal"))
    await here.swept()

    assert f"someone pushed {evil[:10]} to {BASE}" in kept_back(here)[0]
    assert called(here, "`.brat/config.toml`, `evil.py`") == 1
    assert here.tip(BASE) == evil, "nobody's commit is lost"
    refs = here.context.mirror.refs
    assert refs[ids.attempt_ref(NAME, 0, 0)] == evil

    main = here.tip("main")
    if answer == "put back":
        await here.push(f"+{known}:refs/heads/{BASE}")
    else:
        by = "you" if answer == "taken in" else "mal"
        await here.said(f"/brat approve {evil[:10]}", by=by)
    await here.swept()
    at = here.history().files(here.tip(BASE))
    await here.worked(2, at | {"two.py": b"two\n"})
    for _ in range(4):
        await here.swept()
    if answer == "not by a maintainer":
        assert here.tip("main") == main
        assert called(here, "/brat merge") >= 1
        return
    await here.until(lambda: here.convoy_state() == "complete")
    files = here.history().files(here.tip("main"))
    assert ("evil.py" in files) == (answer == "taken in")


@pytest.mark.parametrize("answer", ["taken in", "put back"])
async def test_what_somebody_pushed_to_a_tasks_branch_is_not_lost_and_lands_if_accepted(
    here: Room, answer: str
) -> None:
    await here.worked(1, FILES)
    branch, pull = ids.task_branch(NAME, 1), here.pull(1)
    known = here.tip(branch)
    mended = here.history().commit(FILES | {"mended.py": b"1\n"}, known)
    await here.push(f"{mended}:refs/heads/{branch}", by=here.let_in("bea"))
    await here.swept()
    await here.judged()
    await here.swept()

    assert here.task(1).state == "needs-review"
    assert here.tip(branch) == mended
    assert f"a decision about {mended[:10]}, which was pushed" in kept_back(here)[0]
    assert called(here, f"Someone pushed `{mended[:10]}` to `{branch}`") == 1
    refs = here.context.mirror.refs
    assert refs[ids.attempt_ref(NAME, 1, 0)] == mended

    if answer == "put back":
        await here.push(f"+{known}:refs/heads/{branch}")
    else:
        said = await here.answer(f"/brat approve {mended[:10]}", on=pull)
        assert "task 1 continues from there" in said
    for _ in range(3):
        await here.swept()
        await here.judged()
    await here.until(lambda: here.task(1).state == "merged")
    files = here.history().files(here.tip(BASE))
    assert ("mended.py" in files) == (answer == "taken in")


@pytest.mark.room(FREE)
async def test_a_push_that_takes_away_what_landed_is_asked_about(here: Room) -> None:
    begun = here.tip("main")
    await here.worked(1, FILES)
    await here.until(lambda: here.task(1).state == "merged")
    landed = here.tip(BASE)
    await here.push(f"+{begun}:refs/heads/{BASE}")
    await here.swept()

    assert f"reset the branch to {landed[:10]}" in kept_back(here)[0]
    await here.push(f"{landed}:refs/heads/{BASE}")
    await here.swept()
    assert kept_back(here) == []
