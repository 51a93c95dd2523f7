"""What the loop does on the forge: in which order, and what it leaves alone or ends."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from time import monotonic

import pytest

from bot.door.inbox import StartRequest
from bot.forge.transport import Precedence
from bot.loop.loop import precedence_of
from bot.repository.strangers_commits import EXAMINERS
from bot.serving import bot_service
from brat.forge.resources.forge_records import Run
from convoy.model import ids
from convoy.model.ids import ActionKind
from convoy.model.work import Intent
from convoy.owed import Do, Effect, Show
from convoy.rules.people import DropTask
from tests.bot.hosted import elsewhere
from tests.bot.room import DEADLINE_S, EVERYBODY, NAME, Room, room
from tests.world.forge import until
from tests.world.github_forge.injected_faults import Faults
from tests.world.traffic import Exchange

pytestmark = pytest.mark.room(roles=("mayor",), delivered=True)


def intended(kind: ActionKind) -> Do:
    return Do(Intent(key=kind, kind=kind, convoy="fix-7", task=1, attempt=1))


def test_sessions_start_before_what_nobody_waits_for() -> None:
    wanted: list[Effect] = [
        Show("fix-7", "comment"),
        intended("pull"),
        intended("dispatch"),
        intended("comment"),
        intended("answer"),
    ]

    first, second, third, *rest = sorted(wanted, key=precedence_of)

    assert [first, second] == [intended("comment"), intended("answer")]
    assert third == intended("dispatch")
    assert {precedence_of(each) for each in rest} == {Precedence.REST}


async def test_a_bot_that_waits_denies_nobody(hall: Room, tmp_path: Path) -> None:
    issue = await hall.write("Do it", "- [ ] one")
    await hall.loop.tick()  # and holds the lease from its first push on
    assert hall.loop.lease.held
    other = elsewhere(hall.context.settings, tmp_path / "other")
    other, told = other.model_copy(update={"sole": False}), list[str]()
    async with bot_service.opened(other, told.append) as second:
        await hall.person.relabel(issue, {"brat"}, set())
        asked = StartRequest(issue=issue, title="Do it", text="", by="mallory")
        second.context.inbox.put("delivery", asked)

        assert await second.tick()

    assert hall.spoken() == []
    assert "brat" in hall.labels(issue)
    assert any("another bot" in each for each in told)


CONFIG = """\
[engine.default]
type = "shell"
args = ["sh", "-c", "echo done > work.txt"]
"""


@pytest.mark.room(CONFIG, text="- [ ] one\n")
async def test_a_run_that_ends_before_its_id_is_noted_is_taken_in_at_once(
    here: Room,
) -> None:
    loop, runs = here.loop, here.forge.store.runs
    here.configure(roles=EVERYBODY, push_gap_s=1000.0)
    EXAMINERS.end()

    async def pause(_: float) -> None:
        await until(lambda: all(run.status == "completed" for run in runs.all()))
        if here.task(1).attempt is not None and not here.task(1).runs:
            assert EXAMINERS.process, "it is loaded before there is work"
            loop.wake.up("runs")  # as the delivery `workflow_run completed` does

    loop.pushes.pause = pause
    await loop.tick()

    assert len(runs.all()) == 1
    assert here.task(1).attempt is None
    assert here.task(1).work is not None


def running(here: Room, branch: str, commit: str) -> int:
    """Let a workflow of the repository's own run on a commit; return its id."""
    store = here.forge.store
    (repo,), now = store.repositories.all(), here.forge.now()
    with store.change():
        run = store.runs.add(
            Run(
                repo=repo.id,
                number=1,
                path=".github/workflows/ci.yml",
                title="ci",
                branch=branch,
                head_sha=commit,
                actor=repo.id,
                inputs={},
                created_at=now,
                updated_at=now,
                event="push",
                status="in_progress",
            )
        )
    return run.id


