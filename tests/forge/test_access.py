import pytest

from tests.world.forge import REPO, Town

pytestmark = pytest.mark.layer("landing")


async def test_only_a_token_that_is_known_opens_anything(here: Town) -> None:
    answer = await here.client.get(f"{here.url}/api/v3/user")
    assert answer.status_code == 401
    assert answer.json()["message"] == "Requires authentication"

    known, dropped = [*here.tokens.values()], here.tokens["carol"]
    here.forge.drop_token(dropped)
    for token in ("brat_1_x", "brat_999_x", "ghp_nothing", "brat__", dropped):
        here.tokens["wrong"] = token
        answer = await here.ask("GET", "/user", by="wrong")
        assert answer.status_code == 401, token
        assert answer.json()["message"] == "Bad credentials"

    files = here.forge.folder.glob("forge.sqlite*")
    kept = b"".join(path.read_bytes() for path in files)
    for token in known:  # none is kept in clear
        assert token.encode() not in kept
        assert token.split("_", 2)[2].encode() not in kept


async def test_a_token_opens_only_what_it_is_for(here: Town) -> None:
    """A private repository is unknown to strangers, and each other one to a token."""
    here.forge.update(here.forge.known(REPO), private=True)
    other = here.forge.add_repository("alice/other")
    here.tokens["narrow"] = here.forge.add_token("alice", repo=other.id)

    for by, method, path, repo, status in (
        ("mallory", "GET", "", REPO, 404),
        ("carol", "GET", "", REPO, 200),
        ("reader", "POST", "issues", REPO, 403),
        ("reader", "GET", "issues", REPO, 200),
        ("narrow", "GET", "", REPO, 404),
        ("narrow", "GET", "", other.full_name, 200),
    ):
        body = {"title": "x"} if method == "POST" else None
        answer = await here.ask(method, path, body, by=by, repo=repo)
        assert answer.status_code == status, (by, method, path, repo)


async def test_what_cannot_be_written_is_refused_by_field(here: Town) -> None:
    for body, field in (
        ({"title": " "}, "title"),
        ({"title": "x" * 257}, "title"),
        ({"title": "x", "body": "x" * 65537}, "body"),
    ):
        answer = await here.ask("POST", "issues", body)

        assert answer.status_code == 422, field
        assert answer.json()["errors"][0]["field"] == field
    issues = f"{here.url}/api/v3/repos/{REPO}/issues"
    known = {"Authorization": f"Bearer {here.tokens['bot']}"}
    no_json = await here.client.post(issues, content=b"{", headers=known)
    assert no_json.status_code == 400
    assert no_json.json()["message"] == "Problems parsing JSON"


async def test_a_long_list_comes_in_pages(here: Town) -> None:
    for count in range(5):
        await here.issue(f"issue {count}")

    first = await here.ask("GET", "issues?per_page=2")
    links = first.links
    second = await here.ask("GET", links["next"]["url"].partition("/api/v3")[2])
    last = await here.ask("GET", "issues?per_page=2&page=3")

    assert [one["number"] for one in first.json()] == [5, 4]
    assert [one["number"] for one in second.json()] == [3, 2]
    assert [one["number"] for one in last.json()] == [1]
    assert set(last.links) == set()
    assert links["next"]["url"].startswith(here.url)


async def test_a_check_run_is_written_by_the_app_that_made_it_alone(here: Town) -> None:
    tip = (await here.get("branches/main"))["commit"]["sha"]
    body = {"name": "ci", "head_sha": tip}
    persons = await here.ask("POST", "check-runs", body, by="alice")
    made = await here.post("check-runs", body)
    here.forge.add_user("other[bot]", kind="Bot")
    here.forge.grant("alice/app", "other[bot]", "write")
    here.tokens["other"] = here.forge.add_token("other[bot]")

    path = f"check-runs/{made['id']}"
    others = await here.ask("PATCH", path, {"conclusion": "success"}, by="other")

    assert (persons.status_code, others.status_code) == (403, 403)
    assert "GitHub App" in persons.json()["message"]
