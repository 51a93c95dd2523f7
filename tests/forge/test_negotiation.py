"""A request that asks for another version or form of the answer is refused by name."""

import httpx

from tests.world.cases import looped
from tests.world.forge import REPO, Town

JSON = "application/vnd.github.v3+json"


async def asked(here: Town, **headers: str) -> httpx.Response:
    """Ask for alice/app with these headers."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    token = {"Authorization": f"Bearer {here.tokens['bot']}"}
    url = f"{here.url}/api/v3/repos/{REPO}"
    return await here.client.get(url, headers=token | named)


@looped(
    "accept",
    [
        "*/*",
        "application/json; charset=utf-8",
        JSON,
        f"application/vnd.github.diff, {JSON}",
        "application/vnd.github.nebula-preview",
        "application/vnd.github.squirrel-girl-preview+json",
    ],
)
async def test_json_is_served_to_whoever_takes_it(here: Town, accept: str) -> None:
    answer = await asked(here, Accept=accept, X_GitHub_Api_Version="2022-11-28")

    assert answer.status_code == 200
    assert answer.headers["X-GitHub-Api-Version-Selected"] == "2022-11-28"


@looped("form", ["diff", "patch", "raw+json", "v3.full+json"])
async def test_another_form_is_refused(here: Town, form: str) -> None:
    accept = f"application/vnd.github.{form}"
    answer = await asked(here, Accept=accept)

    assert answer.status_code == 415
    said = f"Unsupported 'Accept' header: '{accept}'. Must accept 'application/json'."
    assert answer.json()["message"] == said


async def test_another_version_is_refused(here: Town) -> None:
    answer = await asked(here, X_GitHub_Api_Version="2026-03-10")

    assert answer.status_code == 400
    assert '"2026-03-10", is not a supported version' in answer.json()["message"]
