"""A person's no: on an issue, a pull request, or a branch that somebody pushed to.

Told by a delivery, found by a sweep, or seen only by the look before a landing.
"""

from collections.abc import Awaitable, Callable
from functools import partial
from itertools import product
from pathlib import Path

import pytest

from bot.forge import pulls
from convoy.events.hold_events import MergeRequested, MergeWithdrawn
from convoy.model import ids
from convoy.rules.people import DropTask
from convoy.views import state_document
from tests.bot.room import FILES, NAME, Room, room
from tests.bot.there import there
from tests.world.github_forge.extension import github
from tests.world.github_forge.shapes import node_id
from tests.world.layers import sampled

pytestmark = pytest.mark.layer("landing")

APPROVED = "[refinery]\nrequire_ci = false\napprovals = 1\n"
BASE, BRANCH = ids.base_branch(NAME), ids.task_branch(NAME, 1)
Does = Callable[[Room, int], Awaitable[None]]


def asks(of: str = "pulls", **change: str) -> Does:
    async def ask(here: Room, pull: int) -> None:
        number = pull if of == "pulls" else here.issue
        await here.asked("PATCH", f"{of}/{number}", change)

    return ask


close, reopen = asks(state="closed"), asks(state="open")
shut, open_again = asks("issues", state="closed"), asks("issues", state="open")
ASKED = "reopen the issue or say `/brat resume`"


async def delete_branch(here: Room, _: int) -> None:
    await here.push(f":refs/heads/{BRANCH}")


async def restore_branch(here: Room, pull: int) -> None:
    work = there(here.task(1).work)
    await here.push(f"{work.commit}:refs/heads/{BRANCH}")
    await reopen(here, pull)


async def drafted(here: Room, pull: int, *, is_draft: bool = True) -> None:
    (found,) = (each for each in here.forge.store.pulls.all() if each.number == pull)
    name = "convertPullRequestToDraft" if is_draft else "markPullRequestReadyForReview"
    await here.mutated(name, pullRequestId=node_id("PullRequest", found.id))


GESTURES = {
    "closed": (close, reopen, "Reopen this pull request"),
    "branch": (delete_branch, restore_branch, "Restore the branch"),
    "base": (asks(base="main"), asks(base=BASE), "Change the base back"),
    "issue": (shut, open_again, ASKED),
}
FOUND_BY = ("delivery", "sweep", "landing")


async def approve(here: Room, head: str) -> None:
    command = f"/brat approve {head}"
    await here.said(command, by=here.let_in("bea"), on=here.pull(1))


def called(here: Room, sentence: str) -> int:
    return sum(sentence in body for body in here.spoken())


@pytest.mark.parametrize(
    ("gesture", "found_by"),
    sampled(
        product(GESTURES, FOUND_BY),
        {
            *product(GESTURES, ("delivery",)),
            *product(("issue",), FOUND_BY),
            *(("closed", "sweep"), ("base", "landing")),
        },
    ),
)
async def test_what_a_person_takes_out_does_not_land_until_it_is_taken_back(
    tmp_path: Path, gesture: str, found_by: str
) -> None:
    out, back, sentence = GESTURES[gesture]
    async with room(tmp_path, APPROVED, delivered=found_by == "delivery") as here:
        head = await here.worked(1, FILES)
        pull = here.pull(1)
        await out(here, pull)
        if found_by == "delivery":
            await here.until(lambda: kept_back(here))
        elif found_by == "sweep":
            await here.swept()
        await approve(here, head)
        await here.swept()

        if gesture == "issue":
            assert here.convoy_state() == "paused"
            why = f"issue #{here.issue} was closed"
        else:
            taken_out = there(here.task(1).taken_out)
            assert (taken_out.gesture, taken_out.pull) == (gesture, pull)
            why = taken_out.why
        assert here.task(1).state == "needs-review"
        assert here.tip(BASE) == here.tip("main")
        assert called(here, sentence) == 1
        assert any(why in each for each in kept_back(here))

        await back(here, pull)
        await here.swept()
        await here.until(lambda: here.task(1).state == "merged")
        assert (here.task(1).taken_out, here.convoy_state()) == (None, "active")
        assert called(here, sentence) == 1


