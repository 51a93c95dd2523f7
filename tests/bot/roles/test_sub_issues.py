"""Sub-issues and dependencies of the forge are a plan."""

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack, suppress
from itertools import pairwise
from pathlib import Path

import pytest

from bot.serving import bot_service
from convoy.model.state import Convoy
from tests.bot.requests.test_given_pulls import AGENT, given, pushed
from tests.bot.room import EVERYBODY, REPO, TWO_WAYS, Room, room
from tests.bot.there import there
from tests.world.github_forge.extension import github
from tests.world.github_forge.shapes import node_id
from tests.world.traffic import Exchange

pytestmark = [pytest.mark.timeout(120), pytest.mark.layer("landing")]
WORK = AGENT.format("date +%N > $(date +%s%N)")


async def opened(here: Room, title: str, text: str = "Do it.") -> int:
    """Let a person open a sub-issue of the issue; return its number."""
    number = await here.person.open_issue(title, text)
    asked = {"sub_issue_id": id_of(here, number)}
    await here.asked("POST", f"issues/{here.issue}/sub_issues", asked)
    return number


async def blocked(here: Room, number: int, by: int) -> None:
    asked = {"issue_id": id_of(here, by)}
    await here.asked("POST", f"issues/{number}/dependencies/blocked_by", asked)


def id_of(here: Room, number: int) -> int:
    issues = here.forge.store.issues.of(here.forge.known(REPO).id)
    return next(issue.id for issue in issues if issue.number == number)


async def begun(here: Room) -> Convoy:
    await here.person.relabel(here.issue, {"brat"}, set())
    mirror = here.context.mirror
    await here.until(lambda: any(c.tasks for c in mirror.state.convoys.values()))
    return given(here, here.issue)


async def until(here: Room, condition: Callable[[Convoy], bool]) -> None:
    """Let CI be green and the bot go on until something is so of the convoy."""
    await here.until(lambda: condition(given(here, here.issue)), red=frozenset())


async def is_open(here: Room, *numbers: int) -> list[bool]:
    return [(await here.person.issue(each)).state == "open" for each in numbers]


@pytest.mark.room(WORK, roles=("mayor",), labelled=False)
async def test_what_a_task_covers_or_an_issue_blocks_gets_no_convoy(here: Room) -> None:
    part = await opened(here, "Part")
    other = await here.person.open_issue("Other", "Do it.")
    convoy = await begun(here)
    await blocked(here, other, part)
    for number in (part, other):
        await here.person.relabel(number, {"brat"}, set())
    await here.swept(2)

    assert [*here.state.convoys] == [convoy.name]
    said = "\n".join(here.spoken())
    assert said.count(f"Task 1 of #{here.issue} already covers this issue.") == 1
    assert said.count(f"This issue is blocked by {REPO}#{part}.") == 1


@pytest.mark.parametrize("heard", ["delivery", "sweep", "later"])
async def test_a_blocked_issue_begins_by_itself_when_the_last_blocker_closes(
    tmp_path: Path, heard: str
) -> None:
    """Heard by a delivery, by looking, or by a bot that was down meanwhile."""
    asked: list[str] = []
    async with (
        room(
            tmp_path,
            WORK,
            roles=("mayor",),
            labelled=False,
            delivered=heard == "delivery",
            extend=github,
            observe=lambda seen: asked.append(f"{seen.method} {seen.path}"),
        ) as here,
        AsyncExitStack() as processes,
    ):
        blockers = [await here.person.open_issue(name, "Do it.") for name in "ab"]
        for number in blockers:
            await blocked(here, here.issue, number)
        await here.person.relabel(here.issue, {"brat"}, set())
        await here.until(lambda: len(here.spoken()) == 1)
        await here.swept()
        asked.clear()
        await here.swept()
        assert not [each for each in asked if f"/issues/{here.issue}" in each]

        await here.person.close_issue(blockers[0], "completed")
        await here.swept()
        assert (here.labels(), here.convoys()) == ({"brat"}, [])
        assert [REPO in each for each in here.spoken()] == [True], "it is said once"
        if heard == "later":
            another = bot_service.opened(here.context.settings, lambda _: None)
            here.loop = await processes.enter_async_context(another)
        await here.person.close_issue(blockers[1], "completed")
        await here.until(here.convoys)
        assert here.convoy.by == "you"
        assert not here.context.memory.blocked


