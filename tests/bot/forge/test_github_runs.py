"""Runs, their artifacts and checks, as GitHub tells of them."""

import asyncio
import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

import httpx
import pytest
import respx
from msgspec.structs import replace

from bot.forge import checks, payloads
from bot.forge.checks import CheckView
from bot.forge.github import GitHub
from bot.forge.github_actions import ARTIFACT_BYTES
from bot.forge.rest import Refused
from convoy.model import ids
from convoy.text.project_tests import FailingPlace
from tests.bot.forge.test_github import API, REPO, sent
from tests.world.cases import looped
from tests.world.patience import patient

RUNS = f"{REPO}/actions/workflows/brat-task.yml/runs"


def run(number: int, **given: object) -> dict[str, object]:
    return {
        "id": number,
        "status": "in_progress",
        "conclusion": None,
        "event": "workflow_dispatch",
        "path": ".github/workflows/brat-task.yml@refs/heads/main",
        "display_title": "brat fix-7/1/1 n0nce",
        "run_attempt": 1,
        **given,
    }


async def test_dispatches_at_once_all_start_on_an_enterprise_server(
    github: GitHub, forge: respx.MockRouter
) -> None:
    async def answer(request: httpx.Request) -> httpx.Response:
        await asyncio.sleep(0)  # the other one is sent meanwhile
        if b"return_run_details" not in request.content:
            return httpx.Response(204)
        return httpx.Response(422, json={"message": '"return_run_details" is not ...'})

    route = forge.post(f"{REPO}/actions/workflows/brat-task.yml/dispatches")
    route.side_effect = answer

    async with asyncio.timeout(patient(10)), asyncio.TaskGroup() as tasks:
        starts = [
            tasks.create_task(github.runs.start("main", {"nonce": nonce}))
            for nonce in ("n0nce", "another")
        ]
    assert [start.result() for start in starts] == [None, None]


@looped(
    {"event": "push"},
    {"event": "pull_request"},
    {"path": ".github/workflows/evil.yml@refs/heads/main"},
    {"path": ".github/workflows/not-brat-task.yml"},
    {"path": "evil.yml@refs/heads/x/brat-task.yml"},
    {"path": ""},
    {"run_attempt": 2},
    {"display_title": "brat fix-7/1/1 xn0ncex"},
)
async def test_a_run_that_only_looks_like_ours_is_not_adopted(
    given: dict[str, object], github: GitHub, forge: respx.MockRouter
) -> None:
    forge.get(RUNS).respond(json={"workflow_runs": [run(1, **given)]})

    assert await github.runs.named("n0nce") is None


def kept(number: int, name: str = "brat-result", **given: object) -> dict[str, object]:
    return {"id": number, "name": name, "size_in_bytes": 5, "expired": False, **given}


def holds(forge: respx.MockRouter, *artifacts: Mapping[str, object]) -> None:
    answer = {"total_count": len(artifacts), "artifacts": artifacts}
    forge.get(f"{REPO}/actions/runs/5/artifacts").respond(json=answer)


async def test_the_newest_artifact_counts_and_one_too_large_is_not_read(
    github: GitHub, forge: respx.MockRouter
) -> None:
    holds(forge, kept(1, "logs"), kept(2, expired=True))
    assert await github.runs.artifact(5, "brat-result") is None

    holds(forge, kept(1, size_in_bytes=ARTIFACT_BYTES + 1))
    with pytest.raises(Refused, match="exceeds 100000000 bytes"):
        await github.runs.artifact(5, "brat-result")
    assert len(forge.calls) == 2

    holds(forge, kept(1), kept(3), kept(2), kept(4, "logs"), kept(5, expired=True))
    forge.get(f"{REPO}/actions/artifacts/3/zip").respond(content=b"zip")
    assert await github.runs.artifact(5, "brat-result") == b"zip"


async def test_the_newest_status_of_each_context_is_read_as_a_check(
    github: GitHub, forge: respx.MockRouter
) -> None:
    red = {
        "id": 3,
        "state": "error",
        "context": "ci/jenkins",
        "description": "no machine",
        "target_url": "https://ci.example.com/3",
    }
    runs = {"id": 4, "state": "pending", "context": "ci/slow", "description": None}
    older = red | {"id": 2, "state": "success"}
    anothers = red | {"id": 1, "state": "success", "creator": {"login": "mallory"}}
    # what repeats a check for the target's rules says nothing new
    ours = {
        "id": 5,
        "state": "success",
        "context": "ci",
        "description": checks.REPEATED,
        "creator": {"login": "github-actions[bot]"},
    }
    route = forge.get(f"{REPO}/commits/{'c' * 40}/statuses")
    route.respond(json=[ours, runs, red, older, anothers])

    found = await github.ci.statuses("c" * 40)

    assert [(one.name, one.status, one.conclusion, one.app) for one in found] == [
        ("ci/slow", "in_progress", None, ""),
        ("ci/jenkins", "completed", "error", ""),
        ("ci/jenkins", "completed", "success", "mallory"),
    ]
    assert found[1].text == "no machine\nhttps://ci.example.com/3"
    assert all(one.is_status for one in found)


