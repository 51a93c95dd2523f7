"""What a repository's settings would keep from the bot is said, with what mends it."""

from collections.abc import AsyncIterator, Mapping
from typing import Any

import httpx
import respx

from bot.forge.branch_rules import BranchRules
from bot.forge.rest import Rest
from bot.serving import examination
from bot.serving.examination import Finding, nowhere
from brat.repository.workflow_files import is_ours, text_of
from tests.bot.conftest import API
from tests.world.cases import looped

NAME = "octo/project"
REPO = f"{API}/repos/{NAME}"
ACTIONS = f"{REPO}/actions/permissions"


async def all_of(found: AsyncIterator[Finding]) -> list[tuple[str, str]]:
    return [(one.grade, one.said) async for one in found]


def settings(
    forge: respx.MockRouter, *, on: bool, actions: str = "all", default: str = "read"
) -> None:
    told = {"enabled": on, "allowed_actions": actions}
    forge.get(ACTIONS).respond(json=told)
    jobs = {
        "can_approve_pull_request_reviews": on,
        "default_workflow_permissions": default,
    }
    forge.get(f"{ACTIONS}/workflow").respond(json=jobs)


WRITABLE = "jobs' tokens can write by default, and CI runs code that agents wrote"


@looped(
    ({"on": True, "default": "write"}, None, ["ok", WRITABLE]),
    ({"on": True, "actions": "local_only"}, None, ["ok", "ok", "fault"]),
    ({"on": True, "actions": "selected"}, None, ["ok", "ok", "note"]),
    ({"on": False}, 0, ["fault", "ok", "note"]),
    ({"on": True, "default": "write"}, 204, ["ok", "ok", "ok"]),
    ({"on": True, "default": "write"}, 403, ["ok", WRITABLE, "ok"]),
    (None, 0, ["note"]),
)
async def test_settings_of_actions_are_graded_and_fixing_loosens_nothing(
    shown: dict[str, Any] | None,
    put: int | None,
    grades: list[str],
    rest: Rest,
    forge: respx.MockRouter,
) -> None:
    """`put` is what the forge answers to the only change; 0: none is asked for."""
    if shown is None:
        forge.get(f"{ACTIONS}/workflow").respond(403, json={"message": "no"})
    else:
        settings(forge, **shown)
    if put:
        told = {"default_workflow_permissions": "read"}
        forge.put(f"{ACTIONS}/workflow", json=told).respond(put, json={})

    jobs = await examination.job_settings(rest, NAME)
    fix = put is not None
    looked = await all_of(
        examination.examined_actions(rest, NAME, jobs, has_loop=fix, fix=fix)
    )

    assert [WRITABLE if said == WRITABLE else one for one, said in looked] == grades


async def test_a_workflow_file_is_held_against_this_version() -> None:
    ci = "on:\n  push:\n    branches: [main, 'brat/queue/**']\njobs: {x: {}}\n"
    files = {
        "brat.yml": text_of("brat.yml").replace("[CI]", '["tests"]'),
        "brat-task.yml": text_of("brat-task.yml") + "# mine\n",
        "ci.yml": ci,
    }

    assert await all_of(examination.examined_workflows(files, is_ours)) == [
        ("ok", "brat.yml matches this version"),
        ("note", "brat-task.yml is from another version of brat"),
        ("ok", "ci.yml can test brat's candidates"),
    ]


@looped(
    ("https://brat.example.com/webhooks/github", "is only an example"),
    ("http://127.0.0.1:8080/", "is inside a network that the forge cannot reach"),
    ("http://localhost/", "is inside a network that the forge cannot reach"),
    ("http://10.1.2.3/", "is inside a network that the forge cannot reach"),
    ("http://[::1/", "is not a valid address"),
    ("https://brat.alice.dev/webhooks/github", ""),
)
def test_an_address_that_leads_nowhere_is_known(url: str, why: str) -> None:
    assert nowhere(url, "https://api.github.com") == why
    assert nowhere("http://10.1.2.3/", "http://10.1.2.4/api/v3") == ""


