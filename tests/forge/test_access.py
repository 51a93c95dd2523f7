import pytest

from tests.world.cases import looped
from tests.world.forge import REPO, Town

pytestmark = pytest.mark.layer("landing")


async def test_only_a_token_that_is_known_opens_anything(here: Town) -> None:
    answer = await here.client.get(f"{here.url}/api/v3/user")
    assert answer.status_code == 401
    assert answer.json()["message"] == "Requires authentication"

    here.forge.drop_token(here.tokens["carol"])
    dropped = here.tokens["carol"]
    for token in ("brat_1_x", "brat_999_x", "ghp_nothing", "brat__", dropped):
        here.tokens["wrong"] = token
        answer = await here.ask("GET", "/user", by="wrong")
        assert answer.status_code == 401, token
        assert answer.json()["message"] == "Bad credentials"


async def test_no_token_is_kept_in_clear(here: Town) -> None:
    kept = b"".join(
        path.read_bytes() for path in here.forge.folder.glob("forge.sqlite*")
    )

    for token in here.tokens.values():
        assert token.encode() not in kept
        assert token.split("_", 2)[2].encode() not in kept


async def test_a_private_repository_is_unknown_to_strangers(here: Town) -> None:
    repo = here.forge.repository(REPO)
    assert repo is not None
    here.forge.update(repo, private=True)

    assert (await here.ask("GET", "", by="mallory")).status_code == 404
    assert (await here.ask("GET", "", by="carol")).status_code == 200


async def test_a_read_token_may_only_look(here: Town) -> None:
    issue = await here.ask("POST", "issues", {"title": "x"}, by="reader")

    assert issue.status_code == 403
    assert (await here.ask("GET", "issues", by="reader")).status_code == 200


async def test_a_token_for_one_repository_opens_no_other(here: Town) -> None:
    other = here.forge.add_repository("alice/other")
    here.tokens["narrow"] = here.forge.add_token("alice", repo=other.id)

    assert (await here.ask("GET", "", by="narrow")).status_code == 404
    answer = await here.ask("GET", "", by="narrow", repo="alice/other")
    assert answer.status_code == 200


async def test_a_body_that_is_no_json_is_said_so(here: Town) -> None:
    answer = await here.client.post(
        f"{here.url}/api/v3/repos/{REPO}/issues",
        content=b"{",
        headers={"Authorization": f"Bearer {here.tokens['bot']}"},
    )

    assert answer.status_code == 400
    assert answer.json()["message"] == "Problems parsing JSON"


@looped(
    ({"title": " "}, "title"),
    ({"title": "x" * 257}, "title"),
    ({"title": "x", "body": "x" * 65537}, "body"),
)
async def test_what_cannot_be_written_is_refused_by_field(
    body: dict[str, str], field: str, here: Town
) -> None:
    answer = await here.ask("POST", "issues", body)

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == field


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
