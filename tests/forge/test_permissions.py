"""What a token lacks is refused, by GitHub's own table of permissions."""

import re
from collections.abc import Mapping, Sequence

import httpx
import pytest
from msgspec import json
from ruamel.yaml import YAML

from brat.forge.http_server import ROUTES
from brat.forge.resources.account_resource import Access
from brat.forge.resources.run_resource import Run
from tests.world import npm
from tests.world.forge import REPO, Town
from tests.world.github_forge.endpoint_permissions import (
    ENDPOINTS,
    FOR_ANY,
    needed,
    read,
    shape,
)
from tests.world.github_forge.extension import ROUTES as MORE_ROUTES
from tests.world.github_forge.workflow_triggers import LOOP_WORKFLOW, permissions_of
from tests.world.readme import README

NPM = README.parent / "tests/npm"
WORKFLOW = README.parent / "workflows/brat.yml"
NAME = "X-Accepted-GitHub-Permissions"
REFUSED = "Resource not accessible by integration"
PERSONS_ONLY = {"GET /user"}
"""Endpoints that no installation's token may use."""
_REPO = "/repos/{owner}/{repo}"
OLDER = {
    "contents=read": (
        "GET /actions/artifacts/{artifact_id}",
        "GET /actions/artifacts/{artifact_id}/zip",
        "GET /actions/runs",
        "GET /actions/runs/{run_id}",
        "GET /actions/runs/{run_id}/artifacts",
        "GET /actions/runs/{run_id}/jobs",
        "GET /actions/workflows",
        "GET /actions/workflows/{workflow_id}",
        "GET /actions/workflows/{workflow_id}/runs",
        "GET /check-runs/{check_run_id}",
        "GET /commits/{ref}/check-runs",
    ),
    "contents=write": (
        "POST /actions/runs/{run_id}/cancel",
        "GET /actions/secrets",
        "GET /actions/secrets/public-key",
        "PUT /actions/secrets/{secret_name}",
        "DELETE /issues/{issue_number}/reactions/{reaction_id}",
        "DELETE /issues/comments/{comment_id}/reactions/{reaction_id}",
    ),
    "pull_requests=read": ("GET /issues/comments/{comment_id}/reactions",),
    "pull_requests=write": (
        "POST /issues/{issue_number}/reactions",
        "DELETE /issues/{issue_number}/reactions/{reaction_id}",
        "POST /issues/comments/{comment_id}/reactions",
        "DELETE /issues/comments/{comment_id}/reactions/{reaction_id}",
    ),
    "single_file=read": ("GET /contents/{path}",),
}
"""What the package says beside our rows: it is older than GitHub's page."""
NEWER = {
    "contents=read": ("GET /pulls/{pull_number}",),
    "contents=write,workflows=write": (
        "POST /git/refs",
        "PATCH /git/refs/{ref}",
    ),
}
"""What our rows say beside the package, as GitHub's page does."""


def routed() -> list[tuple[str, str]]:
    """Return each route to which a token may be shown, by method and path."""
    routes = (*ROUTES, *MORE_ROUTES)
    return [(one.method, one.path) for one in routes if one.identify is None]


def test_each_route_has_a_row() -> None:
    known = {*map(shape, ENDPOINTS), *FOR_ANY, *PERSONS_ONLY}

    missing = [route for route in routed() if shape(" ".join(route)) not in known]
    assert missing == []


@pytest.mark.needs("npm")
def test_the_rows_are_githubs() -> None:
    package = npm.installed(NPM) / "@octokit/app-permissions"
    told = json.decode((package / "generated/api.github.com.json").read_bytes())
    theirs = {
        (shape(endpoint), f"{name}={level}")
        for name, levels in told["permissions"].items()
        for level in ("read", "write", "admin")
        for endpoint in levels.get(level, ())
    }
    known = {endpoint for endpoint, _ in theirs}
    ours = {
        (shape(endpoint), one)
        for endpoint, need in ENDPOINTS.items()
        for one in need.split("; ")
        if shape(endpoint) in known
    }

    served = {endpoint for endpoint, _ in ours}
    assert {one for one in theirs if one[0] in served} - ours == rows(OLDER)
    assert ours - theirs == rows(NEWER)