async def test_the_files_are_read_from_the_default_branch(
    rest: Rest, forge: respx.MockRouter
) -> None:
    listed = [
        {"path": ".github/workflows/ci.yml"},
        {"path": ".github/workflows/gone.yml"},
        {"path": "dynamic/pages"},
    ]
    body = {"total_count": 3, "workflows": listed}
    forge.get(f"{REPO}/actions/workflows?per_page=100").respond(json=body)
    at = f"{REPO}/contents/.github/workflows"
    forge.get(f"{at}/ci.yml").mock(
        httpx.Response(200, json={"content": "b246\nIHB1c2gK", "encoding": "base64"})
    )
    forge.get(f"{at}/gone.yml").respond(404, json={"message": "Not Finding"})

    assert await examination.workflow_texts(rest, NAME) == {"ci.yml": "on: push\n"}


QUIET = [
    ("ok", "no rule blocks the bot on convoy/any/base"),
    ("ok", "no rule blocks the bot on brat/queue/any/any"),
]


def ruled(
    forge: respx.MockRouter,
    rules: Mapping[str, list[dict[str, Any]]] | None = None,
    classic: dict[str, Any] | None = None,
) -> None:
    forge.get(REPO).respond(json={"full_name": NAME, "default_branch": "trunk"})
    for branch in ("trunk", *examination.OWN_BRANCHES):
        path = branch.replace("/", "%2F")
        url = f"{REPO}/rules/branches/{path}?per_page=100"
        forge.get(url).respond(json=(rules or {}).get(branch, []))
    told = {"data": {"repository": {"ref": {"refUpdateRule": classic}}}}
    forge.post(f"{API}/graphql").respond(json=told)


async def told(rest: Rest, ci: str = "") -> list[tuple[str, str]]:
    files, rules = {"ci.yml": ci}, BranchRules(rest, NAME)
    return await all_of(examination.examined_rules(rules, "trunk", files))


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

    said = "The forge merges the pull request with the squash method, after 1 approving"
    assert await told(rest) == [
        ("ok", f"how a convoy lands: {said} review and the check test."),
        QUIET[0],
        ("ok", "the bot may bypass the rules on brat/queue/any/any"),
    ]
    picky = "on: {push: {paths: [src/**]}}\njobs: {test: {}}\n"
    grade, said = (await told(rest, picky))[1]
    assert grade == "note"
    assert said.startswith("The workflow that reports the required check `test` starts")


BLOCKED = "the rules on convoy/any/base block the bot (no new branches)"


@looped(
    ("trunk", "update", "always", "note", "The rules of trunk let only people merge"),
    ("trunk", "update", "always", "note", "[refinery] bypass = true"),
    ("convoy/any/base", "creation", "never", "fault", BLOCKED),
)
async def test_rules_that_the_bot_may_pass_by_or_that_keep_it_away_are_named(
    branch: str,
    kind: str,
    bypass: str,
    grade: str,
    words: str,
    rest: Rest,
    forge: respx.MockRouter,
) -> None:
    ruled(forge, {branch: [{"type": kind, "ruleset_id": 7}]})
    forge.get(f"{REPO}/rulesets/7").respond(json={"current_user_can_bypass": bypass})

    (found,) = [said for found, said in await told(rest) if found == grade]
    assert words in found


@looped(
    (None, "A push moves trunk to the commit that CI tested."),
    ({"requiredApprovingReviewCount": 2}, "the pull request with the merge method"),
    ({"requiresLinearHistory": True}, "the pull request with the squash method"),
    ({"requiresSignatures": True}, "the pull request with the squash method"),
    ({"viewerCanPush": False}, "the pull request with the merge method"),
    ({"requiredStatusCheckContexts": ["test"]}, "A push moves trunk"),
)
async def test_protection_of_the_old_kind_chooses_as_rulesets_do_and_none_a_push(
    classic: dict[str, Any] | None, way: str, rest: Rest, forge: respx.MockRouter
) -> None:
    ruled(forge, classic=classic)

    (grade, said), *others = await told(rest)

    assert way in said
    assert (grade, others) == ("ok", QUIET)


@looped((200, "note"), (404, "ok"))
async def test_protection_that_cannot_be_read_is_a_note(
    status: int, grade: str, rest: Rest, forge: respx.MockRouter
) -> None:
    ruled(forge)
    forge.post(f"{API}/graphql").respond(404, json={"message": "Not Found"})
    forge.get(f"{REPO}/branches/trunk").respond(status, json={"protected": True})

    assert (await told(rest))[0][0] == grade
