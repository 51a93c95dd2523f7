"""The loop that ends when others have to act: it dispatches, and waits for nobody."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.forge.pace import Pace, RequestBudget
from bot.loop.loop import Loop
from bot.oneshot import run_once
from bot.serving import bot_service
from brat.forge.http_server import serving
from brat.forge.resources.forge_records import Ci
from brat.forge.service.run_processes import How
from brat.forge.storage.forge_state import Forge
from brat.local import local_mode
from brat.repository import registration as registrations
from brat.repository.registration import FORGE_FOLDER, Registration, Source
from tests.forge.running import starter
from tests.world.forge import make_source
from tests.world.patience import patient
from tests.world.trusting_jobs import trusting_jobs


@pytest.fixture
def known(tmp_path: Path) -> Registration:
    source = make_source(tmp_path / "source")
    told = Source(path=source, branch="main", name="app", person="you")
    made = registrations.register(tmp_path, told)
    registrations.set_ci(tmp_path, made, Ci())
    return made


@pytest.fixture
async def loop(tmp_path: Path, known: Registration) -> AsyncIterator[Loop]:
    """Give a loop on a forge whose sessions go on until they are cancelled."""
    how = How(starter("wait"), interrupt_s=0.2, terminate_s=0.2)
    with trusting_jobs(tmp_path), Forge(tmp_path / FORGE_FOLDER) as forge:
        async with serving(forge, how=how) as url:
            settings = local_mode.bot_settings(tmp_path, known, url)
            shared = settings.model_copy(update={"sole": False})
            async with bot_service.opened(shared, lambda _: None) as opened:
                yield opened
                for run in forge.store.runs.all():
                    await opened.context.github.runs.cancel(run.id)
            async with asyncio.timeout(patient(20)):
                while any(r.status != "completed" for r in forge.store.runs.all()):  # noqa: ASYNC110  processes
                    await asyncio.sleep(0.02)


async def test_with_nothing_to_do_it_ends_and_leaves_no_lease(loop: Loop) -> None:
    left = await run_once(loop, after=None, ci_wait_s=600)

    assert (left.convoys, left.running, left.again) == (0, 0, False)
    assert not left.by_clock
    assert loop.lease.ref not in loop.context.mirror.refs


async def test_with_few_requests_left_it_leaves_the_machine_to_a_later_run(
    tmp_path: Path, known: Registration
) -> None:
    told: list[str] = []
    pace = Pace()
    with trusting_jobs(tmp_path), Forge(tmp_path / FORGE_FOLDER) as forge:
        async with serving(forge, how=How(starter("wait"))) as url:
            settings = local_mode.bot_settings(tmp_path, known, url)
            shared = settings.model_copy(update={"sole": False})
            async with bot_service.opened(shared, told.append, pace=pace) as loop:
                at = pace.time.steady() + 3_000
                pace.budget = RequestBudget(limit=1_000, left=90, resets_at=at)

                async with asyncio.timeout(patient(30)):
                    left = await run_once(loop, after=None, ci_wait_s=600)

    assert left.by_clock
    assert "few of the jobs' requests are left; a later run continues" in told


async def test_a_job_that_stays_answers_while_a_session_runs(
    tmp_path: Path, loop: Loop, known: Registration
) -> None:
    file = tmp_path / "config.toml"
    file.write_text(
        '[engine.default]\ntype = "shell"\nargs = ["true"]\n[actions]\nstay = true\n'
    )
    told = {"config_file": file}
    loop.context.settings = loop.context.settings.model_copy(update=told)
    url = loop.context.settings.git_url
    async with local_mode.person(url, known) as github:
        issue = await github.open_issue("Fix it", "All of it.")
        await github.relabel(issue, {"brat"}, set())
        async with asyncio.timeout(patient(60)), asyncio.TaskGroup() as tasks:
            job = tasks.create_task(run_once(loop, after=None, ci_wait_s=0))
            while not [*loop.context.mirror.state.running()]:  # noqa: ASYNC110  the job's
                await asyncio.sleep(0.05)
            await github.say(issue, "/brat cancel")
            left = await job

    assert (left.convoys, left.running, left.again) == (0, 0, False)


async def test_it_dispatches_and_waits_for_no_session(
    loop: Loop, known: Registration
) -> None:
    url = loop.context.settings.git_url
    async with local_mode.person(url, known) as github:
        issue = await github.open_issue("Fix it", "All of it.")
        await github.relabel(issue, {"brat"}, set())

    async with asyncio.timeout(patient(30)):  # the session goes on for longer than that
        left = await run_once(loop, after=None, ci_wait_s=600)

    assert (left.convoys, left.running, left.again) == (1, 1, False)
    assert left.by_clock  # the session may be lost without a word
    assert loop.lease.ref not in loop.context.mirror.refs