def rows(said: Mapping[str, Sequence[str]]) -> set[tuple[str, str]]:
    """Return each endpoint with each permission that is said of it."""
    return {
        (shape(one.replace(" ", f" {_REPO}", 1)), permission)
        for permission, endpoints in said.items()
        for one in endpoints
    }


# --- what is refused ------------------------------------------------------------------


def allow(here: Town, *permissions: tuple[str, str]) -> None:
    """Make a token with these permissions and no other, for a private repository."""
    repo = here.forge.known(REPO)
    here.forge.update(repo, private=True)
    bot = here.forge.user("brat[bot]")
    assert bot is not None
    access = Access(
        repos=(repo.id,), permissions=permissions, expires_at="2099-01-01T00:00:00Z"
    )
    here.tokens["restricted"] = here.forge.keys.add(bot, access=access)


async def asked(here: Town, route: tuple[str, str]) -> httpx.Response:
    """Ask for something at a route; it may well not be there."""
    method, path = route
    path = path.replace("{owner}/{repo}", REPO)
    path = re.sub(r"\{[a-z]+:\\d\+\}", "1", path)
    path = re.sub(r"\{[^}]*\}", "x", path)
    body: dict[str, str] | None = None if method == "GET" else {}
    return await here.ask(method, path, body, by="restricted")


async def test_a_token_needs_what_the_table_says(here: Town) -> None:
    for route in routed():
        for granted in needed(*route) or ():
            allow(here, *granted)
            answer = await asked(here, route)
            assert answer.status_code != 403, (route, answer.text)


async def test_a_token_without_what_the_table_says_is_refused(here: Town) -> None:
    for route in routed():
        needs = needed(*route)
        if needs in (read("metadata=read"), ((),)):
            continue  # every token may do this
        named = [one for each in needs or () for one in each]
        allow(here, *((name, "read") for name, level in named if level != "read"))
        answer = await asked(here, route)
        assert (answer.status_code, answer.json()["message"]) == (403, REFUSED), route
        assert not needs or read(answer.headers[NAME]) == needs, route


async def test_a_repository_that_a_token_does_not_open_is_not_there(
    here: Town,
) -> None:
    allow(here, ("issues", "write"))
    here.forge.add_repository("alice/other", private=True)

    for method in ("GET", "POST"):
        answer = await here.ask(
            method, "issues", {"title": "x"}, by="restricted", repo="alice/other"
        )
        assert answer.status_code == 404


async def test_a_persons_token_that_may_only_read_is_told_what_it_needs(
    here: Town,
) -> None:
    answer = await here.ask("POST", "issues", {"title": "x"}, by="reader")

    assert answer.status_code == 403
    assert answer.json()["message"].endswith("by personal access token")
    assert answer.headers[NAME] == "issues=write"


# --- the tokens of jobs ---------------------------------------------------------------


def asked_for(*jobs: str) -> dict[str, str]:
    """Return the permissions that jobs of brat.yml have together."""
    told = YAML(typ="safe").load(WORKFLOW.read_text())["jobs"]
    return {
        name.replace("-", "_"): level
        for job in jobs
        for name, level in told[job]["permissions"].items()
    }


@pytest.mark.parametrize(
    ("inputs", "jobs"), [({}, ("loop",)), ({"session": "x"}, ("task", "wake"))]
)
def test_a_jobs_token_has_what_its_workflow_asks_for(
    inputs: dict[str, str], jobs: tuple[str, ...]
) -> None:
    run = Run(
        id=1,
        repo=1,
        number=1,
        path=LOOP_WORKFLOW,
        title="brat",
        branch="main",
        head_sha="a" * 40,
        actor=1,
        inputs=inputs,
        created_at="",
        updated_at="",
    )

    assert dict(permissions_of(run) or ()) == asked_for(*jobs)


async def test_a_job_that_may_only_read_is_told_so(here: Town) -> None:
    repo = here.forge.known(REPO)
    here.tokens["job"] = here.forge.add_token("brat[bot]", scope="read", repo=repo.id)

    refused = await here.ask("POST", "issues", {"title": "x"}, by="job")
    assert (refused.status_code, refused.json()["message"]) == (403, REFUSED)
