"""Conversations that are closed or locked: who may still speak in them."""

import pytest

from brat.forge.resources.account_resource import Access
from tests.world.forge import REPO, Json, Town
from tests.world.receiver import receiving

LOCKED = "Unable to {} because issue is locked."


async def locked(here: Town, reason: str = "too heated") -> int:
    number = await here.issue()
    path = f"issues/{number}/lock"
    answer = await here.ask("PUT", path, {"lock_reason": reason}, by="alice")
    assert answer.status_code == 204
    return number


async def test_a_closed_issue_takes_comments(here: Town) -> None:
    number = await here.issue()
    await here.ask("PATCH", f"issues/{number}", {"state": "closed"})

    await here.post(f"issues/{number}/comments", {"body": "Still there?"}, by="mallory")


@pytest.mark.parametrize("by", ["mallory", "carol"])
async def test_who_may_not_write_does_not_speak_in_a_locked_issue(
    here: Town, by: str
) -> None:
    number = await here.issue()
    path = f"issues/{number}"
    own = await here.post(f"{path}/comments", {"body": "First!"}, by=by)
    await here.ask("PUT", f"{path}/lock", by="alice")

    for method, where, body, deed in (
        ("POST", f"{path}/comments", {"body": "x"}, "create comment"),
        ("PATCH", f"issues/comments/{own['id']}", {"body": "x"}, "update comment"),
        ("POST", f"{path}/reactions", {"content": "eyes"}, "create reaction"),
    ):
        answer = await here.ask(method, where, body, by=by)
        assert answer.status_code == 403
        assert answer.json()["message"] == LOCKED.format(deed)
        assert "locking-conversations" in answer.json()["documentation_url"]
    assert len(await here.get(f"{path}/comments")) == 1


async def test_who_may_write_speaks_in_a_locked_issue(here: Town) -> None:
    number = await locked(here)

    await here.post(f"issues/{number}/comments", {"body": "Done."})
    issue = await here.get(f"issues/{number}")

    assert (issue["locked"], issue["active_lock_reason"]) == (True, "too heated")


async def test_an_app_does_not_speak_in_a_locked_issue(here: Town) -> None:
    number = await locked(here)
    bot, repo = here.forge.user("brat[bot]"), here.forge.repository(REPO)
    assert bot is not None
    assert repo is not None
    access = Access(
        repos=(repo.id,),
        permissions=(("contents", "write"), ("issues", "write")),
        expires_at="2999-01-01T00:00:00Z",
    )
    here.tokens["app"] = here.forge.keys.add(bot, access=access)

    answer = await here.ask(
        "POST", f"issues/{number}/comments", {"body": "Done."}, by="app"
    )

    assert answer.status_code == 403
    assert answer.json()["message"] == LOCKED.format("create comment")


async def test_an_unlocked_issue_takes_comments_again(here: Town) -> None:
    async with receiving() as receiver:
        here.forge.add_hook(REPO, receiver.url, "")
        number = await locked(here)
        await here.ask("DELETE", f"issues/{number}/lock", by="alice")
        told: list[Json] = [
            (await receiver.got(f"issues.{word}")).json
            for word in ("locked", "unlocked")
        ]

    await here.post(f"issues/{number}/comments", {"body": "x"}, by="mallory")
    events = await here.get(f"issues/{number}/events")
    assert [event["event"] for event in events] == ["locked", "unlocked"]
    assert [one["issue"]["locked"] for one in told] == [True, False]


async def test_a_locked_pull_request_says_so(here: Town) -> None:
    pull = await here.pull(await here.clone())
    path = f"issues/{pull['number']}"
    async with receiving() as receiver:
        here.forge.add_hook(REPO, receiver.url, "")
        await here.ask("PUT", f"{path}/lock", {"lock_reason": "spam"}, by="alice")
        told = (await receiver.got("pull_request.locked")).json

    assert told["pull_request"]["active_lock_reason"] == "spam"
    assert (await here.get(f"pulls/{pull['number']}"))["locked"] is True


@pytest.mark.parametrize(
    ("by", "body", "status"),
    [("carol", {}, 403), ("alice", {"lock_reason": "boring"}, 422)],
)
async def test_a_lock_that_cannot_be_is_refused(
    here: Town, by: str, body: Json, status: int
) -> None:
    number = await here.issue()

    answer = await here.ask("PUT", f"issues/{number}/lock", body, by=by)

    assert answer.status_code == status
    assert (await here.get(f"issues/{number}"))["locked"] is False
