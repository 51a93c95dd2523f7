"""Sub-issues and dependencies of the forge are a plan."""

from pathlib import Path

import pytest

from tests.bot.requests.test_given_pulls import AGENT, EVERYONE, finished, given
from tests.bot.room import REPO, Room, room

pytestmark = [pytest.mark.timeout(120), pytest.mark.layer("landing")]


async def opened(
    here: Room, title: str, below: int, text: str = "Do it.", **more: object
) -> int:
    """Let a person open a sub-issue of another issue; return its number."""
    number = await here.person.open_issue(title, text)
    await here.asked(
        "POST", f"issues/{below}/sub_issues", {"sub_issue_id": id_of(here, number)}
    )
    if more:
        await here.asked("PATCH", f"issues/{number}", more)
    return number


async def blocked(here: Room, number: int, by: int) -> None:
    asked = {"issue_id": id_of(here, by)}
    await here.asked("POST", f"issues/{number}/dependencies/blocked_by", asked)


def id_of(here: Room, number: int) -> int:
    repo = here.forge.repository(REPO)
    assert repo is not None
    issues = here.forge.store.issues.of(repo.id)
    return next(issue.id for issue in issues if issue.number == number)


async def test_sub_issues_land_in_the_order_of_their_blockers_and_are_closed(
    tmp_path: Path,
) -> None:
    config = AGENT.format("date +%N > file")
    async with room(tmp_path, config, roles=EVERYONE, labelled=False) as here:
        first = await opened(here, "Write the reader", here.issue)
        second = await opened(here, "Write the writer", here.issue)
        await blocked(here, first, second)
        await here.person.relabel(here.issue, {"brat"}, set())
        here.loop.wake.all()
        await here.loop.tick()
        convoy = given(here, here.issue)
        told = [(t.number, t.spec.title, t.spec.after) for t in convoy.tasks]

        assert told == [
            (1, f"Write the reader (#{first})", (2,)),
            (2, f"Write the writer (#{second})", ()),
        ]
        ended = await finished(here, here.issue)
        assert ended.state == "complete", ended.why
        for number in (first, second, here.issue):
            assert (await here.person.issue(number)).state == "closed"
