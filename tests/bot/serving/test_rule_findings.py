"""Doctor says how a convoy lands, and which rules stand against the bot's branches."""

from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest
import respx

from bot.forge.branch_rules import BranchRules
from bot.forge.rest import Rest
from bot.serving import repository_checks
from bot.serving.repository_checks import Finding
from tests.bot.conftest import API

NAME = "octo/project"
REPO = f"{API}/repos/{NAME}"
QUIET = [
    ("ok", "no rule keeps the bot from convoy/any/base"),
    ("ok", "no rule keeps the bot from brat/queue/any/any"),
]


async def all_of(found: AsyncIterator[Finding]) -> list[tuple[str, str]]:
    return [(one.grade, one.said) async for one in found]


def ruled(
    forge: respx.MockRouter,
    rules: Mapping[str, list[dict[str, Any]]] | None = None,
    classic: dict[str, Any] | None = None,
) -> None:
    forge.get(REPO).respond(json={"full_name": NAME, "default_branch": "trunk"})
    for branch in ("trunk", *repository_checks.OWN_BRANCHES):
        path = branch.replace("/", "%2F")
        url = f"{REPO}/rules/branches/{path}?per_page=100"
        forge.get(url).respond(json=(rules or {}).get(branch, []))
    told = {"data": {"repository": {"ref": {"refUpdateRule": classic}}}}
    forge.post(f"{API}/graphql").respond(json=told)


async def told(rest: Rest) -> list[tuple[str, str]]:
    rules = BranchRules(rest, NAME)
    return await all_of(repository_checks.examined_rules(rules, "trunk"))


async def test_a_branch_without_rules_takes_a_push(
    rest: Rest, forge: respx.MockRouter
) -> None:
    ruled(forge)

    said = "A push moves trunk to the commit that CI tested."
    assert await told(rest) == [("ok", f"how a convoy lands: {said}"), *QUIET]


async def test_rules_choose_the_way_and_what_people_owe(
    rest: Rest, forge: respx.MockRouter
) -> None:
    asked = {
        "required_approving_review_count": 1,
        "allowed_merge_methods": ["squash", "rebase"],
    }
    checks = {"required_status_checks": [{"context": "test"}]}
    ruled(
        forge,
        {
            "trunk": [
                {"type": "pull_request", "ruleset_id": 7, "parameters": asked},
                {"type": "required_status_checks", "parameters": checks},
                {"type": "creation", "ruleset_id": 7},
            ],
            "brat/queue/any/any": [{"type": "creation", "ruleset_id": 8}],
        },
    )
    forge.get(f"{REPO}/rulesets/7").respond(json={"current_user_can_bypass": "never"})
    forge.get(f"{REPO}/rulesets/8").respond(json={"current_user_can_bypass": "always"})

    said = "The forge lands its pull request by squash, after 1 approving"
    assert await told(rest) == [
        ("ok", f"how a convoy lands: {said} review, the check test."),
        QUIET[0],
        ("ok", "the bot may bypass the rules on brat/queue/any/any"),
    ]


async def test_rules_the_bot_may_pass_by_are_named_with_the_setting(
    rest: Rest, forge: respx.MockRouter
) -> None:
    ruled(forge, {"trunk": [{"type": "update", "ruleset_id": 7}]})
    forge.get(f"{REPO}/rulesets/7").respond(json={"current_user_can_bypass": "always"})

    grade, said = (await told(rest))[0]

    assert grade == "note"
    assert "By the rules of trunk, only a person can merge" in said
    assert "[refinery] bypass = true" in said


async def test_own_branches_that_a_rule_keeps_away_are_a_fault(
    rest: Rest, forge: respx.MockRouter
) -> None:
    ruled(forge, {"convoy/any/base": [{"type": "creation", "ruleset_id": 7}]})
    forge.get(f"{REPO}/rulesets/7").respond(json={"current_user_can_bypass": "never"})

    said = "the rules on convoy/any/base require no new branches"
    assert (await told(rest))[1] == ("fault", said)


@pytest.mark.parametrize(
    ("classic", "way"),
    [
        ({"requiredApprovingReviewCount": 2}, "lands its pull request by merge"),
        ({"requiresLinearHistory": True}, "lands its pull request by squash"),
        ({"requiresSignatures": True}, "lands its pull request by squash"),
        ({"viewerCanPush": False}, "lands its pull request by merge"),
        ({"requiredStatusCheckContexts": ["test"]}, "A push moves trunk"),
    ],
)
async def test_protection_of_the_old_kind_chooses_as_rulesets_do(
    classic: dict[str, Any], way: str, rest: Rest, forge: respx.MockRouter
) -> None:
    ruled(forge, classic=classic)

    assert way in (await told(rest))[0][1]


@pytest.mark.parametrize(("status", "grade"), [(200, "note"), (404, "ok")])
async def test_protection_that_cannot_be_read_is_a_note(
    status: int, grade: str, rest: Rest, forge: respx.MockRouter
) -> None:
    ruled(forge)
    forge.post(f"{API}/graphql").respond(404, json={"message": "Not Found"})
    forge.get(f"{REPO}/branches/trunk").respond(status, json={"protected": True})

    assert (await told(rest))[0][0] == grade
