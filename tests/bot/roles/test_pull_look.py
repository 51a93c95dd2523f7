"""What the loop knows of its pull requests, told by deliveries or by a sweep."""

import pytest

from bot.forge import pulls
from convoy.model import ids
from tests.bot.room import NAME, Room

CI_OFF = "[refinery]\nrequire_ci = false\napprovals = 1\n"
pytestmark = [pytest.mark.layer("landing"), pytest.mark.room(CI_OFF)]


async def in_review(here: Room) -> int:
    await here.worked(1, {"one.txt": b"1\n"})
    await here.swept()
    return here.pull(1)


@pytest.mark.parametrize("delivered", [True, False], ids=["delivery", "sweep"])
@pytest.mark.room(CI_OFF)
async def test_a_pull_request_is_seen_as_it_is_and_as_people_change_it(
    here: Room, *, delivered: bool
) -> None:
    number = await in_review(here)
    pulls = here.context

    def seen(**fields: object) -> bool:
        found = pulls.observed.pulls.get(number)
        return found is not None and all(
            getattr(found, name) == value for name, value in fields.items()
        )

    async def wait(**fields: object) -> None:
        if not delivered:
            await here.swept()
            assert seen(**fields), pulls.observed.pulls
        await here.until(lambda: seen(**fields))

    head = here.tip(ids.task_branch(NAME, 1))
    base = ids.base_branch(NAME)
    await wait(open=True, merged=False, merge_commit=None, head=head, base=base)
    await here.asked("PATCH", f"pulls/{number}", {"state": "closed"})
    await wait(open=False, merged=False, merge_commit=None)


async def test_a_pull_request_that_a_person_merges_is_seen_as_merged(
    here: Room,
) -> None:
    number = await in_review(here)
    await here.asked("PUT", f"pulls/{number}/merge", {"merge_method": "merge"})
    here.loop.wake.up("pulls")
    await here.loop.tick()

    seen = here.context.observed.pulls[number]
    assert (seen.open, seen.merged) == (False, True)
    assert seen.merge_commit == here.tip(ids.base_branch(NAME))


async def test_a_pull_request_that_others_push_off_the_list_is_asked_for_alone(
    here: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = await in_review(here)
    await here.worked(2, {"two.txt": b"2\n"})
    monkeypatch.setattr(pulls, "LATEST", 1)
    here.loop.wake.up("pulls")
    await here.loop.tick()

    assert here.context.observed.pulls.keys() == {first, here.pull(2)}