def ran(
    number: int, event: str = "push", said: str = "success", **given: object
) -> payloads.Run:
    told = run(number, status="completed", event=event, conclusion=said) | given
    return payloads.Run.model_validate(told)


COMMIT = "c" * 40
UNIT = {"id": 31, "name": "unit", "status": "completed", "conclusion": "success"}


def shows(
    forge: respx.MockRouter, *jobs: dict[str, object], checks: object = ()
) -> None:
    """Let run 5 have these jobs, and the commit these check runs."""
    forge.get(f"{REPO}/actions/runs/5/jobs").respond(json={"jobs": jobs})
    route = forge.get(f"{REPO}/commits/{COMMIT}/check-runs")
    route.respond(json={"check_runs": checks})


async def test_a_check_of_actions_counts_as_the_job_behind_it_ended(
    github: GitHub, forge: respx.MockRouter
) -> None:
    shown = UNIT | {"app": {"slug": "github-actions"}}
    unseen = UNIT | {"id": 8, "name": "lint", "conclusion": "failure"}
    job = unseen | {"id": 7, "check_run_url": f"{API}{REPO}/check-runs/31"}
    shows(forge, job, unseen, checks=[shown, shown | {"id": 40}])
    forge.get(f"{REPO}/actions/runs/6/jobs").respond(json={"jobs": []})
    forge.get(f"{REPO}/actions/runs").respond(json={"workflow_runs": []})

    runs = (ran(5), ran(6, said="startup_failure"), ran(9, "issue_comment"))
    found = {check.id: check for check in await github.ci.checks(COMMIT, runs)}

    assert (found[31].conclusion, found[31].is_loose) == ("failure", False)
    assert found[40].is_loose
    assert (found[8].name, found[8].workflow) == ("lint", f"{runs[0].file}@push")
    assert (found[6].name, found[6].conclusion) == ("brat-task.yml", "startup_failure")
    assert len(found) == 4


async def test_brats_own_jobs_are_no_checks_and_runs_that_wait_for_approval_none(
    github: GitHub, forge: respx.MockRouter
) -> None:
    """The loop's own job stands on the commit that it looks at, and is under way."""
    actions = {"slug": "github-actions"}
    ours = run(1, path=".github/workflows/brat-task.yml", check_suite_id=71)
    waiting = {"event": "pull_request", "actor": {"login": "github-actions[bot]"}}
    ended = {"path": ".github/workflows/ci.yml", "status": "completed"}
    asks = ended | waiting | {"id": 2, "conclusion": "action_required"}
    judging = ended | {"id": 5, "event": "workflow_dispatch", "conclusion": "success"}
    listed = {"workflow_runs": [ours, asks, judging]}
    forge.get(f"{REPO}/actions/runs").respond(json=listed)
    loop = {"id": 40, "name": "brat / loop", "status": "in_progress", "app": actions}
    shown = [UNIT | {"app": actions}, loop | {"check_suite": {"id": 71}}]
    shows(forge, UNIT, checks=shown)
    forge.get(f"{REPO}/commits/{COMMIT}/statuses").respond(json=[])

    runs = await github.ci.runs(COMMIT)
    seen = await github.ci.judged(COMMIT, runs, (), "")

    assert [each.id for each in runs or ()] == [5]
    assert (seen.verdict, seen.names) == ("green", ("unit",))


APPROVE = "run 5 waits for approval of its environment: https://here/5"
WAITS: dict[str, object] = {"status": "waiting"}
TIMED = WAITS | {"reviewers": []}
KEPT_OUT = {"conclusion": "failure", "steps": []}
NO_STEP = f"deploy: {checks.NO_STEP}"
BILL = "The job was not started because recent account payments have failed"
RULES = "Branch x is not allowed to deploy due to environment protection rules."


