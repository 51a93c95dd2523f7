"""A person deletes a convoy's shared branch: it pauses, and nothing is lost."""

from pathlib import Path

import pytest

from convoy.model import ids
from tests.bot.requests.test_closed_pulls import (
    APPROVED,
    FILES,
    approve,
    called,
    kept_back,
    reopen,
    swept,
)
from tests.bot.room import NAME, room

pytestmark = pytest.mark.layer("landing")

BASE = ids.base_branch(NAME)
SAID = f"The branch `{BASE}` was deleted"


@pytest.mark.parametrize("delivered", [True, False], ids=["delivery", "sweep"])
async def test_a_convoy_without_its_branch_pauses_until_a_person_wants_it_again(
    tmp_path: Path, *, delivered: bool
) -> None:
    async with room(tmp_path, APPROVED, delivered=delivered) as here:
        first = await here.worked(1, FILES)
        await approve(here, first)
        assert here.task(1).state == "merged"
        await here.worked(2, {"README.md": b"# app\n", "two.py": b"two\n"})
        pull = here.pull(2)
        await here.push(f":refs/heads/{BASE}")
        if delivered:
            await here.until(lambda: here.convoy_state() == "paused")
        await swept(here)

        assert here.convoy_state() == "paused"
        assert f"its branch {BASE} was deleted" in kept_back(here)
        assert here.task(2).taken_out is None
        assert called(here, SAID) == 1
        await here.answer("/brat resume")
        await swept(here)
        assert here.convoy_state() == "active"
        assert here.tip(BASE) == here.task(1).landed

        await reopen(here, pull)
        await swept(here)
        assert here.task(2).taken_out is None
        await here.push(f":refs/heads/{BASE}")
        await swept(here)
        assert here.convoy_state() == "paused"
        assert called(here, SAID) == 2
        await here.push(f"{here.task(1).landed}:refs/heads/{BASE}")
        await swept(here)
        assert here.convoy_state() == "active"


async def test_what_the_forge_closes_with_a_deleted_branch_is_nobodys_no(
    tmp_path: Path,
) -> None:
    async with room(tmp_path, APPROVED) as here:
        await here.worked(1, FILES)
        await swept(here)
        context = here.loop.context
        context.settings = context.settings.model_copy(update={"sole": False})
        await here.push(f":refs/heads/{BASE}")
        here.loop.wake.take()
        here.loop.wake.up("pulls")  # the delivery about the branch is late
        await here.loop.tick()
        await swept(here)

        assert here.convoy_state() == "paused"
        assert here.task(1).taken_out is None
        assert called(here, "out of the merge queue") == 0
        assert called(here, SAID) == 1
