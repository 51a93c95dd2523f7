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


@looped(
    ({}, ""),
    ({"request": {"force": True}}, '"sha" is a required property'),
    ({"request": {"sha": "y", "frce": True}}, "'frce' was unexpected"),
    ({"response": {"ref": "x"}}, ""),
    ({"response": REF | {"url": "no address"}}, 'is not a "uri"'),
    ({"status": 201}, "status 201 is not described"),
    ({"query": {"page": "1"}}, "query parameter page is unknown"),
    ({"path": "/repos/alice/app/teapots"}, "is not described by GitHub"),
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
