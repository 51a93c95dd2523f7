"""A person merges a task's pull request on the forge."""

from pathlib import Path

import pytest

from convoy.model import ids
from tests.bot.requests.test_closed_pulls import called, drafted, kept_back
from tests.bot.room import FILES, NAME, Room, room
from tests.bot.there import there
from tests.world.github_forge.extension import github

pytestmark = pytest.mark.layer("landing")
BASE = ids.base_branch(NAME)
NEW = {"new.py": b"1\n"}
CI, APPROVED = "", "[refinery]\napprovals = 1\n"


async def merge(here: Room, method: str, by: str = "bea") -> str:
    """Merge the pull request of task 1, which is no draft any more."""
    if not here.convoy.settings.approvals:
        await drafted(here, here.pull(1), is_draft=False)
    path = f"pulls/{here.pull(1)}/merge"
    made = await here.asked("PUT", path, {"merge_method": method}, by=here.let_in(by))
    return str(made["sha"])


async def green(here: Room, commit: str) -> None:
    said = {"context": "ci", "state": "success", "description": "tests"}
    await here.asked("POST", f"statuses/{commit}", said)


@pytest.mark.parametrize("method", ["merge", "squash"])
@pytest.mark.parametrize("config", [CI, APPROVED], ids=["ci", "approval"])
async def test_a_persons_merge_of_green_work_is_its_approval(
    tmp_path: Path, config: str, method: str
) -> None:
    async with room(tmp_path, config, extend=github) as here:
        work = await here.worked(1, FILES | NEW)
        await here.landed_on_base(FILES | {"other.py": b"1\n"})
        await here.swept()
        await green(here, work)
        made = await merge(here, method)
        await here.swept(2)

        assert (here.task(1).state, here.task(1).landed) == ("merged", made)
        assert (here.tip(BASE), here.convoy.tip) == (made, made)
        assert kept_back(here) == []
        assert called(here, "bea merged this pull request.") == 1
        assert called(here, "Someone pushed") == 0
        files = FILES | NEW | {"other.py": b"1\n"}
        await here.worked(2, files | {"two.py": b"2\n"})
        for _ in range(4):
            if here.task(2).state == "needs-review" and config:
                head = there(here.task(2).work).commit
                said = f"/brat approve {head}"
                await here.said(said, by="bea", on=here.pull(2))
            await here.judged()
            await here.swept()
        assert here.convoy_state() == "complete"
        assert here.history().files(here.tip("main")) == files | {"two.py": b"2\n"}


@pytest.mark.parametrize("why", ["CI", "bot", "two"])
async def test_a_merge_of_work_that_did_not_pass_is_asked_about_with_the_reason(
    tmp_path: Path, why: str
) -> None:
    config = "[refinery]\napprovals = 2\n" if why == "two" else CI
    async with room(tmp_path, config, extend=github) as here:
        work = await here.worked(1, FILES | NEW)
        if why != "CI":
            await green(here, work)
        await here.landed_on_base(FILES | {"other.py": b"1\n"})
        made = await merge(here, "squash", "mergify[bot]" if why == "bot" else "bea")
        await here.swept(2)

        assert here.task(1).state == "needs-review"
        assert f"someone pushed {made[:10]} to {BASE}" in kept_back(here)[0]
        told = {
            "CI": f"CI is not green on {work[:10]}",
            "bot": "it is no person's merge of the task's work alone",
            "two": "task 1 is waiting for 1 more approval of its work",
        }
        assert called(here, told[why]) == 1
