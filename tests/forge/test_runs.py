"""Workflow runs: real processes, that end when asked and outlive a forge that dies."""

import io
import json
import zipfile
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import psutil
import pytest
from msgspec.structs import replace

from brat.forge.service import run_processes
from brat.forge.service.run_processes import How
from brat.forge.storage.forge_state import Forge
from tests.forge.running import INPUTS, dispatch, ended, hasty, log, said, stood
from tests.world.forge import Town, settle_in, town, until

Serve = Callable[[How], AbstractAsyncContextManager[Town]]


@pytest.fixture
def serve(forge: Forge, source: Path, tmp_path: Path) -> Serve:
    tokens = settle_in(forge, source)
    return lambda how: town(forge, tokens, tmp_path, how=how)


async def test_a_run_sees_what_an_actions_job_sees_and_nothing_else(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_OF_THE_FORGE", "x")
    async with serve(hasty("look")) as here:
        run = await dispatch(here)
        assert (await ended(here, run))["conclusion"] == "success", log(here, run)
        listed = await here.get(f"actions/runs/{run}/artifacts")
        (artifact,) = listed["artifacts"]
        loaded = await here.ask("GET", f"actions/artifacts/{artifact['id']}/zip")
        assert len(loaded.content) == artifact["size_in_bytes"]
        with zipfile.ZipFile(io.BytesIO(loaded.content)) as archive:
            seen = json.loads(archive.read("result.json"))
        tip = (await here.get("branches/main"))["commit"]["sha"]

        found = seen["environment"]
        folder = here.forge.folder / "runs" / str(run)
        assert "SECRET_OF_THE_FORGE" not in found
        assert seen["token"] not in json.dumps(found)
        assert {key: found[key] for key in found if key.startswith("BRAT_")} == {
            "BRAT_SESSION": INPUTS["session"],
            "BRAT_LOG": INPUTS["log"],
            "BRAT_RESULT": str(folder / "result"),
            "BRAT_HIDDEN": str(folder.parents[1]),
            "BRAT_RUN_DIR": str(folder),
            "BRAT_TOKEN_FD": found["BRAT_TOKEN_FD"],
        }
        assert found["GITHUB_RUN_ID"] == str(run)
        assert found["GITHUB_SHA"] == tip
        assert found["GITHUB_REPOSITORY"] == "alice/app"
        assert found["GITHUB_API_URL"] == f"{here.url}/api/v3"
        assert found["HOME"] == str(folder / "home")
        assert seen["cwd"] == found["GITHUB_WORKSPACE"] == str(folder / "workspace")
        assert seen["session"] is True
        assert seen["event"]["inputs"] == INPUTS
        assert seen["event"]["repository"]["full_name"] == "alice/app"


async def test_the_token_of_a_run_reads_and_dies_with_it(serve: Serve) -> None:
    """So it does where the run's result cannot be packed."""
    async with serve(hasty("wait")) as here:
        run = await dispatch(here)
        await said(here, run, "waiting")
        (record,) = here.forge.store.runs.all()
        token = here.forge.store.tokens.get(record.token or 0)
        assert token is not None
        assert (token.scope, token.repo) == ("read", record.repo)
        folder = here.forge.folder / "runs" / str(run)
        (folder / "result").mkdir()
        (folder / "result/result.json").write_text("{}")
        (folder / "artifacts").rmdir()

        await here.post(f"actions/runs/{run}/cancel")

        assert (await ended(here, run))["conclusion"] == "cancelled"
        assert (await here.get(f"actions/runs/{run}/artifacts"))["artifacts"] == []
        assert here.forge.store.tokens.get(token.id) is None


async def test_a_program_that_is_not_there_is_said_so(serve: Serve) -> None:
    async with serve(How(("/nowhere/at-all",))) as here:
        run = await dispatch(here)

        assert (await ended(here, run))["conclusion"] == "failure"
        assert "/nowhere/at-all could not be started" in log(here, run)


@pytest.mark.parametrize("how", ["cancel", "force-cancel"])
async def test_who_will_not_end_is_ended_with_all_it_started(
    serve: Serve, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with serve(hasty("stubborn")) as here:
        run = await dispatch(here)
        child = psutil.Process(int((await said(here, run, "child")).split()[1]))

        await here.post(f"actions/runs/{run}/{how}")

        with monkeypatch.context() as dying:
            dying.setattr(run_processes, "_remove", lambda _: None)
            assert (await ended(here, run))["conclusion"] == "cancelled"
        dead = psutil.STATUS_ZOMBIE
        await until(lambda: not child.is_running() or child.status() == dead)
        left = {each.name for each in here.forge.folder.glob(f"runs/{run}/*")}
        assert "log.txt" in left
        assert not left & {"workspace", "home", "temp"}
    assert [*(here.forge.folder / run_processes.LEFT).iterdir()]
    async with serve(hasty("stubborn")):
        assert await until(lambda: not any(here.forge.folder.glob("runs-left/*")))


# --- across the death of the forge --------------------------------------------------


async def test_a_run_that_ended_in_between_is_judged_by_what_it_left(
    serve: Serve,
) -> None:
    for deed, conclusion in (("look", "success"), ("fail", "failure")):
        async with serve(hasty(deed)) as here:
            run = await dispatch(here)
            assert (await ended(here, run))["conclusion"] == conclusion
            assert deed != "fail" or log(here, run) == "this is how it failed\n"
            record = here.forge.store.runs.get(run)
            assert record is not None
            unseen = replace(record, status="in_progress", conclusion=None)
            with here.forge.store.change():  # as if the forge had died just before
                here.forge.store.runs.put(unseen)
        async with serve(hasty(deed)) as here:
            assert (await ended(here, run))["conclusion"] == conclusion


async def test_a_run_whose_process_was_not_noted_is_found_and_not_started_twice(
    serve: Serve,
) -> None:
    async with serve(hasty("wait")) as here:
        run = await dispatch(here)
        await said(here, run, "waiting")
        record = here.forge.store.runs.get(run)
        assert record is not None
    unseen = replace(record, pid=None, born=None, status="queued")
    with here.forge.store.change():  # as if the forge had died as it started it
        here.forge.store.runs.put(unseen)

    async with serve(hasty("wait")) as here:
        await stood(here, run, "in_progress")
        again = here.forge.store.runs.get(run)
        assert again is not None
        assert again.pid == record.pid
        assert log(here, run) == "waiting\n"
        await here.post(f"actions/runs/{run}/force-cancel")
        await ended(here, run)


async def test_a_cancel_is_carried_on_by_the_next_forge(serve: Serve) -> None:
    patient = How(hasty("stubborn").executor, interrupt_s=600)
    async with serve(patient) as here:
        run = await dispatch(here)
        await said(here, run, "child")
        await here.post(f"actions/runs/{run}/cancel")

    async with serve(hasty("stubborn")) as here:
        assert (await ended(here, run))["conclusion"] == "cancelled"
