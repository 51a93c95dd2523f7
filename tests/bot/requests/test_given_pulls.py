"""Anybody's pull request, given to brat by `/brat land` or `/brat fix`."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from convoy.model.state import Convoy
from tests.bot.room import HEADS, REPO, Room, room

pytestmark = pytest.mark.layer("landing")

CI = '[refinery]\nchecks = ["ci"]\n'
QUEUE = "brat/queue/main/"


async def opened(here: Room, branch: str, files: Mapping[str, bytes]) -> int:
    """Let a person push a branch and open a pull request of it; return its number."""
    mirror = here.loop.context.mirror
    whole = {"README.md": b"# app\n", **files}
    made = here.history().commit(whole, here.tip("main"))
    await here.push(f"{made}:{HEADS}{branch}")
    title = f"Do {branch}"
    number = await here.person.pulls.open(title, "", head=branch, base="main")
    assert mirror.has(made)
    return number


def given(here: Room, number: int) -> Convoy:
    """Return the newest convoy of a pull request."""
    state = here.loop.context.mirror.state
    return [each for each in state.convoys.values() if each.issue == number][-1]


async def swept(here: Room, times: int = 1) -> None:
    """Let the bot look at everything."""
    for _ in range(times):
        here.loop.wake.all()
        await here.loop.tick()


async def judged(here: Room, red: frozenset[str] = frozenset()) -> None:
    """Let CI judge all open candidates: red are those that hold one of the files."""
    for convoy in [*here.loop.context.mirror.state.live()]:
        for one in (convoy.candidate, *(task.candidate for task in convoy.tasks)):
            if one is not None:
                files = here.loop.context.commits.files(one.commit)
                state = "failure" if red.intersection(files) else "success"
                said = {"context": "ci", "state": state, "description": "tests"}
                await here.asked("POST", f"statuses/{one.commit}", said)
    await swept(here, 2)


def is_merged(here: Room, number: int) -> bool:
    repo = here.forge.repository(REPO)
    assert repo is not None
    return any(
        pull.number == number and pull.merged_at is not None
        for pull in here.forge.store.pulls.of(repo.id)
    )


async def test_a_green_pull_request_lands_as_ci_judged_it(tmp_path: Path) -> None:
    async with room(tmp_path, CI) as here:
        number = await opened(here, "more", {"more.py": b"more\n"})
        said = await here.answer("/brat land", on=number)
        await swept(here)

        assert "is in the queue of `main`" in said
        candidate = given(here, number).candidate
        assert candidate is not None
        assert here.tip(QUEUE + candidate.commit) == candidate.commit

        await judged(here)
        assert given(here, number).state == "complete", given(here, number).why
        assert here.tip("main") == candidate.commit
        assert is_merged(here, number)


async def test_of_three_the_red_one_and_the_one_in_conflict_are_set_aside(
    tmp_path: Path,
) -> None:
    async with room(tmp_path, CI) as here:
        first = await opened(here, "first", {"list": b"one\n"})
        second = await opened(here, "second", {"bad": b"bad\n"})
        third = await opened(here, "third", {"list": b"three\n"})
        for number in (first, second, third):
            await here.answer("/brat land", on=number)
        for _ in range(3):
            await judged(here, frozenset({"bad"}))

        assert [is_merged(here, each) for each in (first, second, third)] == [
            *(True, False, False)
        ]
        red, conflicting = given(here, second), given(here, third)
        assert "CI is red on" in red.why
        assert f"conflicts with main in list, landed with #{first}" in conflicting.why
        assert (red.state, conflicting.state) == ("failed", "failed")
        told = [each for each in here.spoken() if "does not land on main" in each]
        assert len(told) == 2
        for each in told:
            assert each.count("@you ") == 1
            assert "`/brat land` takes its newest commit" in each
