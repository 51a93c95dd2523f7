"""The judge itself: it finds faults that were planted, and only those."""

from typing import Any

from msgspec.structs import replace

from tests.contract.openapi import github
from tests.contract.prune_openapi import served
from tests.world.cases import looped
from tests.world.github_forge.endpoint_permissions import shape
from tests.world.traffic import Exchange

REF: dict[str, Any] = {
    "ref": "refs/heads/main",
    "node_id": "x",
    "url": "http://127.0.0.1/x",
    "object": {"type": "commit", "sha": "a" * 40, "url": "http://127.0.0.1/y"},
}
MADE = Exchange(
    method="PATCH",
    path="/repos/alice/app/git/refs/heads/main",
    query={},
    request={"sha": "a" * 40, "force": True},
    status=200,
    response=REF,
)


REFUSED = {"message": "Reference already exists", "documentation_url": "x"}
LISTED: dict[str, Any] = {
    "method": "GET",
    "path": "/repos/a/b/issues",
    "request": None,
    "status": 200,
    "response": [],
}
LONGEST = {
    **LISTED,
    "path": "/repos/a/b/commits/convoy/x/base/check-runs",
    "response": {"total_count": 0, "check_runs": []},
}


@looped(
    ({}, ""),
    ({"request": {"force": True}}, '"sha" is a required property'),
    ({"request": {"sha": "y", "frce": True}}, "'frce' was unexpected"),
    ({"request": {"sha": 7}}, '7 is not of type "string"'),
    ({"request": None}, "null is not of type"),
    ({"response": {"ref": "x"}}, ""),
    ({"response": REF | {"url": "no address"}}, 'is not a "uri"'),
    ({"response": REF | {"node_id": None}}, "null is not of type"),
    ({"status": 201}, "status 201 is not described"),
    ({"query": {"page": "1"}}, "query parameter page is unknown"),
    ({"path": "/repos/alice/app/teapots"}, "is not described by GitHub"),
    ({"status": 422, "response": REFUSED}, ""),
    ({"status": 422, "response": {"errors": 7}}, "errors"),
    (LISTED | {"query": {"per_page": "5"}}, ""),
    (LISTED | {"query": {"per_page": "all"}}, "per_page"),
    (LISTED | {"query": {"state": "merged"}}, "state"),
    (LONGEST, ""),
)
def test_a_planted_fault_is_found_and_nothing_else(
    planted: dict[str, Any], found: str
) -> None:
    faults = github().faults(replace(MADE, **planted))

    assert bool(faults) == bool(found), faults
    assert not found or any(found in fault for fault in faults), faults


def test_every_route_of_the_forge_is_described_by_github() -> None:
    described = {(how.lower(), shape(path)) for how, path in github().described()}

    assert served() - described == set()