@looped(
    ((), WAITS, ("pending", APPROVE)),
    (("e2e",), WAITS, ("pending", APPROVE)),
    (("unit",), WAITS, ("green", "")),
    ((), TIMED, ("pending", "")),
    (("e2e",), TIMED, ("pending", "")),
    (("unit",), TIMED, ("green", "")),
    ((), KEPT_OUT, ("broken", NO_STEP)),
    ((), KEPT_OUT | {"marks": RULES}, ("broken", NO_STEP)),
    ((), KEPT_OUT | {"marks": BILL}, ("broken", f"deploy: {BILL}")),
    (("unit",), KEPT_OUT, ("green", "")),
)
async def test_a_job_that_a_person_must_let_run_says_so(
    required: tuple[str, ...],
    deploy: dict[str, object],
    said: tuple[str, str],
    github: GitHub,
    forge: respx.MockRouter,
) -> None:
    status = deploy.get("status", "completed")
    runs = (ran(5, status=status, html_url="https://here/5"),)
    shows(forge, UNIT, UNIT | {"id": 32, "name": "deploy"} | deploy)
    forge.get(f"{REPO}/commits/{COMMIT}/statuses").respond(json=[])
    asked = forge.get(f"{REPO}/actions/runs/5/pending_deployments")
    reviewers = deploy.get("reviewers", [{"type": "User"}])
    asked.respond(json=[{"wait_timer": 30, "reviewers": reviewers}])
    if "steps" in deploy:
        marks(forge, 32, deploy.get("marks"))

    seen = await github.ci.judged(COMMIT, runs, required, "")

    assert (seen.verdict, seen.text) == said


def marks(forge: respx.MockRouter, job: int, said: object) -> None:
    route = forge.get(f"{REPO}/check-runs/{job}/annotations")
    route.respond(json=[{"message": said}] if said else [])


@looped(
    ({"conclusion": "startup_failure"}, "could not start the run (https://here/5): "),
    ({"conclusion": "failure"}, BILL),
    ({"conclusion": "failure", "steps": [{}]}, ""),
)
async def test_a_run_that_no_machine_took_says_why(
    ended: dict[str, object], why: str, github: GitHub, forge: respx.MockRouter
) -> None:
    told = run(5, status="completed", html_url="https://here/5") | ended
    forge.get(f"{REPO}/actions/runs/5").respond(json=told)
    if ended["conclusion"] == "failure":
        job = UNIT | KEPT_OUT | {"steps": ended.get("steps", [])}
        forge.get(f"{REPO}/actions/runs/5/jobs").respond(json={"jobs": [job]})
    if why == BILL:
        marks(forge, 31, BILL)

    found = await github.ci.why_unstarted(5)

    assert why in found
    assert bool(why) is bool(found)


LOG = """\
\ufeff2026-11-01T10:00:00.1234567Z Current runner version: '2.330.0'
2026-11-01T10:00:02.0000000Z ##[group]Run ./lint || true
2026-11-01T10:00:02.1000000Z ##[error]a.py:1: tolerated
2026-11-01T10:00:05.0000000Z ##[group]Run pytest -q
2026-11-01T10:00:05.1000000Z \x1b[36;1mpytest -q\x1b[0m
2026-11-01T10:00:05.2000000Z ##[endgroup]
2026-11-01T10:00:07.0000000Z FAILED tests/test_a.py::test_sum - assert 3 == 4
2026-11-01T10:00:07.1000000Z ##[error]Process completed with exit code 1.
2026-11-01T10:00:07.2000000Z Post job cleanup.
2026-11-01T10:00:09.0000000Z ##[error]the report could not be sent
"""
STEPS = [
    {"name": "lint", "conclusion": "success"},
    {
        "name": "test",
        "conclusion": "failure",
        "started_at": "2026-11-01T10:00:05Z",
        "completed_at": "2026-11-01T10:00:07Z",
    },
    {"name": "report", "conclusion": "failure", "started_at": "2026-11-01T10:00:09Z"},
]
PRINTED = """\
Run pytest -q
\x1b[36;1mpytest -q\x1b[0m

FAILED tests/test_a.py::test_sum - assert 3 == 4
Process completed with exit code 1."""


