"""Apps: what they sign is checked, and a token opens what it was asked for."""

import time

import jwt
import pytest

from tests.world.app_key import pair
from tests.world.forge import REPO, Json, Town, until
from tests.world.github_forge.app_records import App
from tests.world.github_forge.apps import Apps, NewApp
from tests.world.receiver import receiving

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


# --- what an App signs ----------------------------------------------------------------


@pytest.mark.parametrize("forged", ["brat_1_x", "x.y.z", "e30.e30.", "bnVsbA.bnVsbA.x"])
async def test_what_nobody_signed_opens_nothing(
    here: Town, app: App, forged: str
) -> None:
    here.tokens["app"] = forged

    assert (await here.ask("GET", "/app", by="app")).status_code == 401


# --- installations and their tokens ---------------------------------------------------


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


async def test_a_suspended_installation_gives_no_token(here: Town, app: App) -> None:
    where = await here.get("installation", by="app")
    (one,) = Apps(here.forge).installations.all()
    Apps(here.forge).suspend(one)

    url = f"/app/installations/{where['id']}/access_tokens"
    answer = await here.ask("POST", url, {}, by="app")

    assert answer.status_code == 403
    assert "suspended" in answer.json()["message"]


async def test_git_takes_a_token_that_may_write_contents(here: Town, app: App) -> None:
    await token(here, permissions={"contents": "write"})
    checkout = await here.clone("installed")
    await checkout.commit("a.txt", "a")
    await checkout.git("push", "--quiet", "origin", "HEAD:refs/heads/a")
    await token(here, permissions={"contents": "read"})
    reading = await here.clone("installed")

    refused = await reading.run("push", "origin", "HEAD:refs/heads/b", check=False)

    assert refused.status != 0
    assert "refs/heads/a" in await reading.git("ls-remote", "origin")
    assert "refs/heads/b" not in await reading.git("ls-remote", "origin")


# --- the App's webhook ----------------------------------------------------------------


async def test_an_app_hears_of_all_repositories_and_can_ask_again(here: Town) -> None:
    async with receiving() as receiver:
        made = Apps(here.forge).add(
            NewApp(
                slug="ear",
                owner="alice",
                public_key=pair()[1],
                permissions={"issues": "read"},
                events=("issues",),
                hook=(receiver.url, "not so secret"),
            )
        )
        here.tokens["app"] = signed(made)
        receiver.status = 500
        await here.issue("Before it was installed")
        one = Apps(here.forge).install("ear", REPO)
        for number in range(3):
            await here.issue(f"Issue {number}")
        first = await receiver.got("issues.opened")

        async def all_ended() -> bool:
            return len(await here.get("/app/hook/deliveries", by="app")) == 3

        await until(all_ended)
        url: str | None = "/app/hook/deliveries?per_page=2"
        seen = []
        while url:
            answer = await here.ask("GET", url, by="app")
            seen += answer.json()
            url = answer.links.get("next", {}).get("url", "").partition("/api/v3")[2]
        failed = await here.get("/app/hook/deliveries?status=failure", by="app")
        receiver.status = 202
        oldest = seen[-1]
        again = f"/app/hook/deliveries/{oldest['id']}/attempts"
        assert (await here.ask("POST", again, by="app")).status_code == 202
        async with receiver.news:
            await receiver.news.wait_for(lambda: len(receiver.came) == 4)
        whole = await here.get(f"/app/hook/deliveries/{oldest['id']}", by="app")

    assert first.json["installation"]["id"] == one.id
    kind = first.headers["X-GitHub-Hook-Installation-Target-Type"]
    assert (kind, len(seen), failed) == ("integration", 3, seen)
    assert {each["installation_id"] for each in seen} == {one.id}
    assert receiver.came[3].headers["X-GitHub-Delivery"] == oldest["guid"]
    assert whole["request"]["payload"]["issue"]["title"] == "Issue 0"
