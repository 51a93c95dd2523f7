"""Who is assigned to issues and pull requests, and who is told."""

import pytest

from tests.world.forge import REPO, Json, Town
from tests.world.receiver import receiving


def assigned(issue: Json) -> list[str]:
    """Return the logins of an issue's assignees."""
    first = issue["assignee"] and issue["assignee"]["login"]
    logins = [who["login"] for who in issue["assignees"]]
    assert first == (logins[0] if logins else None)
    return logins


async def test_an_issue_is_born_with_assignees(here: Town) -> None:
    asked = {"title": "x", "assignee": "alice", "assignees": ["brat[bot]"]}

    made = await here.post("issues", asked, by="carol")
    dropped = await here.post("issues", asked, by="mallory")

    assert assigned(made) == ["brat[bot]", "alice"]
    assert assigned(dropped) == []  # as there: they may not


async def test_assignees_are_added_taken_off_and_told_of(here: Town) -> None:
    path = f"issues/{await here.issue()}"
    async with receiving() as heard:
        here.forge.add_hook(REPO, heard.url, "")
        both = {"assignees": ["alice", "Brat[bot]", "mallory", "nobody"]}
        added = await here.post(f"{path}/assignees", both)
        fewer = {"assignees": ["alice"]}
        left = await here.ask("DELETE", f"{path}/assignees", fewer)
        told = [
            (await heard.got(f"issues.{word}")).json
            for word in ("assigned", "unassigned")
        ]
    events = await here.get(f"{path}/events")

    assert (assigned(added), assigned(left.json())) == (
        ["alice", "brat[bot]"],
        ["brat[bot]"],
    )
    assert [one["assignee"]["login"] for one in told] == ["alice", "alice"]
    assert [(one["event"], one["assignee"]["login"]) for one in events] == [
        ("assigned", "alice"),
        ("assigned", "brat[bot]"),
        ("unassigned", "alice"),
    ]
    assert events[0]["assigner"]["login"] == "brat[bot]"


async def test_assignees_are_set_by_an_edit(here: Town) -> None:
    path = f"issues/{await here.issue()}"
    both = {"assignees": ["alice", "brat[bot]"]}

    assert assigned((await here.ask("PATCH", path, both)).json()) == both["assignees"]
    one = (await here.ask("PATCH", path, {"assignee": "alice"})).json()
    assert assigned(one) == ["alice"]
    assert assigned((await here.ask("PATCH", path, {"title": "y"})).json()) == ["alice"]
    assert assigned((await here.ask("PATCH", path, {"assignees": []})).json()) == []


async def test_a_pull_request_is_assigned_as_an_issue_is(here: Town) -> None:
    number = (await here.pull(await here.clone()))["number"]
    async with receiving() as heard:
        here.forge.add_hook(REPO, heard.url, "")
        await here.post(f"issues/{number}/assignees", {"assignees": ["alice"]})
        told = (await heard.got("pull_request.assigned")).json

    assert told["assignee"]["login"] == "alice"
    assert assigned(told["pull_request"]) == ["alice"]
    assert assigned(await here.get(f"pulls/{number}")) == ["alice"]


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "issues", {"title": "x", "assignees": ["nobody"]}),
        ("PATCH", "issues/{}", {"assignees": ["mallory"]}),
        ("PATCH", "issues/{}", {"assignee": "nobody"}),
    ],
)
async def test_who_cannot_be_assigned_is_named(
    here: Town, method: str, path: str, body: Json
) -> None:
    number = await here.issue()

    answer = await here.ask(method, path.format(number), body)

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == "assignees"
    assert len(await here.get("issues")) == 1


async def test_who_takes_part_can_be_assigned(here: Town) -> None:
    path = f"issues/{await here.issue()}"

    async def status(login: str, where: str = "") -> int:
        return (await here.ask("GET", f"{where}assignees/{login}")).status_code

    before = await status("mallory", f"{path}/")
    await here.post(f"{path}/comments", {"body": "Let me."}, by="mallory")

    assert (before, await status("mallory", f"{path}/")) == (404, 204)
    assert (await status("mallory"), await status("alice")) == (404, 204)
    able = [who["login"] for who in await here.get("assignees")]
    assert able == ["alice", "brat[bot]"]


async def test_who_may_not_triage_assigns_nobody(here: Town) -> None:
    number = await here.issue(by="mallory")

    path, asked = f"issues/{number}", {"assignees": ["alice"]}
    for method, where in (("POST", f"{path}/assignees"), ("PATCH", path)):
        answer = await here.ask(method, where, asked, by="mallory")
        assert answer.status_code == 403


async def test_issues_are_found_by_people_and_by_how_much_was_said(here: Town) -> None:
    one, two = await here.issue("one"), await here.issue("two")
    await here.post(f"issues/{one}/assignees", {"assignees": ["alice"]})
    await here.post(f"issues/{one}/comments", {"body": "Is this for @Brat?"})

    async def numbers(query: str) -> list[int]:
        return [issue["number"] for issue in await here.get(f"issues?{query}")]

    assert await numbers("assignee=Alice") == [one]
    assert await numbers("assignee=none") == [two]
    assert await numbers("assignee=*") == [one]
    assert await numbers("assignee=carol") == []
    assert await numbers("mentioned=brat") == [one]
    assert await numbers("sort=comments") == [one, two]
    assert await numbers("sort=comments&direction=asc") == [two, one]
    assert await numbers("milestone=none&type=none") == [two, one]
    assert await numbers("milestone=*") == []


@pytest.mark.parametrize("query", ["milestone=7", "type=bug"])
async def test_a_filter_that_names_nothing_is_refused(here: Town, query: str) -> None:
    answer = await here.ask("GET", f"issues?{query}")

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == query.partition("=")[0]