@pytest.mark.room(text="- [ ] one\n- [ ] two\n")
async def test_a_run_on_a_candidate_that_was_given_up_is_cancelled(here: Room) -> None:
    await here.worked(1, {"one.txt": b"1\n"})
    candidate = here.task(1).candidate
    assert candidate is not None
    queue = ids.queue_branch(ids.base_branch(NAME), candidate.commit)
    judging = running(here, queue, candidate.commit)
    elsewhere = running(here, "main", candidate.commit)
    here.loop.wake.up("checks")
    await here.loop.tick()
    needed = here.forge.store.runs.get(judging)

    await here.do(DropTask(convoy=NAME, task=1, why="no"))
    here.loop.wake.up("checks")
    await here.loop.tick()

    runs = here.forge.store.runs
    assert needed is not None
    assert not needed.cancelling
    assert {run.id for run in runs.all() if run.cancelling} == {judging}
    assert elsewhere in {run.id for run in runs.all()}


# --- a command is acknowledged the moment it arrives ----------------------------------

EYES = "eyes"

A_MINUTE_ON_S = 61.0
"""The pushes before this are no longer counted."""


def reacted(here: Room, comment: int) -> list[str]:
    return [each.content for each in here.forge.store.reactions.of(comment)]


@asynccontextmanager
async def pushing_slowly(here: Room) -> AsyncIterator[None]:
    """Let the loop tick in a world where its pushes are an hour apart."""
    here.configure(push_gap_s=3600.0)

    async def ticking() -> None:
        while True:
            await here.loop.tick()
            await here.loop.wait(again=False)

    async with asyncio.timeout(DEADLINE_S), asyncio.TaskGroup() as group:
        task = group.create_task(ticking())
        yield
        task.cancel()


async def test_eyes_need_no_tick_and_no_lease(tmp_path: Path) -> None:
    seen: list[Exchange] = []
    async with room(
        tmp_path, roles=("mayor",), delivered=True, observe=seen.append
    ) as here:
        await here.loop.release()
        here.context.github.rest.guard = here.loop.lease.check
        comment = await here.person.say(here.issue, "/brat ping")

        await until(lambda: reacted(here, comment) == [EYES])
        here.context.github.rest.guard = lambda: None
        assert not here.loop.lease.held

        await here.until(lambda: reacted(here, comment) == [EYES, "rocket"])
        sent = [each.path for each in seen if each.path.endswith("/reactions")]
        assert [path.split("/")[-2] for path in sent] == [str(comment)] * 2

        again = await here.person.say(here.issue, "/brat ping")
        await here.until(lambda: reacted(here, again) == [EYES, "rocket"])
        assert comment not in here.context.memory.acknowledged, "it waits no longer"


async def test_a_failure_stops_nothing_and_the_tick_reacts_instead(hall: Room) -> None:
    issue = await hall.write("Spell words", "- [ ] one\n")
    faults = Faults(hall.forge.folder)
    faults.refuse("POST", ".*/reactions", 403, "Not now", 2)
    for _ in range(2):
        await hall.person.say(issue, "/brat ping")

    await until(lambda: len(faults.met()) == 2)
    await hall.loop.tick()
    reactions = [each.content for each in hall.forge.store.reactions.all()]
    assert reactions == [*[EYES] * 2, *["rocket"] * 2]


async def test_what_people_wait_for_ends_the_wait_between_pushes(here: Room) -> None:
    await here.said("/brat ping")  # the lease is ours
    here.loop.lease.ticking = lambda: monotonic() + A_MINUTE_ON_S
    async with pushing_slowly(here):
        comment = await here.person.say(here.issue, "/brat pause")

        await until(lambda: reacted(here, comment) == [EYES, "rocket"])
        assert here.convoy_state() == "paused"


@pytest.mark.room(roles=("mayor",))
async def test_a_job_that_stays_hears_people_between_its_pushes(here: Room) -> None:
    here.loop.stays = lambda _: True
    async with pushing_slowly(here):
        comment = await here.person.say(here.issue, "/brat pause")

        await until(lambda: "rocket" in reacted(here, comment))
