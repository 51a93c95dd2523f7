"""Apps: what they sign is checked, and a token opens what it was asked for."""

import time

import jwt
import pytest

from tests.world.app_key import pair
from tests.world.forge import REPO, Json, Town
from tests.world.github_forge.apps import App, Apps, NewApp

pytestmark = pytest.mark.layer("landing")

ASKS = {
    "contents": "write",
    "issues": "write",
    "metadata": "read",
    "pull_requests": "read",
}


@pytest.fixture
def app(here: Town) -> App:
    """Give an App that is installed in alice/app."""
    made = Apps(here.forge).add(
        NewApp(slug="helper", owner="alice", public_key=pair()[1], permissions=ASKS)
    )
    Apps(here.forge).install("helper", REPO)
    here.tokens["app"] = signed(made)
    return made


def signed(app: App, *, key: str = "brat", **claims: object) -> str:
    now = int(time.time())
    said = {"iat": now - 60, "exp": now + 540, "iss": str(app.id), **claims}
    return jwt.encode(said, pair(key)[0], algorithm="RS256")


async def token(here: Town, **asked: object) -> Json:
    """Ask for a token of the installation, and know it as `installed`."""
    where = await here.get("installation", by="app")
    url = f"/app/installations/{where['id']}/access_tokens"
    made = await here.post(url, asked, by="app")
    here.tokens["installed"] = made["token"]
    return made


async def test_a_token_lasts_an_hour_and_acts_as_the_bot(here: Town, app: App) -> None:
    made = await token(here)
    number = await here.issue(by="installed")

    issue = await here.get(f"issues/{number}")
    assert (issue["user"]["login"], issue["user"]["type"]) == ("helper[bot]", "Bot")
    assert made["permissions"] == ASKS
    assert [repo["full_name"] for repo in made["repositories"]] == [REPO]
    access = here.forge.store.tokens.all()[-1].access
    assert access is not None
    assert made["expires_at"] == access.expires_at


async def test_the_missing_permission_is_named(here: Town, app: App) -> None:
    await token(here, permissions={"issues": "read"})

    labels = await here.ask("POST", "issues", {"title": "x"}, by="installed")
    checks = await here.ask("POST", "check-runs", {"name": "x"}, by="installed")
    merge = await here.ask("PUT", "pulls/1/merge", by="installed")

    name = "X-Accepted-GitHub-Permissions"
    assert [one.status_code for one in (labels, checks, merge)] == [403] * 3
    assert labels.headers[name] == "issues=write"
    assert checks.headers[name] == "checks=write"
    assert merge.headers[name] == "contents=write"
    assert labels.json()["message"] == "Resource not accessible by integration"
