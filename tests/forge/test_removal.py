"""Issues that were deleted or transferred, and comments that were deleted."""

import pytest

from tests.forge.mutations import mutate
from tests.world.forge import REPO, Json, Town
from tests.world.receiver import receiving

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


@pytest.mark.parametrize(
    ("method", "part", "body"),
    [
        ("PATCH", "", {"title": "x"}),
        ("POST", "/comments", {"body": "x"}),
        ("POST", "/labels", {"labels": ["x"]}),
        ("POST", "/reactions", {"content": "eyes"}),
    ],
)
async def test_nothing_is_written_to_a_deleted_issue(
    here: Town, method: str, part: str, body: Json
) -> None:
    issue, _ = await issue_with_a_comment(here)
    await mutate(here, "deleteIssue", {"issueId": issue["node_id"]})

    answer = await here.ask(method, f"issues/{issue['number']}{part}", body)

    assert answer.status_code == 410


async def test_a_deletion_is_told_and_its_number_is_not_used_again(here: Town) -> None:
    issue, _ = await issue_with_a_comment(here)
    async with receiving() as receiver:
        here.forge.add_hook(REPO, receiver.url, "")
        await mutate(here, "deleteIssue", {"issueId": issue["node_id"]})
        told = (await receiver.got("issues.deleted")).json

    assert told["issue"]["number"] == issue["number"]
    assert told["sender"]["login"] == "alice"
    assert await here.issue() == issue["number"] + 1


async def test_only_those_who_own_it_delete_an_issue(here: Town) -> None:
    issue, _ = await issue_with_a_comment(here)

    refused = await mutate(
        here, "deleteIssue", {"issueId": issue["node_id"]}, by="carol"
    )
    unknown = await mutate(here, "deleteIssue", {"issueId": "nobody"})
    strange = await mutate(here, "closeIssue", {"issueId": issue["node_id"]})

    assert refused["errors"][0]["type"] == "FORBIDDEN"
    assert unknown["errors"][0]["type"] == "NOT_FOUND"
    assert any("closeIssue" in each["message"] for each in strange["errors"])
    assert await here.get(f"issues/{issue['number']}") == issue


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


async def test_a_transfer_is_told_at_both_ends(here: Town) -> None:
    issue, _ = await issue_with_a_comment(here)
    async with receiving() as receiver:
        here.forge.add_hook(REPO, receiver.url, "")
        await transfer(here, issue, hook=receiver.url)
        left = (await receiver.got("issues.transferred")).json
        came = (await receiver.got("issues.opened")).json

    assert left["repository"]["full_name"] == REPO
    assert left["changes"]["new_repository"]["full_name"] == OTHER
    assert left["changes"]["new_issue"]["number"] == came["issue"]["number"] == 1
    assert came["repository"]["full_name"] == OTHER
    assert came["changes"]["old_issue"]["number"] == issue["number"]


async def test_who_may_not_see_the_new_place_is_not_led_there(here: Town) -> None:
    issue, _ = await issue_with_a_comment(here)
    await transfer(here, issue, private=True)

    for by, status in (("alice", 301), ("mallory", 404)):
        answer = await here.ask("GET", f"issues/{issue['number']}", by=by)
        assert answer.status_code == status


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


async def test_a_deleted_comment_is_told_once_and_gone(here: Town) -> None:
    issue, comment = await issue_with_a_comment(here)
    path = f"issues/comments/{comment['id']}"
    await here.post(f"{path}/reactions", {"content": "eyes"})
    async with receiving() as receiver:
        here.forge.add_hook(REPO, receiver.url, "")
        await here.ask("DELETE", path)
        told = (await receiver.got("issue_comment.deleted")).json

    assert told["comment"]["id"] == comment["id"]
    assert (told["issue"]["number"], told["issue"]["comments"]) == (issue["number"], 0)
    for method, part, body in (
        ("GET", "", None),
        ("PATCH", "", {"body": "x"}),
        ("DELETE", "", None),
        ("GET", "/reactions", None),
        ("POST", "/reactions", {"content": "eyes"}),
    ):
        assert (await here.ask(method, path + part, body)).status_code == 404
