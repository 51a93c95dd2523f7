"""People, issues, comments and pull requests, as GitHub tells of them."""

import json
import subprocess
import sys
from collections.abc import Awaitable, Callable
from urllib.parse import urljoin

import pytest
import respx

from bot.forge.github import GitHub, Right
from bot.forge.rest import Refused
from convoy.model import ids
from convoy.rules.observed import Run
from tests.bot.there import there
from tests.world.cases import looped

API = "https://api.example.org"
REPO = f"{API}/repos/octo/project"


def sent(route: respx.Route) -> object:
    return json.loads(route.calls.last.request.content)


@looped(
    ("admin", "", "write", True),
    ("write", "", "write", True),
    ("maintain", "", "write", True),
    ("read", "", "write", False),
    ("", "", "write", False),
    ("write", "maintain", "maintain", True),
    ("write", "write", "maintain", False),
    ("admin", "admin", "maintain", True),
    ("write", "release-team", "maintain", False),
    ("write", "release-team, which maintains", "maintain", True),
    ("write", "release-team, which maintains", "admin", False),
    ("read", "read", "maintain", False),
)
async def test_who_may_do_what_is_asked_each_time(
    permission: str,
    role: str,
    right: Right,
    may: object,
    github: GitHub,
    forge: respx.MockRouter,
) -> None:
    user = {"login": "ann", "permissions": {"maintain": "," in role}}
    told = {"permission": permission, "user": user}
    told |= {"role_name": role} if role else {}
    route = forge.get(f"{REPO}/collaborators/ann/permission").respond(json=told)
    before = route.call_count

    assert await github.may("ann", right) is may
    assert await github.may("ann", right) is may
    assert route.call_count == before + 2


async def test_a_login_cannot_change_what_is_asked(
    github: GitHub, forge: respx.MockRouter
) -> None:
    route = forge.get(url__startswith=f"{REPO}/collaborators/")
    route.respond(404)

    assert not await github.may("../../x/y?")
    assert route.calls.last.request.url.raw_path == (
        b"/repos/octo/project/collaborators/..%2F..%2Fx%2Fy%3F/permission"
    )


HIDDEN = "Resource not accessible by integration"
DELETED = Run(id=1, completed=True, deleted=True)


async def forced(github: GitHub) -> None:
    await github.runs.cancel(5, force=True)


async def woken(github: GitHub) -> None:
    await github.runs.wake_by_clock(on=True)


@looped(
    (
        "GET collaborators/ann/permission",
        403,
        lambda g: g.may("ann"),
        Refused,
    ),
    (
        "DELETE issues/7/labels/b",
        403,
        lambda g: g.relabel(7, set(), {"b"}),
        Refused,
    ),
    (
        "DELETE issues/7/labels/needs%20a%2Fb",
        404,
        lambda g: g.relabel(7, set(), {"needs a/b"}),
        None,
    ),
    ("GET issues/comments/5", 404, lambda g: g.comment(5), None),
    ("GET actions/runs/1", 404, lambda g: g.runs.state(1), DELETED),
    ("POST actions/runs/5/cancel", 409, lambda g: g.runs.cancel(5), None),
    ("POST actions/runs/5/cancel", 403, lambda g: g.runs.cancel(5), Refused),
    ("POST actions/runs/5/force-cancel", 409, forced, None),
    (
        "POST actions/workflows/brat-task.yml/dispatches",
        422,
        lambda g: g.runs.start("main", {}),
        Refused,
    ),
    ("GET commits/c0/statuses", 403, lambda g: g.ci.statuses("c0"), []),
    ("GET commits/c0/statuses", 404, lambda g: g.ci.statuses("c0"), []),
    ("GET actions/runs", 403, lambda g: g.ci.runs("c0"), None),
    ("GET ../../../user", 403, lambda g: g.login(), "github-actions[bot]"),
    ("GET actions/workflows/brat-wake.yml", 404, woken, Refused),
)
async def test_what_the_forge_refuses_is_told_or_has_a_meaning(
    asked: str,
    status: int,
    call: Callable[[GitHub], Awaitable[object]],
    told: object,
    github: GitHub,
    forge: respx.MockRouter,
) -> None:
    method, path = asked.split()
    route = forge.route(method=method, url__startswith=urljoin(f"{REPO}/", path))
    before = route.respond(status, json={"message": HIDDEN}).call_count

    if told is Refused:
        with pytest.raises(Refused, match=f"{status}: {HIDDEN}"):
            await call(github)
    else:
        assert await call(github) == told
    assert route.call_count == before + 1


async def test_who_set_the_label_last_counts(
    github: GitHub, forge: respx.MockRouter
) -> None:
    def event(kind: str, label: str, login: str | None) -> dict[str, object]:
        actor = {"login": login} if login else None
        return {"event": kind, "label": {"name": label}, "actor": actor}

    forge.get(f"{REPO}/issues/7/events").respond(
        json=[
            event("labeled", "brat", "ann"),
            event("unlabeled", "brat", "cy"),
            event("labeled", "brat", "bea"),
            event("labeled", "bug", "dan"),
            event("labeled", "brat", None),
            {"event": "closed", "actor": {"login": "eve"}},
        ]
    )

    last = there(await github.labelling(7, "brat"))
    assert there(last.actor).login == "bea"
    assert await github.labelling(7, "other") is None


async def test_a_graphql_answer_without_data_tells_nothing(
    github: GitHub, forge: respx.MockRouter
) -> None:
    said = {"data": {"repository": None}, "errors": [{"message": "no"}]}
    forge.post(f"{API}/graphql").respond(json=said)

    with pytest.raises(Refused, match="no"):
        await github.text_edited_at(7)


async def test_its_own_comment_is_found_by_its_key(
    github: GitHub, forge: respx.MockRouter
) -> None:
    marked = f"{ids.marker('comment:fix-7')}\nhello"
    forge.get(f"{REPO}/issues/7/comments").respond(
        json=[
            {"id": 1, "body": marked, "user": {"login": "eve"}},
            {"id": 2, "body": marked, "user": None},
            {"id": 3, "body": None, "user": {"login": "brat"}},
            {"id": 4, "body": "comment:fix-7", "user": {"login": "brat"}},
            {"id": 5, "body": ids.marker("comment:fix"), "user": {"login": "brat"}},
            {"id": 6, "body": marked, "user": {"login": "brat"}},
        ]
    )

    found = there(await github.said(7, "comment:fix-7", "brat"))

    assert (found.id, found.body) == (6, marked)
    assert await github.said(7, "comment:other", "brat") is None


KEEPER = """
import gc
import sys
from bot.forge.payloads import Issue

class Holder:
    pass

gc.disable()
given = {"number": 1, "title": "x", "state": "open"}
for _ in range(50):  # they are found when the interpreter ends
    held = Holder()
    held.itself = held
    held.at = Issue(**given, updated_at="2026-01-01T00:00:00+02:00").updated_at
print(held.at.isoformat())
sys.held = held
"""


def test_a_time_that_a_cycle_holds_does_not_end_the_process_by_a_fault() -> None:
    ended = subprocess.run(
        [sys.executable, "-X", "dev", "-c", KEEPER],
        capture_output=True,
        text=True,
        check=False,
    )

    assert (ended.returncode, ended.stdout) == (0, "2025-12-31T22:00:00+00:00\n")
