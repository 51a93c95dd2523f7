import pytest

from tests.world.forge import Town


async def test_a_new_pull_request_shows_both_sides(here: Town) -> None:
    checkout = await here.clone()
    pull = await here.pull(checkout)

    assert (pull["number"], pull["state"], pull["merged"]) == (1, "open", False)
    assert pull["head"]["sha"] == await checkout.git("rev-parse", "work")
    assert pull["head"]["label"] == "alice:work"
    assert pull["base"]["sha"] == await checkout.git("rev-parse", "main")
    assert (pull["mergeable"], pull["mergeable_state"]) == (True, "clean")
    assert (pull["commits"], pull["changed_files"], pull["additions"]) == (1, 1, 1)


async def test_a_pull_request_is_an_issue_too(here: Town) -> None:
    pull = await here.pull(await here.clone())

    issue = await here.get(f"issues/{pull['number']}")

    assert issue["pull_request"]["url"] == pull["url"]
    assert await here.issue() == pull["number"] + 1


@pytest.mark.parametrize(
    ("head", "base", "said"),
    [
        ("nothing", "main", "invalid"),
        ("work", "nothing", "invalid"),
        ("mallory:work", "main", "invalid"),
        ("main", "main", "No commits between main and main"),
        ("work", "main", "A pull request already exists for alice:work."),
    ],
)
async def test_a_pull_request_that_cannot_be_is_refused(
    here: Town, head: str, base: str, said: str
) -> None:
    await here.pull(await here.clone())

    answer = await here.ask("POST", "pulls", {"title": "x", "head": head, "base": base})

    assert answer.status_code == 422
    (error,) = answer.json()["errors"]
    assert said in {error.get("message"), error["code"]}


async def test_a_pull_request_needs_a_common_history(here: Town) -> None:
    checkout = await here.clone()
    await checkout.git("switch", "--quiet", "--orphan", "alone")
    await checkout.commit("a.txt", "a")
    await checkout.git("push", "--quiet", "origin", "alone")

    body = {"title": "x", "head": "alone", "base": "main"}
    answer = await here.ask("POST", "pulls", body)

    assert "no history in common" in answer.json()["errors"][0]["message"]


async def test_pull_requests_are_found_by_state_head_and_base(here: Town) -> None:
    checkout = await here.clone()
    one, two = await here.pull(checkout, "one"), await here.pull(checkout, "two")
    await here.ask("PATCH", f"pulls/{one['number']}", {"state": "closed"})

    async def numbers(query: str) -> list[int]:
        return [pull["number"] for pull in await here.get(f"pulls?{query}")]

    assert await numbers("") == [two["number"]]
    assert await numbers("state=closed") == [one["number"]]
    assert await numbers("state=all&direction=asc") == [one["number"], two["number"]]
    assert await numbers("state=all&head=alice:one") == [one["number"]]
    assert await numbers("base=other") == []


async def test_a_pull_request_is_edited_closed_and_reopened(here: Town) -> None:
    pull = await here.pull(await here.clone())
    path = f"pulls/{pull['number']}"
    edited = await here.ask("PATCH", path, {"title": "New", "body": ""})
    closed = await here.ask("PATCH", path, {"state": "closed"})
    opened = await here.ask("PATCH", path, {"state": "open"})

    assert edited.json()["title"] == "New"
    assert (closed.json()["state"], closed.json()["merged"]) == ("closed", False)
    assert opened.json()["state"] == "open"
    events = await here.get(f"issues/{pull['number']}/events")
    assert [event["event"] for event in events] == ["closed", "reopened"]


async def test_the_head_of_a_pull_request_follows_its_branch(here: Town) -> None:
    checkout = await here.clone()
    pull = await here.pull(checkout)
    await checkout.git("commit", "--quiet", "--amend", "-m", "Better")
    await checkout.git("push", "--quiet", "--force", "origin", "work")

    moved = await here.get(f"pulls/{pull['number']}")

    assert moved["head"]["sha"] == await checkout.git("rev-parse", "HEAD")
    assert moved["head"]["sha"] != pull["head"]["sha"]
    assert moved["state"] == "open"


async def test_a_deleted_branch_closes_its_pull_request(here: Town) -> None:
    checkout = await here.clone()
    pull = await here.pull(checkout)
    await checkout.git("push", "--quiet", "origin", ":work")

    closed = await here.get(f"pulls/{pull['number']}")
    again = await here.ask("PATCH", f"pulls/{pull['number']}", {"state": "open"})

    assert (closed["state"], closed["merged"]) == ("closed", False)
    assert again.status_code == 422


async def test_whether_a_pull_request_is_merged_is_told(here: Town) -> None:
    path = f"pulls/{(await here.pull(await here.clone()))['number']}/merge"
    before = await here.ask("GET", path)
    await here.ask("PUT", path)
    after = await here.ask("GET", path)

    assert (before.status_code, after.status_code) == (404, 204)


async def test_pull_requests_are_sorted(here: Town) -> None:
    checkout = await here.clone()
    one, two = await here.pull(checkout, "one"), await here.pull(checkout, "two")
    await here.post(f"issues/{one['number']}/comments", {"body": "x"})

    async def numbers(query: str) -> list[int]:
        return [pull["number"] for pull in await here.get(f"pulls?{query}")]

    assert await numbers("sort=created") == [two["number"], one["number"]]
    assert await numbers("sort=popularity") == [two["number"], one["number"]]
    first = await numbers("sort=popularity&direction=desc")
    assert first == [one["number"], two["number"]]
