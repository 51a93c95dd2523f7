"""Each verb in a comment, on the local forge: from what is said to what is so."""

import pytest

from convoy.events.task_events import ConvoyFailed
from tests.bot.room import FILES, NAME, SHELL, Room

CONFIG = f"""\
{SHELL}[engine.docs]
type = "shell"
args = ["true"]
"""
pytestmark = [pytest.mark.layer("landing"), pytest.mark.room(CONFIG)]
APPROVALS = CONFIG + "[refinery]\napprovals = 1\n"


async def test_a_plan_is_changed_with_words(here: Room) -> None:
    """Some verbs take more than write access."""
    said = await here.answer("/brat add -- Test the parser (after 1)")
    assert "Added task 3: Test the parser. It will wait for task 1." in said
    assert here.task(3).spec.after == (1,)
    said = await here.answer("/brat add -- Go on (after 9)")
    assert "task 4: it waits for task 9, but the last task is 3" in said
    assert len(here.convoy.tasks) == 3

    assert "waits until task 3" in await here.answer("/brat depends 2 on 3")
    assert "in a cycle" in await here.answer("/brat depends 1 on 2")

    assert "uses the engine `docs`" in await here.answer("/brat engine docs 2")
    assert here.task(2).spec.engine == "docs"
    assert "did you mean docs" in await here.answer("/brat engine dosc 2")

    assert "will get the message" in await here.answer(
        "/brat tell 1 -- Keep the names."
    )
    assert here.task(1).notes == ("you says: Keep the names.",)

    bea, cleo = here.let_in("bea"), here.let_in("cleo", "maintain")
    said, reactions = await here.said("/brat priority p0", by=bea)
    assert "`priority` requires maintain access" in said
    assert reactions == ["eyes", "-1"]
    assert "priority `p0`" in await here.answer("/brat priority p0", by=cleo)
    assert here.convoy.priority == 0


@pytest.mark.room(f'{CONFIG}\n[mayor]\nengine = "default"\n', text="Do it.")
async def test_add_to_a_convoy_whose_plan_was_refused_is_answered(here: Room) -> None:
    await here.do(ConvoyFailed(convoy=NAME, why="task 1: there is no plan"))
    assert (here.convoy_state(), here.convoy.tasks) == ("failed", ())

    said = await here.answer("/brat add -- Write more")
    assert f"That cannot be done: {NAME} is failed." in said
    said = await here.answer("/brat add -- Write more (after 1)")
    assert "task 1: it waits for itself" in said
    said = await here.answer("/brat add -- Write more (after 2)")
    assert "task 1: it waits for task 2, but there is no task yet" in said

    assert "is running, version" in await here.answer("/brat ping")


async def test_cancel_stops_a_task_and_drop_gives_it_up(here: Room) -> None:
    """What is known of its session is said meanwhile."""
    assert "had no session yet" in await here.answer("/brat logs 1")
    await here.started(1, run=77)
    assert "/you/app/actions/runs/77)" in await here.answer("/brat logs 1")
    assert "has no task 9" in await here.answer("/brat logs 9")
    cost = await here.answer("/brat cost")
    assert "has used 1 attempt and" in cost
    assert "No engine has reported its usage yet." in cost

    assert "Task 1 has been stopped" in await here.answer("/brat cancel 1")
    assert here.task(1).state == "blocked"
    assert here.task(1).why == "cancelled by you"
    again = await here.answer("/brat retry 1 -- not so\n\nbut with tabs")
    assert "queued again, with fresh attempts and your message" in again
    assert here.task(1).state == "queued"
    assert here.task(1).notes[-1] == "you says: not so\n\nbut with tabs"
    assert "nothing is blocked" in await here.answer("/brat retry -- do it")

    assert "Task 1 is dropped" in await here.answer("/brat drop 1")
    assert "is dropped, not blocked" in await here.answer("/brat retry 1")


@pytest.mark.room(APPROVALS)
async def test_a_push_voids_an_approval(here: Room) -> None:
    """It is given by another person, at one commit."""
    head, bea = await here.worked(1, FILES), here.let_in("bea")
    pull = here.pull(1)
    assert "nothing is blocked" in await here.answer("/brat retry", on=pull)
    assert here.task(1).candidate is None

    said = await here.answer("/brat approve", by=bea, on=pull)
    assert f"`/brat approve {head[:10]}`" in said
    said = await here.answer("/brat approve 1234567", by=bea, on=pull)
    assert f"is at {head[:10]}, not at 1234567" in said
    said = await here.answer(f"/brat approve {head}", on=pull)
    assert "whoever requested the work cannot approve" in said

    said = await here.answer(f"/brat approve {head[:8]}", by=bea, on=pull)

    assert "Approved. The work will merge when CI is green" in said
    assert here.task(1).candidate is not None
    await here.answer("/brat unqueue", on=pull)
    assert here.task(1).approved_by == ("bea",)
    await here.landed_on_base({"README.md": b"# app\n", "two.py": b"two\n"})

    said = await here.answer("/brat rebase", on=pull)

    assert "It needs a new approval" in said
    assert here.task(1).approved_by == ()
    moved = here.tip(f"convoy/{NAME}/task-1")
    assert moved != head
    said = await here.answer(f"/brat approve {head}", by=bea, on=pull)
    assert f"is at {moved[:10]}" in said


