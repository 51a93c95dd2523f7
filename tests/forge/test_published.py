"""What the tests' GitHub grants, tells Apps and answers by GraphQL is GitHub's own."""

import re
from collections.abc import Mapping, Sequence

import pytest
from graphql import GraphQLNamedType, build_schema
from msgspec import json
from msgspec.structs import replace
from ruamel.yaml import YAML

from bot.forge.app_auth import PERMISSIONS
from bot.serving.github_app import EVENTS
from brat.forge.resources.forge_records import Run
from tests.contract.webhook_schemas import description
from tests.world import npm
from tests.world.github_forge.apps import EVENT_NEEDS, manifest_faults
from tests.world.github_forge.endpoint_permissions import ENDPOINTS, shape
from tests.world.github_forge.graphql import SDL
from tests.world.github_forge.workflow_runs import LOOP_WORKFLOW, permissions_of
from tests.world.readme import README

NPM = README.parent / "tests/npm"
WORKFLOW = README.parent / "workflows/brat-jobs.yml"
_REPO = "/repos/{owner}/{repo}"
OLDER = {
    "contents=read": (
        "GET /actions/artifacts/{artifact_id}/zip",
        "GET /actions/runs",
        "GET /actions/runs/{run_id}",
        "GET /actions/runs/{run_id}/artifacts",
        "GET /actions/runs/{run_id}/jobs",
        "GET /actions/workflows",
        "GET /actions/workflows/{workflow_id}",
        "GET /actions/workflows/{workflow_id}/runs",
        "GET /commits/{ref}/check-runs",
    ),
    "contents=write": (
        "POST /actions/runs/{run_id}/cancel",
        "GET /actions/secrets",
        "GET /actions/secrets/public-key",
        "PUT /actions/secrets/{secret_name}",
        "DELETE /actions/secrets/{secret_name}",
    ),
    "pull_requests=write": ("POST /issues/comments/{comment_id}/reactions",),
    "single_file=read": ("GET /contents/{path}",),
}
"""What the package says beside our rows: it is older than GitHub's page."""
NEWER = {
    "contents=read": ("GET /pulls/{pull_number}",),
    "contents=write,workflows=write": ("PATCH /git/refs/{ref}",),
}
"""What our rows say beside the package, as GitHub's page does."""


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
    return {
        (shape(one.replace(" ", f" {_REPO}", 1)), permission)
        for permission, endpoints in said.items()
        for one in endpoints
    }


# --- the tokens of jobs ---------------------------------------------------------------


def asked_for(*jobs: str) -> dict[str, str]:
    told = YAML(typ="safe").load(WORKFLOW.read_text())["jobs"]
    return {
        name.replace("-", "_"): level
        for job in jobs
        for name, level in told[job]["permissions"].items()
    }


def test_a_jobs_token_has_what_its_workflow_asks_for() -> None:
    loop = Run(
        id=1,
        repo=1,
        number=1,
        path=LOOP_WORKFLOW,
        title="brat",
        branch="main",
        head_sha="a" * 40,
        actor=1,
        inputs={},
        created_at="",
        updated_at="",
    )
    task = replace(loop, inputs={"session": "x"})

    assert dict(permissions_of(loop) or ()) == asked_for("loop")
    assert dict(permissions_of(task) or ()) == asked_for("task", "wake")


# --- Apps: GitHub makes one of a manifest, or refuses it as a whole -------------------


TITLES = {"Commit statuses": "statuses"}
NEEDED = re.compile(r"must have at least read-level access for the (.*?)\.(?:$|\s)")


@pytest.mark.needs("npm")
def test_what_an_event_needs_is_githubs_and_ours_need_no_more_than_we_have() -> None:
    told = description()["webhooks"]
    theirs = {}
    for operation in (item["post"] for item in told.values()):
        words = f"{operation.get('summary', '')}\n{operation.get('description', '')}"
        needed = NEEDED.search(words)
        if needed and "app" in operation["x-github"]["supported-webhook-types"]:
            event = operation["x-github"]["subcategory"].replace("-", "_")
            titles = re.findall(r'"([^"]+)"', needed[1])
            theirs[event] = [TITLES.get(title, title.lower()) for title in titles]

    ours = {event: [name.replace("_", " ")] for event, name in EVENT_NEEDS.items()}
    assert ours == {event: theirs[event] for event in EVENT_NEEDS}
    assert manifest_faults(PERMISSIONS, EVENTS) == []


# --- GraphQL --------------------------------------------------------------------------


def _parts(kind: GraphQLNamedType) -> Mapping[str, str]:
    """Return fields with their types and arguments, values and interfaces."""
    parts = {f"{each} (value)": "" for each in getattr(kind, "values", {})}
    parts |= {f"{each.name} (face)": "" for each in getattr(kind, "interfaces", ())}
    for name, field in getattr(kind, "fields", {}).items():
        parts[name] = str(field.type)
        for word, argument in getattr(field, "args", {}).items():
            parts[f"{name}({word})"] = f"{argument.type} = {argument.default_value}"
    return parts


@pytest.mark.needs("npm")
def test_github_has_all_that_the_forge_has() -> None:
    package = npm.installed(NPM) / "@octokit/graphql-schema"
    text = (package / "schema.graphql").read_text()
    theirs = build_schema(text, assume_valid=True).type_map

    for name, kind in build_schema(SDL.read_text()).type_map.items():
        if not name.startswith("__"):
            assert type(theirs.get(name)) is type(kind), name
            assert _parts(kind).items() <= _parts(theirs[name]).items(), name