async def shown_whole(here: Room) -> int:
    """Let a convoy wait with all of its work; return its pull request."""
    await here.do(
        MergeWithdrawn(convoy=NAME, task=0, by="you"),
        DropTask(convoy=NAME, task=2, why="not wanted"),
    )
    await here.worked(1, FILES)
    return there(here.convoy.pull)


def kept_back(here: Room) -> list[str]:
    """Return why status says that things wait for people."""
    context = here.context
    waits = state_document(context.mirror.state, context.clock())["interventions"]
    return [each["why"] for each in waits if each["kind"] == "kept_back"]


@pytest.mark.room(APPROVED)
async def test_work_wanted_after_all_gets_another_pull_request(here: Room) -> None:
    head = await here.worked(1, FILES)
    first = here.pull(1)
    await close(here, first)
    await here.swept()
    said = await here.answer("/brat merge", on=first)
    await here.swept()

    assert f"to replace #{first}" in said
    assert here.pull(1) > first
    assert here.task(1).taken_out is None
    await approve(here, head)
    assert here.task(1).state == "merged"


@pytest.mark.parametrize(
    ("out", "back"),
    [(close, reopen), (drafted, partial(drafted, is_draft=False))],
    ids=["closed", "made a draft"],
)
@pytest.mark.room("[refinery]\nrequire_ci = false\n", extend=github)
async def test_a_convoy_whose_own_pull_request_is_taken_back_does_not_land(
    here: Room, out: Does, back: Does
) -> None:
    before, pull = here.tip("main"), await shown_whole(here)
    await out(here, pull)
    await here.do(MergeRequested(convoy=NAME, task=0, by="you"))
    await here.swept()

    assert here.convoy_state() == "active"
    assert here.tip("main") == before
    assert called(here, "The convoy has been removed from the merge queue") == 1
    await back(here, pull)
    await here.swept()
    assert here.convoy_state() == "complete"


@pytest.mark.room("[refinery]\nrequire_ci = false\n", extend=github)
async def test_a_branch_deleted_with_its_merge_is_no_persons_no(here: Room) -> None:
    """GitHub deletes it where a repository asks for that.

    https://docs.github.com/repositories/configuring-branches-and-merges-in-your-repository/configuring-pull-request-merges/managing-the-automatic-deletion-of-branches
    """
    pull, said = await shown_whole(here), len(here.spoken())
    await here.asked("PUT", f"pulls/{pull}/merge", {"merge_method": "squash"})
    await here.push(f":refs/heads/{BASE}")
    await here.swept(2)

    assert here.convoy_state() == "complete"
    assert len(here.spoken()) == said


@pytest.mark.room(APPROVED)
async def test_a_persons_merge_and_a_pull_request_off_the_list_are_seen(
    here: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    await here.worked(1, FILES)
    await here.worked(2, {"two.txt": b"2\n"})
    await here.swept()
    number = here.pull(1)
    await here.asked("PUT", f"pulls/{number}/merge", {"merge_method": "merge"})
    monkeypatch.setattr(pulls, "LATEST", 1)
    here.loop.wake.up("pulls")
    await here.loop.tick()

    found = here.context.observed.pulls
    assert found.keys() == {number, here.pull(2)}
    seen = found[number]
    assert (seen.open, seen.merged, seen.merge_commit) == (False, True, here.tip(BASE))


# --- an issue, and a shared branch that is deleted or pushed to -----------------------


@pytest.mark.room("[refinery]\nrequire_ci = false\n")
async def test_a_person_lets_the_convoy_of_a_closed_issue_go_on(here: Room) -> None:
    """Reopening resumes only what the closing paused."""
    await here.answer("/brat pause")
    for does in (shut, open_again):
        await does(here, 0)
        await here.swept()
    assert (here.convoy_state(), here.convoy.issue_is) == ("paused", "open")
    await here.answer("/brat resume")
    await shut(here, 0)
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
    assert called(here, ASKED) == 2
    await open_again(here, 0)
    await shut(here, 0)
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
