"""A request that asks for another version or form of the answer is refused by name."""

import httpx
import pytest

from tests.world.forge import REPO, Town

JSON = "application/vnd.github.v3+json"


async def asked(here: Town, **headers: str) -> httpx.Response:
    """Ask for alice/app with these headers."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    token = {"Authorization": f"Bearer {here.tokens['bot']}"}
    url = f"{here.url}/api/v3/repos/{REPO}"
    return await here.client.get(url, headers=token | named)


@pytest.mark.parametrize(
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


@pytest.mark.parametrize("form", ["diff", "patch", "raw+json", "v3.full+json"])
async def test_another_form_is_refused(here: Town, form: str) -> None:
    accept = f"application/vnd.github.{form}"
    answer = await asked(here, Accept=accept)

    assert answer.status_code == 415
    said = f"Unsupported 'Accept' header: '{accept}'. Must accept 'application/json'."
    assert answer.json()["message"] == said


@pytest.mark.parametrize(
    ("path", "form", "begins", "holds"),
    [
        ("pulls/1", "v3.diff", "diff --git a/work.txt", "+work"),
        ("pulls/1", "patch", "From ", "Subject: [PATCH] Write work.txt"),
        ("compare/main...work", "diff", "diff --git a/work.txt", "+work"),
        ("commits/work", "diff", "diff --git a/work.txt", "+work"),
        ("commits/work", "patch", "From ", "Subject: [PATCH] Write work.txt"),
        ("commits/main", "diff", "diff --git a/README.md", "+# app"),
        ("contents/README.md", "raw+json", "# app", "app"),
    ],
)
async def test_a_change_is_served_as_text(
    here: Town, path: str, form: str, begins: str, holds: str
) -> None:
    await here.pull(await here.clone())
    headers = {
        "Authorization": f"Bearer {here.tokens['bot']}",
        "Accept": f"application/vnd.github.{form}",
    }
    url = f"{here.url}/api/v3/repos/{REPO}/{path}"

    answer = await here.client.get(url, headers=headers)

    assert answer.status_code == 200
    assert answer.text.startswith(begins)
    assert holds in answer.text


async def test_a_commit_is_named_by_its_id_alone(here: Town) -> None:
    accept = {"Accept": "application/vnd.github.sha"}
    token = {"Authorization": f"Bearer {here.tokens['bot']}"}
    url = f"{here.url}/api/v3/repos/{REPO}/commits/main"

    answer = await here.client.get(url, headers=token | accept)

    assert answer.text == (await here.get("commits/main"))["sha"]


async def test_another_version_is_refused(here: Town) -> None:
    answer = await asked(here, X_GitHub_Api_Version="2026-03-10")

    assert answer.status_code == 400
    assert '"2026-03-10", is not a supported version' in answer.json()["message"]
