"""Rules are set as on GitHub, and refused where the forge could not hold them."""

from typing import Any

import pytest

from tests.world.forge import Town
from tests.world.forge_rules import checks, protection, pull_request, rule, ruleset


async def test_a_ruleset_is_shown_as_it_was_made(here: Town) -> None:
    wanted = ruleset(pull_request(2), checks("ci", app=7))
    number = await rule(here, *wanted["rules"])

    shown = await here.get(f"rulesets/{number}", by="alice")
    listed = await here.get("rulesets", by="carol")

    assert shown["rules"][0]["parameters"]["required_approving_review_count"] == 2
    assert shown["rules"][1] == wanted["rules"][1] | {
        "parameters": wanted["rules"][1]["parameters"]
        | {"do_not_enforce_on_create": False}
    }
    assert shown["conditions"] == wanted["conditions"]
    assert shown["bypass_actors"] == []
    assert [one["id"] for one in listed] == [number]
    assert "bypass_actors" not in await here.get(f"rulesets/{number}", by="carol")


@pytest.mark.parametrize(
    "body",
    [
        {"name": "x"},
        {"name": "x", "enforcement": "sometimes"},
        {"name": "x", "enforcement": "active", "rules": [{"type": "no_fridays"}]},
        {"name": "x", "enforcement": "active", "unknown": 1},
        ruleset({"type": "max_file_size", "parameters": {"max_file_size": 1}}),
        ruleset({"type": "creation"}, target="push"),
        ruleset({"type": "required_status_checks"}),
        ruleset(bypass_actors=[{"actor_type": "Integration"}]),
    ],
)
async def test_what_is_no_ruleset_is_refused(here: Town, body: dict[str, Any]) -> None:
    refused = await here.ask("POST", "rulesets", body, by="alice")

    assert refused.status_code == 422
    assert await here.get("rulesets") == []


async def test_names_of_rulesets_are_unique(here: Town) -> None:
    await rule(here, name="one")
    again = await here.ask("POST", "rulesets", ruleset(name="one"), by="alice")

    assert again.status_code == 422


@pytest.mark.parametrize("by", ["bot", "carol", "mallory"])
async def test_only_admins_set_rules(here: Town, by: str) -> None:
    number = await rule(here)

    for method, path, body in (
        ("POST", "rulesets", ruleset(name="mine")),
        ("PUT", f"rulesets/{number}", {"name": "mine"}),
        ("DELETE", f"rulesets/{number}", None),
        ("PUT", "branches/main/protection", protection()),
        ("DELETE", "branches/main/protection", None),
    ):
        assert (await here.ask(method, path, body, by=by)).status_code == 403


async def test_protection_comes_and_goes(here: Town) -> None:
    path = "branches/main/protection"
    bare = await here.ask("GET", path, by="alice")
    wanted = protection("ci", required_pull_request_reviews={}, lock_branch=False)
    made = await here.ask("PUT", path, wanted, by="alice")
    branch = await here.get("branches/main")
    signed = await here.post(f"{path}/required_signatures", by="alice")
    shown = await here.get(path, by="alice")
    gone = await here.ask("DELETE", path, by="alice")

    assert (bare.status_code, bare.json()["message"]) == (404, "Branch not protected")
    assert made.json()["required_status_checks"]["contexts"] == ["ci"]
    assert branch["protected"]
    assert branch["protection"]["required_status_checks"]["contexts"] == ["ci"]
    assert signed["enabled"]
    assert shown["required_signatures"]["enabled"]
    assert gone.status_code == 204
    assert not (await here.get("branches/main"))["protected"]


async def test_a_ruleset_makes_a_branch_protected_too(here: Town) -> None:
    await rule(here, {"type": "deletion"})

    assert (await here.get("branches/main"))["protected"]


@pytest.mark.parametrize(
    "more",
    [
        {"restrictions": {"users": ["alice"], "teams": []}},
        {"required_pull_request_reviews": {"require_code_owner_reviews": True}},
        {"required_conversation_resolution": True},
    ],
)
async def test_protection_that_cannot_be_held_is_refused(
    here: Town, more: dict[str, Any]
) -> None:
    body = protection(**more)
    refused = await here.ask("PUT", "branches/main/protection", body, by="alice")

    assert refused.status_code == 422


async def test_a_branch_that_is_not_there_cannot_be_protected(here: Town) -> None:
    path = "branches/nowhere/protection"

    for method, body in (("GET", None), ("PUT", protection()), ("DELETE", None)):
        answer = await here.ask(method, path, body, by="alice")
        assert (answer.status_code, answer.json()["message"]) == (
            404,
            "Branch not found",
        )
