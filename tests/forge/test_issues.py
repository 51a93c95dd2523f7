import pytest

from tests.world.forge import Town


async def test_a_new_issue_is_what_was_asked_for(here: Town) -> None:
    asked = {"title": "Fix", "body": "It is broken.", "labels": ["bug", "brat"]}

    issue = await here.post("issues", asked, by="alice")

    assert (issue["number"], issue["state"], issue["user"]["login"]) == (
        1,
        "open",
        "alice",
    )
    assert [label["name"] for label in issue["labels"]] == ["bug", "brat"]
    assert issue["author_association"] == "OWNER"


async def test_a_stranger_may_write_an_issue_but_not_label_it(here: Town) -> None:
    issue = await here.post("issues", {"title": "x", "labels": ["brat"]}, by="mallory")

    assert issue["labels"] == []
    assert issue["author_association"] == "NONE"


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"title": " "}, "title"),
        ({"title": "x" * 257}, "title"),
        ({"title": "x", "body": "x" * 65537}, "body"),
    ],
)
async def test_what_cannot_be_written_is_refused_by_field(
    here: Town, body: dict[str, str], field: str
) -> None:
    answer = await here.ask("POST", "issues", body)

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == field


async def test_issues_are_found_by_state_label_author_and_time(here: Town) -> None:
    first = await here.issue("one")
    second = await here.issue("two", by="carol")
    await here.post(f"issues/{second}/labels", {"labels": ["brat", "bug"]})
    await here.ask("PATCH", f"issues/{first}", {"state": "closed"})

    async def numbers(query: str) -> list[int]:
        return [one["number"] for one in await here.get(f"issues?{query}")]

    assert await numbers("") == [second]
    assert await numbers("state=closed") == [first]
    assert await numbers("state=all") == [second, first]
    assert await numbers("state=all&direction=asc") == [first, second]
    assert await numbers("labels=BRAT,bug") == [second]
    assert await numbers("labels=brat,other") == []
    assert await numbers("state=all&creator=carol") == [second]
    assert await numbers("since=2001-01-01T00:00:00Z") == [second]
    assert await numbers("since=2999-01-01T00:00:00Z") == []
    assert (await here.ask("GET", "issues?since=soon")).status_code == 422


async def test_a_long_list_comes_in_pages(here: Town) -> None:
    for count in range(5):
        await here.issue(f"issue {count}")

    first = await here.ask("GET", "issues?per_page=2")
    links = first.links
    second = await here.client.get(
        links["next"]["url"], headers={"Authorization": f"Bearer {here.tokens['bot']}"}
    )
    last = await here.ask("GET", "issues?per_page=2&page=3")

    assert [one["number"] for one in first.json()] == [5, 4]
    assert [one["number"] for one in second.json()] == [3, 2]
    assert [one["number"] for one in last.json()] == [1]
    assert set(links) == {"next", "last"}
    assert set(second.links) == {"next", "last", "prev", "first"}
    assert set(last.links) == {"prev", "first"}
    assert links["last"]["url"].startswith(here.url)


async def test_closing_and_reopening_leaves_events(here: Town) -> None:
    number = await here.issue()
    asked = {"state": "closed", "state_reason": "not_planned"}
    closed = await here.ask("PATCH", f"issues/{number}", asked)
    opened = await here.ask("PATCH", f"issues/{number}", {"state": "open"})
    events = await here.get(f"issues/{number}/events")

    assert closed.json()["state_reason"] == "not_planned"
    assert closed.json()["closed_by"]["login"] == "brat[bot]"
    assert opened.json()["closed_at"] is None
    assert [event["event"] for event in events] == ["closed", "reopened"]


async def test_labels_are_added_set_and_taken_off(here: Town) -> None:
    number = await here.issue()
    path = f"issues/{number}/labels"
    await here.post(path, {"labels": ["brat"]})
    await here.post(path, ["brat", {"name": "bug"}])
    await here.ask("PUT", path, {"labels": ["brat:active"]})
    gone = await here.ask("DELETE", f"{path}/bug")
    left = await here.ask("DELETE", f"{path}/brat:active")
    events = await here.get(f"issues/{number}/events")

    assert gone.status_code == 404
    assert left.json() == []
    assert [(e["event"], e["label"]["name"]) for e in events] == [
        ("labeled", "brat"),
        ("labeled", "bug"),
        ("unlabeled", "brat"),
        ("unlabeled", "bug"),
        ("labeled", "brat:active"),
        ("unlabeled", "brat:active"),
    ]
    assert all(event["created_at"] for event in events)


