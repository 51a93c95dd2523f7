"""Checks of the bot's own on commits: made once, found again, changed in place."""

import json
from typing import Any

import pytest
import respx
from msgspec.structs import replace

from bot.forge.checks import CheckView
from bot.forge.github import GitHub
from bot.forge.rest import Refused
from convoy.model import ids
from convoy.text.project_tests import FailingPlace
from tests.bot.forge.test_github import REPO, sent

COMMIT = "c0ffee" + "0" * 34
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
RUNS = f"{REPO}/commits/{COMMIT}/check-runs"


def listed(view: CheckView, number: int = 5, marks: int = 0) -> dict[str, Any]:
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
    older = [{**one, "id": 3} for one in listed(VIEW)["check_runs"]]
    newer = listed(VIEW, marks=1)["check_runs"]
    forge.get(RUNS).respond(json={"check_runs": [*older, *newer]})
    forge.patch(f"{REPO}/check-runs/5").respond(403, json={"message": "Invalid app_id"})
    made = forge.post(f"{REPO}/check-runs").respond(201, json=MADE)

    await shown(github, marked)

    body = json.loads(made.calls.last.request.content)
    assert (body["name"], body["conclusion"]) == (VIEW.name, "success")
    assert body["output"]["annotations"][0]["message"] == "it fails"


async def test_where_checks_are_forbidden_a_status_shows_the_same(
    github: GitHub, forge: respx.MockRouter
) -> None:
    forge.get(RUNS).respond(json={"total_count": 0, "check_runs": []})
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


async def test_a_forge_that_lets_us_show_nothing_says_so(
    github: GitHub, forge: respx.MockRouter
) -> None:
    forge.get(RUNS).respond(json={"total_count": 0, "check_runs": []})
    forge.post(f"{REPO}/check-runs").respond(422, json={"message": "no such commit"})

    with pytest.raises(Refused):
        await shown(github, VIEW)