@TWO_WAYS
@pytest.mark.room(WORK, roles=EVERYBODY, labelled=False)
async def test_sub_issues_land_behind_their_blockers_and_are_closed(here: Room) -> None:
    """Two chains of three; in the middle of one is a person's own issue.

    What comes after it starts from what that person has brought to the target. Another
    issue that a person did, and opened again, is left open.
    """
    ann = here.let_in("ann")
    numbers = [await opened(here, f"Part {at}") for at in range(6)]
    first, own, last, *others = numbers
    for number, by in (*pairwise((last, own, first)), *pairwise(others)):
        await blocked(here, number, by)
    await here.asked("PATCH", f"issues/{own}", {"assignees": [ann]})
    convoy = await begun(here)
    assert [(t.number, t.spec.after) for t in convoy.tasks] == [
        *((1, ()), (2, (1,)), (3, (2,)), (4, (5,)), (5, (6,)), (6, ()))
    ]

    def waits(seen: Convoy) -> bool:
        states = [task.state for task in seen.tasks]
        return states == ["merged", "blocked", "queued", *["merged"] * 3]

    await until(here, waits)
    assert all(await is_open(here, *numbers)), "nothing has landed"
    assert [here.labels(each) for each in (first, own, last)] == [
        *({"brat:merged"}, {"brat:blocked"}, {"brat:queued"})
    ]
    await pushed(here, "main", {"own.txt": b"ann's\n"}, here.tip("main"))
    theirs = here.tip("main")
    done = {"state": "closed", "state_reason": "completed"}
    await here.asked("PATCH", f"issues/{own}", done, by=ann)
    await until(here, lambda seen: seen.tasks[1].state == "merged")
    await here.asked("PATCH", f"issues/{own}", {"state": "open"}, by=ann)
    await until(here, lambda seen: seen.ended)
    ended = given(here, here.issue)
    assert ended.state == "complete", ended.why
    closed = [each for each in numbers if each != own]
    assert not any(await is_open(here, *closed, here.issue))
    assert await is_open(here, own) == [True], "ann wants more of it"
    assert ended.tasks[1].started == 0, "no agent had it"
    work = there(ended.tasks[2].work)
    assert here.context.composer.is_ancestor(theirs, work.base)


@pytest.mark.parametrize(
    ("delivered", "follows"),
    [
        pytest.param(True, False, id="webhooks"),
        pytest.param(False, False, id="polling", marks=pytest.mark.layer("deep")),
        pytest.param(False, True, id="follow"),
    ],
)
async def test_a_list_that_changes_in_mid_convoy_waits_for_agreement(
    tmp_path: Path, *, delivered: bool, follows: bool
) -> None:
    config = f"{WORK}[mayor]\nfollow = {str(follows).lower()}\n"
    async with room(tmp_path, config, labelled=False, delivered=delivered) as here:
        first = await opened(here, "First")
        second = await opened(here, "Second")
        await begun(here)
        third = await opened(here, "Third")
        await blocked(here, second, third)
        gone = {"sub_issue_id": id_of(here, first)}
        await here.asked("DELETE", f"issues/{here.issue}/sub_issue", gone)
        told = (
            f"#{third} (Third) was added",
            f"#{first} was removed",
            f"#{second} is blocked by #{third}",
        )
        await here.until(
            lambda: all(f"- {each}\n" in f"{here.spoken()[-1]}\n" for each in told)
        )
        if not follows:
            assert len(given(here, here.issue).tasks) == 2, "nobody has agreed"
            here.forge.add_user("eve")
            assert "write access" in await here.heard("/brat follow", by="eve")
            assert f"#{third} (Third) was added" in await here.heard("/brat follow")
        wanted = [("dropped", ()), ("queued", (3,)), ("queued", ())]
        await until(
            here, lambda seen: [(t.state, t.spec.after) for t in seen.tasks] == wanted
        )
        await here.swept(2)
        said = [each for each in here.spoken() if "issues have changed" in each]
        assert delivered or len(said) == 1  # a look may come between two gestures


@pytest.mark.parametrize(
    ("gesture", "told"),
    [
        ("edited", ""),
        ("transferred", "#{} was removed"),
        ("deleted", "#{} was removed"),
        ("closed as a duplicate", "#{} was closed as not planned"),
        ("made a sub-issue of its neighbour", "#{} is a step of #{}"),
    ],
)
@pytest.mark.room(WORK, labelled=False, extend=github)
async def test_what_people_do_to_a_sub_issue_in_mid_convoy_is_told(
    here: Room, gesture: str, told: str
) -> None:
    first = await opened(here, "First")
    second = await opened(here, "Second")
    before = [task.spec for task in (await begun(here)).tasks]
    here.forge.add_repository("you/other")
    node = {"issueId": node_id("Issue", id_of(here, second))}
    match gesture:
        case "edited":
            words = {"title": "Other", "body": "Delete it all."}
            await here.asked("PATCH", f"issues/{second}", words)
        case "transferred":
            there = here.forge.known("you/other").id
            to = {"repositoryId": node_id("Repository", there)}
            await here.mutated("transferIssue", **node, **to)
        case "deleted":
            await here.mutated("deleteIssue", **node)
        case "closed as a duplicate":
            closed = {"state": "closed", "state_reason": "duplicate"}
            await here.asked("PATCH", f"issues/{second}", closed)
        case _:
            moved = {"sub_issue_id": id_of(here, second), "replace_parent": True}
            await here.asked("POST", f"issues/{first}/sub_issues", moved)
    await here.swept(3)
    said = [each for each in here.spoken() if "issues have changed" in each]
    assert len(said) == bool(told)
    assert all(f"- {told.format(second, first)}\n" in each for each in said)
    assert [task.spec for task in given(here, here.issue).tasks] == before
    assert not here.context.troubles


