"""What the loop does on the forge: in which order, and what it leaves alone or ends."""

from pathlib import Path

import pytest

from bot.door.inbox import StartRequest
from bot.forge.transport import Precedence
from bot.loop.loop import precedence_of
from bot.serving import bot_service
from brat.forge.resources.forge_records import Run
from convoy.model import ids
from convoy.model.records import ActionKind
from convoy.model.work import Intent
from convoy.owed import Do, Effect, Role, Show
from convoy.rules.people import DropTask
from tests.bot.another_folder import elsewhere
from tests.bot.lobby import lobby
from tests.bot.room import NAME, Room
from tests.world.forge import until


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


async def test_a_bot_that_waits_denies_nobody(tmp_path: Path) -> None:
    async with lobby(tmp_path) as here:
        issue = await here.write("Do it", "- [ ] one")
        await here.loop.tick()  # and holds the lease from its first push on
        assert here.loop.lease.held
        settings = here.context.settings
        other = elsewhere(settings, tmp_path / "other").model_copy(
            update={"sole": False}
        )
        told: list[str] = []
        async with bot_service.opened(other, told.append) as second:
            await here.you.relabel(issue, {"brat"}, set())
            asked = StartRequest(issue=issue, title="Do it", text="", by="mallory")
            second.context.inbox.put("delivery", asked)

            assert await second.tick()

        assert here.said() == []
        assert "brat" in here.labels(issue)
        assert any("another bot" in each for each in told)


EVERYBODY: tuple[Role, ...] = ("mayor", "witness", "refinery", "deacon")
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
    told = {"roles": EVERYBODY, "push_gap_s": 1000.0}
    loop.context.settings = loop.context.settings.model_copy(update=told)

    async def all_ended() -> bool:
        return all(run.status == "completed" for run in runs.all())

    async def pause(_: float) -> None:
        await until(all_ended)
        if here.task(1).attempt is not None and not here.task(1).runs:
            loop.wake.up("runs")  # as the delivery `workflow_run completed` does

    loop.pacing.pause = pause
    await loop.tick()

    assert len(runs.all()) == 1
    assert here.task(1).attempt is None
    assert here.task(1).work is not None


def running(here: Room, branch: str, commit: str) -> int:
    """Let a workflow of the repository's own run on a commit; return its id."""
    store = here.forge.store
    (repo,) = store.repositories.all()
    with store.change():
        run = store.runs.put(
            Run(
                id=store.next_id(),
                repo=repo.id,
                number=1,
                path=".github/workflows/ci.yml",
                title="ci",
                branch=branch,
                head_sha=commit,
                actor=repo.id,
                inputs={},
                created_at=here.forge.now(),
                updated_at=here.forge.now(),
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
