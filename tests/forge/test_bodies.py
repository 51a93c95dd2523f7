"""Bodies of writes: what GitHub refuses is refused, in its words."""

import pytest
from msgspec import json

from tests.forge.running import DISPATCH, INPUTS, hasty
from tests.world.cases import looped
from tests.world.forge import Json, Town, town
from tests.world.github_forge.endpoint_permissions import shape
from tests.world.github_forge.profiles import RELEASES, choose, names


@looped(
    ("path", "body", "said"),
    [
        (
            DISPATCH,
            {"tag": 1},
            '"tag" is not a permitted key.\n"ref" wasn\'t supplied.',
        ),
        (DISPATCH, {"ref": 7}, "For 'properties/ref', 7 is not a string."),
        (
            DISPATCH,
            {"ref": "main", "inputs": []},
            "For 'properties/inputs', [] is not an object.",
        ),
        (
            DISPATCH,
            {"ref": "main", "return_run_details": "true"},
            "For 'properties/return_run_details', \"true\" is not a boolean.",
        ),
        ("issues", None, '"title" wasn\'t supplied.'),
        ("issues", [], "[] is not an object."),
        ("issues", {"title": None}, "For 'properties/title', nil is not a string."),
        ("git/refs", {}, '"ref", "sha" weren\'t supplied.'),
        (
            "git/refs",
            {"ref": "refs/heads/x", "sha": "a" * 40, "froce": 1, "x": 2},
            '"froce", "x" are not permitted keys.',
        ),
        ("check-runs", {"name": "x", "output": {"title": 7}}, "7 is not a string."),
    ],
)
async def test_what_is_wrong_with_a_body_is_said(
    here: Town, path: str, body: Json, said: str
) -> None:
    refused = await here.ask("POST", path, body)

    assert refused.status_code == 422
    assert refused.json()["message"].startswith("Invalid request.\n\n")
    assert refused.json()["message"].endswith(said)


# --- profiles -------------------------------------------------------------------------


@pytest.mark.parametrize("name", names())
async def test_each_github_permits_its_own_keys(here: Town, name: str) -> None:
    choose(here.forge.folder, name)
    lacking = json.decode(RELEASES.read_bytes()).get(name, {"keys": {}})["keys"]
    endpoint = shape("POST /repos/{owner}/{repo}/actions/workflows/{id}/dispatches")
    asked = {"ref": "main", "inputs": INPUTS, "return_run_details": True}
    how = hasty("fail")

    async with town(here.forge, here.tokens, here.folder, how=how) as there:
        answer = await there.ask("POST", DISPATCH, asked)
        del asked["return_run_details"]
        plain = await there.ask("POST", DISPATCH, asked)

    if "return_run_details" in lacking.get(endpoint, ()):
        said = 'Invalid request.\n\n"return_run_details" is not a permitted key.'
        assert (answer.status_code, answer.json()["message"]) == (422, said)
        assert plain.headers["X-GitHub-Enterprise-Version"] == f"{name[5:]}.0"
        assert "X-RateLimit-Limit" not in plain.headers
    else:
        assert answer.status_code == 200
        assert "X-RateLimit-Limit" in plain.headers
    assert plain.status_code == 204
