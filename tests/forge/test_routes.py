"""No route of the forge answers what another route of GitHub's is for."""

import re
from collections.abc import Sequence

from aiohttp import web

from brat.forge.http_server import ROUTES
from brat.forge.rest.rest_call import Route
from tests.contract.openapi import described_path
from tests.contract.prune_openapi import OPERATIONS
from tests.world.cases import looped
from tests.world.forge import Town
from tests.world.github_forge.endpoint_permissions import shape
from tests.world.github_forge.extension import ROUTES as MORE, UNSERVED

SAMPLES = ("1", "word", "two/words")
DEEP = {"ref", "path", "branch", "basehead", "commit_sha"}
"""Parameters that may hold slashes."""
TWICE = {"/repos/{}/{}/compare/{}...{}": "/repos/{}/{}/compare/{}"}
"""GitHub describes one route in two ways."""


def operations() -> list[tuple[str, str]]:
    """Return path and method of all of GitHub's operations."""
    lines = OPERATIONS.read_text().splitlines()
    return [
        (path, method) for path, _, method in (one.rpartition(" ") for one in lines)
    ]


def filled(path: str, sample: str) -> str:
    """Return a path with something in place of its parameters."""

    def value(match: re.Match[str]) -> str:
        deep = match[1] in DEEP
        return sample if deep or "/" not in sample else sample.partition("/")[0]

    return re.sub(r"\{([^}]*)\}", value, path)


def matched(routes: Sequence[Route]) -> list[tuple[str, re.Pattern[str], str]]:
    """Return method, pattern and shape of each route, in the order they are tried."""
    found = []
    for route in routes:
        info = web.UrlDispatcher().add_resource(route.path).get_info()
        pattern = info.get("pattern") or re.compile(re.escape(info["path"]))
        path = described_path(route.method, route.path)
        found.append((route.method, pattern, shape(path)))
    return found


def shadowed(routes: Sequence[Route]) -> list[str]:
    """Return the operations that the route of another operation answers."""
    known, faults = matched(routes), []
    unserved = {shape(route.path) for route in UNSERVED}
    for path, method in operations():
        for sample in SAMPLES:
            asked = filled(path, sample)
            hits = (s for m, p, s in known if m == method and p.fullmatch(asked))
            hit, own = next(hits, None), TWICE.get(shape(path), shape(path))
            if hit not in {None, own, *unserved}:
                faults.append(f"{method} {asked} is answered by {hit}")
    return faults


def test_no_route_answers_for_another() -> None:
    assert shadowed((*UNSERVED, *ROUTES, *MORE)) == []


def test_each_route_is_reached_by_its_own_path() -> None:
    known = matched((*UNSERVED, *ROUTES, *MORE))
    for route in (*ROUTES, *MORE):
        path = re.sub(r"\{(\w+):\\d\+\}", "7", route.path)
        path = re.sub(r"\{(\w+)[^}]*\}", "word", path)
        hits = (s for m, p, s in known if m == route.method and p.fullmatch(path))
        own = shape(described_path(route.method, route.path))
        assert next(hits) == own, route.path


@looped(
    "path",
    [
        "commits/main/comments",
        "commits/main/check-suites",
        "commits/main/branches-where-head",
        "branches/main/protection/enforce_admins",
        "branches/main/protection/required_status_checks/contexts",
        "branches",
        "milestones",
    ],
)
async def test_what_the_forge_does_not_have_is_not_found(here: Town, path: str) -> None:
    answer = await here.ask("GET", path)

    assert answer.status_code == 404
    assert answer.json()["message"] == "Not Found"


async def test_a_branch_may_be_called_like_a_part_of_a_commit(here: Town) -> None:
    checkout = await here.clone()
    await checkout.git("push", "--quiet", "origin", "HEAD:feature/pull")

    assert (await here.get("branches/feature/pull"))["name"] == "feature/pull"
    assert await here.get("commits/feature/pull/statuses") == []
