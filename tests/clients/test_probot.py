"""A probot app against the local forge, as an App that is installed in a repository.

It signs with the App's number as `iss`, takes deliveries only when their signature is
right, and asks for tokens of the installation that a delivery names.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from msgspec.structs import replace

from brat.forge import Forge
from tests.world.app_key import pair
from tests.world.forge import REPO, Json, Town, make_source, settle_in, town, until
from tests.world.github_forge.apps import Apps, NewApp
from tests.world.npm import installed

SCRIPT = Path(__file__).with_name("probot_app.mjs")
SECRET = "not so secret"
ASKS = {
    "checks": "write",
    "contents": "read",
    "issues": "write",
    "metadata": "read",
}

pytestmark = [pytest.mark.needs("node", "npm"), pytest.mark.layer("landing")]


@asynccontextmanager
async def helper(here: Town, node: str) -> AsyncIterator[str]:
    """Run the app, installed in alice/app, and yield where its deliveries go."""
    app = Apps(here.forge).add(
        NewApp(
            slug="helper",
            owner="alice",
            public_key=pair()[1],
            permissions=ASKS,
            events=("issues", "push"),
            hook=("http://127.0.0.1:9/", SECRET),
        )
    )
    Apps(here.forge).install("helper", REPO)
    key = here.folder / "key.pem"
    key.write_text(pair()[0])
    words = (f"{here.url}/api/v3", str(app.id), str(key), SECRET)
    process = await asyncio.create_subprocess_exec(
        node,
        str(SCRIPT),
        *words,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        port = int(await process.stdout.readline())
        url = f"http://127.0.0.1:{port}/hook"
        (hook,) = here.forge.store.hooks.of(app.id)
        with here.forge.store.change():
            here.forge.store.hooks.put(replace(hook, url=url))
        yield url
    finally:
        process.stdin.close()
        await process.wait()


async def test_it_answers_what_it_is_told(node: str, tmp_path: Path) -> None:
    installed(SCRIPT.parent)
    source = make_source(tmp_path / "source")
    with Forge(tmp_path / "forge") as forge:
        tokens = settle_in(forge, source)
        async with town(forge, tokens, tmp_path) as here, helper(here, node) as url:
            number = await here.issue()

            async def said() -> Json:
                return await here.get(f"issues/{number}/comments")

            (comment,) = await until(said)
            path = f"issues/comments/{comment['id']}/reactions"
            (given,) = await until(lambda: here.get(path))
            checkout = await here.clone()
            commit = await checkout.commit("new.txt", "new")
            await checkout.git("push", "--quiet", "origin", "HEAD:topic")

            async def judged() -> Json:
                found = await here.get(f"commits/{commit}/check-runs")
                return found["check_runs"]

            (check,) = await until(judged)
            forged = {"X-Hub-Signature-256": f"sha256={'0' * 64}"}
            named = {"X-GitHub-Event": "issues", "X-GitHub-Delivery": "1"}
            refused = await here.client.post(url, json={}, headers=forged | named)

    assert comment["body"] == "Welcome, alice!"
    assert comment["user"]["login"] == "helper[bot]"
    assert (given["content"], given["user"]["login"]) == ("eyes", "helper[bot]")
    assert (check["conclusion"], check["app"]["slug"]) == ("success", "helper")
    assert refused.status_code == 400