async def test_work_that_does_not_apply_is_not_rebased(here: Room) -> None:
    assert "Use `rebase` on a pull request" in await here.answer("/brat rebase")
    await here.worked(1, FILES)
    pull = here.pull(1)
    assert "is already based on" in await here.answer("/brat rebase", on=pull)
    await here.answer("/brat unqueue", on=pull)
    before = here.tip(f"convoy/{NAME}/task-1")
    await here.landed_on_base({"README.md": b"# app\n", "one.py": b"other\n"})

    said = await here.answer("/brat rebase", on=pull)

    assert "the work conflicts with newly landed work in `one.py`" in said
    assert here.tip(f"convoy/{NAME}/task-1") == before


async def test_work_that_conflicts_with_what_landed_goes_back(here: Room) -> None:
    await here.worked(1, {"README.md": b"# app\n", "one.py": b"1\n"})
    both = {"README.md": b"# app\n", "one.py": b"2\n", "two.py": b"2\n"}
    await here.worked(2, both)
    assert here.task(2).state == "needs-review", "1 may yet turn red"

    await here.landed_on_base({"README.md": b"# app\n", "two.py": b"other\n"})
    await here.loop.tick()

    assert here.task(1).candidate is not None
    assert here.task(2).state == "queued"
    assert here.task(2).why == "it conflicts with newly landed work in two.py"


# --- `/brat plan`, `allow` and `split` ------------------------------------------------

PLANNED = '[mayor]\napprove = "plan"\n' + SHELL
TEXT = """\
The build is slow.

- [ ] Cache the build paths: .github/workflows/ci.yml
- [ ] Say so in the guide (after 1) paths: guide.md
"""


@pytest.mark.room(PLANNED, text=TEXT)
async def test_who_may_write_lets_a_task_change_what_is_protected(here: Room) -> None:
    """The plan is shown with its paths, what they need, and its approval."""
    (comment,) = [each for each in here.spoken() if "<details" in each]
    assert any("@you This convoy needs" in each for each in here.spoken())
    said = await here.answer("/brat plan")

    assert "Expand the plan in this comment to read it." in said
    assert "waits for task 1: the plan says so" in comment
    assert "creates `guide.md`" in comment
    assert "needs protected paths**: `.github/workflows/ci.yml`" in comment
    assert "/brat allow 1" in comment
    assert "`/brat approve` here" in comment
    assert "task 2 names guide.md, which does not exist" in comment
    assert "Let task 1 change its protected paths <!-- brat:box=allow/1 -->" in comment
    assert "Try task 1 again" not in comment

    assert "requires write access" in await here.answer("/brat allow 1", by="mallory")
    assert here.task(1).allowed == ()
    assert "/brat allow 1" in await here.answer("/brat retry 1")

    said = await here.answer("/brat allow 1")
    assert "Task 1 may change `.github/workflows/ci.yml`" in said
    assert here.task(1).state == "queued"
    assert "already allowed" in await here.answer("/brat allow 1")
    assert "a person must do it" in await here.answer("/brat allow 2 .brat/x")
    assert "CLAUDE.md" in await here.answer("/brat allow 2 CLAUDE.md")
    assert here.task(2).allowed == ("CLAUDE.md",)


STEPS = """\
- [ ] Parse paths: parse.py
- [ ] Print paths: print.py
- [ ] Tell (after 2) paths: guide.md
"""


@pytest.mark.room(PLANNED, text=STEPS)
async def test_a_task_is_split_and_the_parts_are_shown(here: Room) -> None:
    parts = "- Say how it parses paths: one.md\n- Say how it prints (after 4)"
    said = await here.answer(f"/brat split 3 -- {parts}")
    assert "Task 3 is split into 2 parts." in said
    assert here.task(4).spec.after == (2,)
    assert "part of the former task 3" in here.task(4).spec.instructions

    (comment,) = [each for each in here.spoken() if "comment up to date" in each]
    assert "**5. Say how it prints**" in comment
    assert "**3. Tell" not in comment

    assert "at least 2 parts" in await here.answer("/brat split 4 -- one")
