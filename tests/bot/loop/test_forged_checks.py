"""Whoever may write checks or statuses does not let red work land."""

from dataclasses import replace
from pathlib import Path

import pytest

from brat.forge.resources.forge_records import ACTIONS_APP, CheckRun, Job
from brat.forge.rest.rest_call import Extension
from brat.forge.service.running_forge import Service
from convoy.model import ids
from tests.bot.room import FILES, NAME, REPO, Room, room
from tests.bot.there import there
from tests.world.forge_rules import checks, put_ruleset
from tests.world.github_forge.apps import Apps, NewApp
from tests.world.github_forge.extension import github

CONFIG = '[refinery]\nchecks = ["ci"]\n'
pytestmark = [pytest.mark.layer("landing"), pytest.mark.room(CONFIG)]


async def candidate(here: Room, number: int = 1, **more: bytes) -> str:
    await here.worked(number, FILES | {f"{name}.py": more[name] for name in more})
    return there(here.task(number).candidate).commit


def judged(here: Room, commit: str, conclusion: str) -> None:
    repo = here.forge.known(REPO)
    lane = ids.base_branch(NAME)
    with here.forge.store.change():
        here.forge.store.check_runs.put(
            CheckRun(
                id=here.forge.store.next_id(),
                repo=repo.id,
                head_sha=commit,
                name="ci",
                app=ACTIONS_APP,
                status="completed",
                conclusion=conclusion,  # type: ignore[arg-type]
                started_at=here.forge.now(),
                completed_at=here.forge.now(),
                job=Job(ref=ids.queue_branch(lane, commit)),
            )
        )


async def said(here: Room, commit: str, by: str, *, status: bool = False) -> None:
    """Let an App say by a check, or anybody by a status, that the commit is green."""
    here.let_in(by)
    if status:
        green = {"context": "ci", "state": "success"}
        await here.asked("POST", f"statuses/{commit}", green, by)
    else:
        green = {"name": "ci", "head_sha": commit, "conclusion": "success"}
        await here.asked("POST", "check-runs", green, by)


async def test_a_newer_check_run_of_a_jobs_token_does_not_turn_red_into_green(
    here: Room,
) -> None:
    commit = await candidate(here)
    judged(here, commit, "failure")
    await said(here, commit, "github-actions[bot]")

    await here.swept(3)

    assert here.task(1).state != "merged"
    assert here.task(1).doubt is not None


async def test_another_apps_check_of_the_same_name_does_not_pass(here: Room) -> None:
    judged(here, await candidate(here), "success")
    await here.swept(3)
    assert here.task(1).state == "merged"
    assert here.state.reporters == {"ci": "github-actions"}

    second = await candidate(here, 2, two=b"two\n")
    await said(here, second, "evil[bot]")
    await here.swept(3)

    assert here.task(2).state == "needs-review"
    assert "evil is not allowed to report" in there(here.task(2).set_aside).why


async def test_a_status_that_a_ruleset_wants_of_an_app_counts_from_it_alone(
    tmp_path: Path,
) -> None:
    def pinned(service: Service) -> Extension:
        apps = Apps(service.forge)
        new = NewApp(slug="vercel", owner="you", public_key="", permissions={})
        wanted = apps.add(new)
        apps.add(replace(new, slug="evil"))
        put_ruleset(service.forge, checks("ci", app=wanted.id), repo=REPO)
        return github(service)

    async with room(tmp_path, CONFIG, extend=pinned) as here:
        commit = await candidate(here)

        for by in ("mallory", "github-actions[bot]", "evil[bot]"):
            await said(here, commit, by, status=True)
            await here.swept(3)
            assert here.task(1).state != "merged", by
        await said(here, commit, "vercel[bot]", status=True)
        await here.said("/brat retry 1")
        await here.swept(3)

        assert here.task(1).state == "merged"


FREE = "[refinery]\nrequire_ci = false\n"
JUDGING = FILES | {"action.yml": b"runs: {}\n"}


@pytest.mark.layer("test")
@pytest.mark.room(FREE)
async def test_a_candidate_that_changes_ci_waits_for_somebody_who_looked(
    here: Room,
) -> None:
    await here.worked(1, JUDGING)  # the log does not tell that it changes CI
    await here.loop.tick()

    assert here.task(1).state == "needs-review"
    assert here.task(1).withdrawn
    assert "This work changes files that control CI" in "\n".join(here.spoken())
    assert here.tip(f"convoy/{NAME}/base") == here.tip("main")

    await here.answer("/brat merge", on=here.pull(1))
    assert here.task(1).state == "merged"
