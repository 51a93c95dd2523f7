"""`/brat plan` and `/brat allow`, said in comments on the local forge."""

from pathlib import Path

import pytest

from tests.bot.lobby import CONFIG as SHELL
from tests.bot.room import Room, room

CONFIG = '[mayor]\napprove = "plan"\n' + SHELL
TEXT = """\
The build is slow.

- [ ] Cache the build paths: .github/workflows/ci.yml
- [ ] Say so in the guide (after 1) paths: guide.md
"""


async def test_a_plan_is_shown_with_its_paths_and_its_approval(
    tmp_path: Path,
) -> None:
    async with room(tmp_path, CONFIG, text=TEXT) as here:
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


@pytest.mark.room(CONFIG, text=TEXT)
async def test_who_may_write_lets_a_task_change_what_is_protected(here: Room) -> None:
    here.let_in("guest", "read")
    assert "requires write access" in await here.answer("/brat allow 1", by="guest")
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
pytestmark = [pytest.mark.layer("landing"), pytest.mark.room(CONFIG, text=STEPS)]


async def test_a_task_is_split_and_the_difference_is_shown(here: Room) -> None:
    parts = "- Say how it parses paths: one.md\n- Say how it prints (after 4)"
    said = await here.answer(f"/brat split 3 -- {parts}")
    assert "- task 3: Tell" in said
    assert "+ task 5: Say how it prints" in said
    assert here.task(4).spec.after == (2,)
    assert "part of the former task 3" in here.task(4).spec.instructions

    (comment,) = [each for each in here.spoken() if "comment up to date" in each]
    assert "**Changed** since the plan was made or last approved" in comment
    assert "- task 3: Tell" in comment

    assert "at least 2 parts" in await here.answer("/brat split 4 -- one")
