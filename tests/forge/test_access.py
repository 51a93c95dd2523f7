from base64 import b64encode

import httpx
import pytest

from brat.forge import Forge, serving
from tests.world.cases import looped
from tests.world.forge import DEADLINE_S, REPO, Json, Town

pytestmark = pytest.mark.layer("landing")


async def test_who_shows_no_token_is_told_to(here: Town) -> None:
    answer = await here.client.get(f"{here.url}/api/v3/user")

    assert answer.status_code == 401
    assert answer.json()["message"] == "Requires authentication"


@looped("token", ["brat_1_x", "brat_999_x", "ghp_nothing", "brat__"])
async def test_a_wrong_token_opens_nothing(here: Town, token: str) -> None:
    here.tokens["wrong"] = token

    answer = await here.ask("GET", "/user", by="wrong")

    assert answer.status_code == 401
    assert answer.json()["message"] == "Bad credentials"


@looped("form", ["Bearer {}", "token {}", "Basic {}"])
async def test_each_form_of_a_token_is_taken(here: Town, form: str) -> None:
    token = here.tokens["alice"]
    if form.startswith("Basic"):
        token = b64encode(f"x-access-token:{token}".encode()).decode()

    answer = await here.client.get(
        f"{here.url}/api/v3/user", headers={"Authorization": form.format(token)}
    )

    assert answer.json()["login"] == "alice"


async def test_a_token_that_was_dropped_is_worthless(here: Town) -> None:
    here.forge.drop_token(here.tokens["carol"])

    assert (await here.ask("GET", "/user", by="carol")).status_code == 401


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


@looped(
    ("method", "path", "by"),
    [
        ("POST", "issues/{}/labels", "mallory"),
        ("POST", "pulls", "carol"),
        ("POST", "git/refs", "carol"),
        ("POST", "check-runs", "carol"),
        ("POST", "actions/workflows/brat-task.yml/dispatches", "carol"),
        ("GET", "hooks", "bot"),
        ("PATCH", "issues/{}", "mallory"),
    ],
)
async def test_rights_that_are_missing_are_named(
    here: Town, method: str, path: str, by: str
) -> None:
    number = await here.issue()

    answer = await here.ask(method, path.format(number), {"title": "x"}, by=by)

    assert answer.status_code == 403
    assert "rights to Repository" in answer.json()["message"]


async def test_rights_are_told_as_github_tells_them(here: Town) -> None:
    told = {}
    for login in ("alice", "brat[bot]", "carol", "mallory"):
        found = await here.get(f"collaborators/{login}/permission")
        told[login] = (found["permission"], found["role_name"])

    assert told == {
        "alice": ("admin", "admin"),
        "brat[bot]": ("write", "write"),
        "carol": ("read", "triage"),
        "mallory": ("read", "read"),
    }


async def test_rights_of_nobody_are_not_found(here: Town) -> None:
    answer = await here.ask("GET", "collaborators/nobody/permission")

    assert answer.status_code == 404


async def test_a_bot_says_that_it_is_one(here: Town) -> None:
    me = await here.get("/user")

    assert (me["login"], me["type"]) == ("brat[bot]", "Bot")


async def test_names_are_found_in_any_case(here: Town) -> None:
    assert (await here.get("/repos/Alice/APP"))["full_name"] == "alice/app"


async def test_an_answer_that_did_not_change_is_not_sent_again(here: Town) -> None:
    number = await here.issue()
    address = f"{here.url}/api/v3/repos/{REPO}/issues/{number}"
    token = {"Authorization": f"Bearer {here.tokens['bot']}"}
    first = await here.client.get(address, headers=token)
    asked = token | {"If-None-Match": first.headers["ETag"]}

    same = await here.client.get(address, headers=asked)
    await here.ask("PATCH", f"issues/{number}", {"title": "Other"})
    other = await here.client.get(address, headers=asked)

    assert (same.status_code, same.content) == (304, b"")
    assert (other.status_code, other.json()["title"]) == (200, "Other")


async def test_every_answer_has_an_id_and_says_what_is_left(here: Town) -> None:
    one, other = await here.ask("GET", "/user"), await here.ask("GET", "nowhere")

    for answer in (one, other):
        assert answer.headers["X-GitHub-Request-Id"]
        assert answer.headers["X-RateLimit-Limit"] == "5000"
        assert answer.headers["X-RateLimit-Resource"] == "core"


async def test_there_is_no_graphql(forge: Forge) -> None:
    async with (
        serving(forge) as url,
        httpx.AsyncClient(trust_env=False, timeout=DEADLINE_S) as client,
    ):
        answer = await client.post(f"{url}/api/graphql", json={"query": "{}"})

    assert answer.status_code == 404
    assert "use the REST API" in answer.json()["message"]


async def test_a_body_that_is_no_json_is_said_so(here: Town) -> None:
    answer = await here.client.post(
        f"{here.url}/api/v3/repos/{REPO}/issues",
        content=b"{",
        headers={"Authorization": f"Bearer {here.tokens['bot']}"},
    )

    assert answer.status_code == 400
    assert answer.json()["message"] == "Problems parsing JSON"


async def test_a_field_of_the_wrong_kind_is_named(here: Town) -> None:
    answer = await here.ask("POST", "issues", {"title": 7})

    assert answer.status_code == 422
    assert "'properties/title', 7 is not a string" in answer.json()["message"]


@looped(
    ("method", "path", "body", "key"),
    [
        ("POST", "issues", {"title": "x", "titel": "y"}, "titel"),
        ("POST", "issues/{}/comments", {"body": "x", "in_reply_to": 1}, "in_reply_to"),
        ("PATCH", "issues/{}", {"duplicate_issue_id": 1}, "duplicate_issue_id"),
        (
            "POST",
            "pulls",
            {"title": "x", "head": "a", "base": "b", "issue": 1},
            "issue",
        ),
        ("POST", "git/refs", {"ref": "x", "sha": "y", "force": True}, "force"),
    ],
)
async def test_a_key_that_the_forge_would_drop_is_refused(
    here: Town, method: str, path: str, body: Json, key: str
) -> None:
    answer = await here.ask(method, path.format(await here.issue()), body)

    assert answer.status_code == 422
    said = f'Invalid request.\n\n"{key}" is not a permitted key.'
    assert answer.json()["message"] == said


@looped(
    ("path", "field"),
    [
        ("issues?state=merged", "state"),
        ("issues?sort=size", "sort"),
        ("pulls?direction=up", "direction"),
        ("pulls?sort=long-running", "sort"),
        ("issues?issue_field_values=size:L", "issue_field_values"),
        ("commits/main/check-runs?filter=newest", "filter"),
        ("collaborators?affiliation=outside", "affiliation"),
    ],
)
async def test_a_filter_that_the_forge_would_drop_is_refused(
    here: Town, path: str, field: str
) -> None:
    answer = await here.ask("GET", path)

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == field


async def test_what_does_not_exist_is_not_found(here: Town) -> None:
    for path in ("issues/99", "pulls/99", "check-runs/99", "teapots", "/teapots"):
        assert (await here.ask("GET", path)).status_code == 404
    answer = await here.ask("GET", "/repos/alice/nothing")
    assert answer.status_code == 404


async def test_an_account_is_of_one_kind(forge: Forge) -> None:
    forge.add_user("alice")

    with pytest.raises(Exception, match="alice is a User, not a Bot"):
        forge.add_user("alice", kind="Bot")
