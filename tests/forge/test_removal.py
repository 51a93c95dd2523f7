"""Issues that were deleted or transferred, and comments that were deleted."""

import pytest

from tests.forge.mutations import mutate
from tests.world.forge import Json, Town

OTHER = "alice/other"
ALL_OF_IT = ("", "/comments", "/labels", "/events", "/reactions")


async def issue_with_a_comment(here: Town) -> tuple[Json, Json]:
    number = await here.issue()
    comment = await here.post(f"issues/{number}/comments", {"body": "Please."})
    await here.post(f"issues/{number}/reactions", {"content": "eyes"})
    await here.post(f"issues/{number}/labels", ["brat"])
    return await here.get(f"issues/{number}"), comment


@pytest.mark.parametrize("part", ALL_OF_IT)
async def test_a_deleted_issue_is_gone_with_all_its_parts(
    here: Town, part: str
) -> None:
    issue, comment = await issue_with_a_comment(here)
    await mutate(here, "deleteIssue", {"issueId": issue["node_id"]})

    answer = await here.ask("GET", f"issues/{issue['number']}{part}")

    assert answer.status_code == 410
    assert answer.json()["message"] == "This issue was deleted"
    alone = await here.ask("GET", f"issues/comments/{comment['id']}")
    assert alone.status_code == 404
    assert await here.get("issues?state=all") == []
    assert await here.get("issues/comments") == []


@pytest.mark.parametrize("part", ALL_OF_IT)
async def test_a_transferred_issue_is_found_where_it_is_now(
    here: Town, part: str
) -> None:
    issue, _ = await issue_with_a_comment(here)
    await transfer(here, issue)

    answer = await here.ask("GET", f"issues/{issue['number']}{part}")

    assert answer.status_code == 301
    assert answer.json()["message"] == "Moved Permanently"
    assert answer.json()["url"] == answer.headers["Location"]
    there = await here.client.get(
        answer.headers["Location"],
        headers={"Authorization": f"Bearer {here.tokens['bot']}"},
    )
    moved = there.json()
    assert (moved["title"], moved["comments"]) == (issue["title"], 1)
    assert moved["url"].endswith("/repos/alice/other/issues/1")
    listed = await here.ask("GET", "issues/1/comments", repo=OTHER)
    assert [one["body"] for one in listed.json()] == ["Please."]
    assert await here.get("issues?state=all") == []


async def transfer(
    here: Town, issue: Json, *, private: bool = False, hook: str = ""
) -> None:
    """Let alice move an issue to alice/other."""
    here.forge.add_repository(OTHER, private=private)
    if hook:
        here.forge.add_hook(OTHER, hook, "")
    target = (await here.ask("GET", "", repo=OTHER, by="alice")).json()
    given = {"issueId": issue["node_id"], "repositoryId": target["node_id"]}
    answer = await mutate(here, "transferIssue", given)
    assert answer["data"]["transferIssue"]["issue"]["number"] == 1