@pytest.mark.parametrize("written", ["needs%2Freview%20now", "needs/review%20now"])
async def test_a_label_may_hold_a_slash_and_a_space(here: Town, written: str) -> None:
    name = "needs/review now"
    made = await here.post("labels", {"name": name}, by="alice")
    path = f"issues/{await here.issue()}/labels"
    await here.post(path, [name])

    assert made["url"].endswith("/labels/needs%2Freview%20now")
    assert await here.get(f"labels/{written}") == made
    assert (await here.ask("DELETE", f"{path}/{written}")).json() == []


async def test_a_label_of_the_repository_keeps_its_colour(here: Town) -> None:
    asked = {"name": "brat: do", "color": "FF8800", "description": "Run brat."}
    await here.post("labels", asked)
    again = await here.ask("POST", "labels", asked)
    number = await here.issue()
    (on_issue,) = await here.post(f"issues/{number}/labels", ["BRAT: do"])

    assert again.json()["errors"][0]["code"] == "already_exists"
    assert on_issue == await here.get("labels/brat%3A%20do")
    assert (on_issue["name"], on_issue["color"]) == ("brat: do", "ff8800")
    assert await here.get("labels") == [on_issue]
    assert await here.get(f"issues/{number}/labels") == [on_issue]


@pytest.mark.parametrize("name", ["a/b c", "100% done?", "größer & #1", "a.b:c"])
async def test_a_label_of_any_name_is_reached_by_its_address(
    here: Town, name: str
) -> None:
    number = await here.issue()
    made = await here.post("labels", {"name": name})
    await here.post(f"issues/{number}/labels", [name])
    token = {"Authorization": f"Bearer {here.tokens['bot']}"}

    found = await here.client.get(made["url"], headers=token)
    label = made["url"].rpartition("/labels/")[2]
    gone = await here.ask("DELETE", f"issues/{number}/labels/{label}")

    assert found.json() == made
    assert (gone.status_code, gone.json()) == (200, [])


async def test_comments_are_written_edited_listed_and_deleted(here: Town) -> None:
    number = await here.issue()
    one = await here.post(f"issues/{number}/comments", {"body": "one"})
    two = await here.post(f"issues/{number}/comments", {"body": "two"}, by="carol")
    await here.ask("PATCH", f"issues/comments/{one['id']}", {"body": "uno"})

    listed = await here.get(f"issues/{number}/comments")
    everywhere = await here.get("issues/comments?sort=created&direction=desc")
    stranger = await here.ask(
        "PATCH", f"issues/comments/{two['id']}", {"body": "x"}, by="mallory"
    )
    await here.ask("DELETE", f"issues/comments/{two['id']}", by="carol")

    assert [one["body"] for one in listed] == ["uno", "two"]
    assert [one["body"] for one in everywhere] == ["two", "uno"]
    assert stranger.status_code == 403
    assert (await here.get(f"issues/{number}"))["comments"] == 1
    assert (await here.ask("GET", f"issues/comments/{two['id']}")).status_code == 404
    future = "since=2999-01-01T00:00:00Z"
    assert await here.get(f"issues/{number}/comments?{future}") == []


async def test_an_empty_comment_is_refused(here: Town) -> None:
    number = await here.issue()

    answer = await here.ask("POST", f"issues/{number}/comments", {"body": ""})

    assert answer.status_code == 422


@pytest.mark.parametrize("on_comment", [False, True])
async def test_a_reaction_is_given_once(here: Town, *, on_comment: bool) -> None:
    number = await here.issue()
    path = f"issues/{number}"
    if on_comment:
        made = await here.post(f"issues/{number}/comments", {"body": "x"})
        path = f"issues/comments/{made['id']}"

    first = await here.ask("POST", f"{path}/reactions", {"content": "eyes"})
    again = await here.ask("POST", f"{path}/reactions", {"content": "eyes"})
    shown = await here.get(path)
    foreign = f"{path}/reactions/{first.json()['id']}"
    refused = await here.ask("DELETE", foreign, by="mallory")
    removed = await here.ask("DELETE", foreign)

    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json() == again.json()
    assert (shown["reactions"]["eyes"], shown["reactions"]["total_count"]) == (1, 1)
    assert (refused.status_code, removed.status_code) == (403, 204)
    assert await here.get(f"{path}/reactions") == []


async def test_an_unknown_reaction_is_refused(here: Town) -> None:
    number = await here.issue()

    answer = await here.ask("POST", f"issues/{number}/reactions", {"content": "yawn"})

    assert answer.status_code == 422