@looped((200, f"unit: failure\n{PRINTED}"), (410, "unit: failure"))
async def test_a_red_job_tells_what_its_failed_step_printed(
    status: int, text: str, github: GitHub, forge: respx.MockRouter
) -> None:
    job = UNIT | {"conclusion": "failure"}
    shows(forge, job, UNIT | {"id": 32, "name": "docs"})
    forge.get(f"{REPO}/actions/jobs/31").respond(json=job | {"steps": STEPS})
    stored = "https://logs.example.com/31"
    there = {"location": stored} if status == HTTPStatus.OK else {}
    asked = forge.get(f"{REPO}/actions/jobs/31/logs")
    asked.respond(302 if there else status, headers=there)
    forge.get(stored).respond(text=LOG)

    seen = await github.ci.judged(COMMIT, (ran(5),), ("unit",), "")

    assert (seen.verdict, seen.failed, seen.text) == ("red", ("unit",), text)


# --- the schedule that wakes the loop: on while there is work, and off else ---------

WAKE = f"{REPO}/actions/workflows/brat-wake.yml"


@looped(
    ("active", False, "disable"),
    ("disabled_manually", True, "enable"),
    ("disabled_inactivity", True, "enable"),
    ("active", True, ""),
    ("disabled_manually", False, ""),
)
async def test_it_is_changed_only_where_it_is_otherwise(
    state: str, *, on: bool, asked: str, github: GitHub, forge: respx.MockRouter
) -> None:
    forge.get(WAKE).respond(json={"id": 1, "state": state})
    if asked:
        forge.put(f"{WAKE}/{asked}").respond(204)
    forge.calls.clear()

    await github.runs.wake_by_clock(on=on)

    methods = [call.request.method for call in forge.calls]
    assert methods == (["GET", "PUT"] if asked else ["GET"])


# --- checks of the bot's own on commits: made once, found again, changed in place -----

VIEW = CheckView(
    key=ids.check_key("fix-7", 2, 1),
    commit=COMMIT,
    name="brat (task-2)",
    conclusion=None,
    title="In the merge queue",
    summary="Task 2.",
    url="https://example.org/issues/7",
)
LANDED = replace(VIEW, conclusion="success", title="Landed", summary="It landed.")
MADE = {"id": 5, "name": VIEW.name, "status": "completed"}
CHECKS = f"{REPO}/commits/{COMMIT}/check-runs"


def checked(view: CheckView, number: int = 5, marks: int = 0) -> dict[str, Any]:
    run = {
        "id": number,
        "name": view.name,
        "status": "completed" if view.conclusion else "in_progress",
        "conclusion": view.conclusion,
        "external_id": view.key,
        "output": {
            "title": view.title,
            "summary": view.summary,
            "annotations_count": marks,
        },
    }
    other = {**run, "id": 4, "external_id": "somebody's"}
    return {"total_count": 2, "check_runs": [other, run]}


async def shown(github: GitHub, view: CheckView) -> None:
    runs = github.check_runs
    await runs.show(view, await runs.found(view))


async def test_a_check_that_another_jobs_token_made_is_made_anew(
    github: GitHub, forge: respx.MockRouter
) -> None:
    marked = replace(LANDED, places=(FailingPlace("a.py", 3, "it fails"),))
    older = [{**one, "id": 3} for one in checked(VIEW)["check_runs"]]
    newer = checked(VIEW, marks=1)["check_runs"]
    forge.get(CHECKS).respond(json={"check_runs": [*older, *newer]})
    forge.patch(f"{REPO}/check-runs/5").respond(403, json={"message": "Invalid app_id"})
    made = forge.post(f"{REPO}/check-runs").respond(201, json=MADE)

    await shown(github, marked)

    body = json.loads(made.calls.last.request.content)
    assert (body["name"], body["conclusion"]) == (VIEW.name, "success")
    assert body["output"]["annotations"][0]["message"] == "it fails"


async def test_where_checks_are_forbidden_a_status_shows_the_same(
    github: GitHub, forge: respx.MockRouter
) -> None:
    forge.get(CHECKS).respond(json={"total_count": 0, "check_runs": []})
    forge.post(f"{REPO}/check-runs").respond(422, json={"message": "no such commit"})
    with pytest.raises(Refused):  # and nothing is shown
        await shown(github, VIEW)

    forge.post(f"{REPO}/check-runs").respond(403, json={"message": "Apps only"})
    context = {"id": 5, "context": VIEW.name, "state": "pending"}
    context["description"] = VIEW.title
    forge.get(f"{REPO}/commits/{COMMIT}/status").respond(json={"statuses": [context]})
    made = forge.post(f"{REPO}/statuses/{COMMIT}").respond(201, json={"id": 6})

    await shown(github, VIEW)
    assert not made.called

    await shown(github, LANDED)
    assert sent(made) == {
        "state": "success",
        "context": "brat (task-2)",
        "description": "Landed",
        "target_url": "https://example.org/issues/7",
    }
