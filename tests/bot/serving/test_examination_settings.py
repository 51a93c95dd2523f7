"""What a repository's settings would keep from the bot is said, with what mends it."""

from collections.abc import AsyncIterator

import httpx
import respx

from bot.forge.rest import Rest
from bot.serving import repository_checks
from bot.serving.examination import nowhere
from bot.serving.repository_checks import Finding
from brat.repository.workflow_files import is_ours, text_of
from tests.bot.conftest import API
from tests.world.cases import looped

NAME = "octo/project"
REPO = f"{API}/repos/{NAME}"
ACTIONS = f"{REPO}/actions/permissions"


async def all_of(found: AsyncIterator[Finding]) -> list[tuple[str, str]]:
    return [(one.grade, one.said) async for one in found]


# --- Actions --------------------------------------------------------------------------


READS = ("ok", "by default a job's token is read-only")


def settings(
    forge: respx.MockRouter, *, on: bool, actions: str = "all", default: str = "read"
) -> None:
    told = {"enabled": on, "allowed_actions": actions}
    forge.get(ACTIONS).respond(json=told)
    jobs = {
        "can_approve_pull_request_reviews": on,
        "default_workflow_permissions": default,
    }
    forge.get(f"{ACTIONS}/workflow").respond(json=jobs)


async def actions(rest: Rest, *, has_loop: bool, fix: bool) -> list[tuple[str, str]]:
    jobs = await repository_checks.job_settings(rest, NAME)
    return await all_of(
        repository_checks.examined_actions(rest, NAME, jobs, has_loop=has_loop, fix=fix)
    )


async def test_actions_that_are_off_are_a_fault(
    rest: Rest, forge: respx.MockRouter
) -> None:
    settings(forge, on=False)
    looked = await actions(rest, has_loop=True, fix=False)

    assert looked == [
        ("fault", "Actions are disabled"),
        READS,
        ("note", "jobs may not open pull requests, so brat.yml needs an App"),
    ]


async def test_a_default_token_that_can_write_is_a_fault(
    rest: Rest, forge: respx.MockRouter
) -> None:
    settings(forge, on=True, default="write")
    looked = await actions(rest, has_loop=False, fix=False)

    assert looked == [
        ("ok", "Actions may run"),
        ("fault", "by default a job's token can write, and CI runs agents' code"),
    ]


async def test_nothing_is_loosened_when_asked_to_fix(
    rest: Rest, forge: respx.MockRouter
) -> None:
    settings(forge, on=False)
    looked = await actions(rest, has_loop=True, fix=True)

    assert [grade for grade, _ in looked] == ["fault", "ok", "note"]
    assert {call.request.method for call in forge.calls} == {"GET"}


async def test_the_default_token_only_reads_when_asked_to_fix(
    rest: Rest, forge: respx.MockRouter
) -> None:
    settings(forge, on=True, default="write")
    told = {"default_workflow_permissions": "read"}
    put = forge.put(f"{ACTIONS}/workflow", json=told).respond(204)
    looked = await actions(rest, has_loop=True, fix=True)

    assert [grade for grade, _ in looked] == ["ok", "ok", "ok"]
    assert put.call_count == 1


async def test_what_may_not_be_switched_stays_a_fault(
    rest: Rest, forge: respx.MockRouter
) -> None:
    settings(forge, on=True, default="write")
    forge.put(f"{ACTIONS}/workflow").respond(403, json={"message": "no"})
    looked = await actions(rest, has_loop=False, fix=True)

    assert [grade for grade, _ in looked] == ["ok", "fault"]


async def test_actions_of_others_are_needed(
    rest: Rest, forge: respx.MockRouter
) -> None:
    settings(forge, on=True, actions="local_only")
    looked = await actions(rest, has_loop=True, fix=False)

    assert [grade for grade, _ in looked] == ["ok", "ok", "fault", "ok"]


async def test_settings_that_are_not_shown_are_a_note(
    rest: Rest, forge: respx.MockRouter
) -> None:
    forge.get(f"{ACTIONS}/workflow").respond(403, json={"message": "no"})
    looked = await actions(rest, has_loop=True, fix=True)

    assert [grade for grade, _ in looked] == ["note"]


# --- workflows ------------------------------------------------------------------------


async def test_a_workflow_file_is_held_against_this_version() -> None:
    ci = "on:\n  push:\n    branches: [main, 'brat/queue/**']\njobs: {x: {}}\n"
    files = {
        "brat.yml": text_of("brat.yml").replace("[CI]", '["tests"]'),
        "brat-task.yml": text_of("brat-task.yml") + "# mine\n",
        "ci.yml": ci,
    }

    assert await all_of(repository_checks.examined_workflows(files, is_ours)) == [
        ("ok", "brat.yml is this version's"),
        ("note", "brat-task.yml is from another version"),
        ("ok", "ci.yml may test what brat builds"),
    ]


# --- the webhook ----------------------------------------------------------------------


@looped(
    ("url", "why"),
    [
        ("https://brat.example.com/webhooks/github", "is an example"),
        ("http://127.0.0.1:8080/", "is inside a network that the forge cannot reach"),
        ("http://localhost/", "is inside a network that the forge cannot reach"),
        ("http://10.1.2.3/", "is inside a network that the forge cannot reach"),
        ("http://[::1/", "is none"),
        ("https://brat.alice.dev/webhooks/github", ""),
    ],
)
def test_an_address_that_leads_nowhere_is_known(url: str, why: str) -> None:
    assert nowhere(url, "https://api.github.com") == why


def test_a_forge_in_the_same_network_reaches_it() -> None:
    assert nowhere("http://10.1.2.3/", "http://10.1.2.4/api/v3") == ""


async def test_the_files_are_read_from_the_default_branch(
    rest: Rest, forge: respx.MockRouter
) -> None:
    listed = [
        {"path": ".github/workflows/ci.yml"},
        {"path": ".github/workflows/gone.yml"},
        {"path": "dynamic/pages"},
    ]
    body = {"total_count": 3, "workflows": listed}
    forge.get(f"{REPO}/actions/workflows?per_page=100").respond(json=body)
    at = f"{REPO}/contents/.github/workflows"
    forge.get(f"{at}/ci.yml").mock(
        httpx.Response(200, json={"content": "b246\nIHB1c2gK", "encoding": "base64"})
    )
    forge.get(f"{at}/gone.yml").respond(404, json={"message": "Not Finding"})

    assert await repository_checks.workflow_texts(rest, NAME) == {
        "ci.yml": "on: push\n"
    }
