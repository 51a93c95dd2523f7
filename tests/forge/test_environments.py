"""Which environments of Actions let agents' branches in, asked of a forge."""

import httpx

from bot.forge.github_actions import open_environments
from bot.forge.rest import Rest
from tests.world.forge import DEADLINE_S, REPO, Town

CUSTOM = {"protected_branches": False, "custom_branch_policies": True}
PROTECTED = {"protected_branches": True, "custom_branch_policies": False}


async def made(here: Town, name: str, policy: object, *patterns: str) -> None:
    """Let an admin make an environment."""
    asked = {"deployment_branch_policy": policy}
    answer = await here.ask("PUT", f"environments/{name}", asked, by="alice")
    assert answer.status_code == 200, answer.text
    for pattern in patterns:
        where = f"environments/{name}/deployment-branch-policies"
        answer = await here.ask("POST", where, {"name": pattern}, by="alice")
        assert answer.status_code == 200, answer.text


async def seen(here: Town, *named: str, by: str = "bot") -> frozenset[str] | None:
    """Return which of these the bot finds open."""
    async with httpx.AsyncClient(trust_env=False, timeout=DEADLINE_S) as client:
        rest = Rest(client, api_url=f"{here.url}/api/v3", token=here.tokens[by])
        return await open_environments(rest, REPO, named)


async def test_an_environment_is_open_unless_its_policy_keeps_our_branches_out(
    here: Town,
) -> None:
    await made(here, "free", None)
    await made(here, "main-only", CUSTOM, "main", "release/*")
    await made(here, "ours", CUSTOM, "main", "brat/*/**")
    await made(here, "convoys", CUSTOM, "convoy/**")
    await made(here, "protected", PROTECTED)

    names = ("free", "main-only", "ours", "convoys", "protected", "new")

    found = await seen(here, *names)

    assert found == frozenset({"free", "ours", "convoys", "new"})


async def test_what_the_forge_hides_is_not_known(here: Town) -> None:
    async with httpx.AsyncClient(trust_env=False, timeout=DEADLINE_S) as client:
        rest = Rest(client, api_url=f"{here.url}/api/v3", token=here.tokens["bot"])

        assert await open_environments(rest, "alice/hidden", ["prod"]) is None