@TWO_WAYS
@pytest.mark.room(WORK, roles=EVERYBODY, labelled=False)
async def test_a_hostile_sub_issue_closes_nothing_but_itself(here: Room) -> None:
    victim = await here.person.open_issue("Precious", "Keep it open.")
    text = f"Fixes #{victim}\n- [ ] #{victim}\n```\ncloses you/app#{victim}"
    own = await opened(here, f"Closes #{victim}", text)
    convoy = await begun(here)

    assert [(each.task, each.issue) for each in convoy.named] == [(1, own)]
    await until(here, lambda seen: seen.ended)
    assert await is_open(here, victim, own, here.issue) == [True, False, False]


WRITTEN = f"{WORK}[mayor]\nsub_issues = true\n"


async def test_a_plan_is_written_back_as_sub_issues_once(tmp_path: Path) -> None:
    """Two processes end: when an issue was opened, and when one was put into the list.

    A text that holds the other task's marker is not taken for its issue.
    """
    cuts, ticks = ["<sub>Task", "sub_issue_id"], list[asyncio.Task[bool]]()

    def cut_off(seen: Exchange) -> None:
        if ticks and cuts and seen.method == "POST" and cuts[0] in str(seen.request):
            del cuts[0]
            ticks.pop().cancel()

    forged = "<!-- brat:key=issue:do-it-1/2 -->"
    text = f"- [ ] One for @ann\n  `{forged}`\n- [ ] Two\n"
    async with (
        room(
            tmp_path,
            WRITTEN,
            text=text,
            labelled=False,
            roles=EVERYBODY,
            observe=cut_off,
        ) as here,
        AsyncExitStack() as processes,
    ):
        await here.person.relabel(here.issue, {"brat"}, set())
        settings = here.context.settings
        for left in (1, 0):
            while len(cuts) > left:
                here.loop.wake.all()
                tick = asyncio.create_task(here.loop.tick())
                ticks[:] = [tick]
                with suppress(asyncio.CancelledError):
                    await tick
            assert not here.convoy.named
            another = bot_service.opened(settings, lambda _: None)
            here.loop = await processes.enter_async_context(another)
        await here.swept()
        await until(here, lambda seen: len(seen.named) == 2)
        listed = await here.person.sub_issues.of(here.issue)
        told = {(each.title, each.number) for each in listed}
        one, two = (each.issue for each in here.convoy.named)
        assert told == {("One for @ann", one), ("Two", two)}
        assert not any("@ann" in (each.body or "") for each in listed)
        await until(here, lambda seen: seen.ended)
        issues = [each for each in here.forge.store.issues.all() if not each.pull]
        assert len(issues) == 3
        assert here.convoy.state == "complete", here.convoy.why
        assert not any(await is_open(here, one, two, here.issue))
        assert [here.labels(each) for each in (one, two)] == [{"brat:merged"}] * 2
        assert not any("sub-issues" in each for each in here.spoken())


@pytest.mark.room(WRITTEN, labelled=False, roles=EVERYBODY)
async def test_the_issue_of_a_dropped_task_is_closed_as_not_planned(here: Room) -> None:
    """What the plan only names is left open: brat did not write it."""
    other = await here.person.open_issue("Other", "Do it.")
    text = f"- [ ] One\n- [ ] Two\n- [ ] #{other}\n"
    await here.asked("PATCH", f"issues/{here.issue}", {"body": text})
    await here.person.relabel(here.issue, {"brat"}, set())
    for _ in range(3):
        await here.swept()
    one, two = (n.issue for n in here.convoy.named if n.issue != other)
    for number in (2, 3):
        await here.answer(f"/brat drop {number}")
    await until(here, lambda seen: seen.ended)

    assert here.convoy.state == "complete", here.convoy.why
    issues = {each.number: each for each in here.forge.store.issues.all()}
    assert [issues[n].state_reason for n in (one, two)] == [
        *("completed", "not_planned")
    ]
    assert issues[other].state == "open"
