"""What is wrong with an App or a repository is found, with what puts it right."""

from collections.abc import AsyncIterator, Mapping
from typing import Any

import httpx
import pytest
import respx

from bot.forge.app_auth import PERMISSIONS
from bot.forge.branch_rules import BranchRules
from bot.forge.rest import Rest
from bot.serving import examination
from bot.serving.examination import Finding, examined, nowhere
from bot.serving.github_app import EVENTS
from bot.settings.bot_settings import ServiceSettings
from brat.repository.workflow_files import is_ours, text_of
from tests.bot.conftest import API
from tests.bot.serving.hosted_town import helper, hosting
from tests.world.cases import looped
from tests.world.forge import Town, until
from tests.world.github_forge.webhooks import deliveries_in
from tests.world.receiver import receiving


def app(
    here: Town,
    permissions: Mapping[str, str] = PERMISSIONS,
    events: tuple[str, ...] = EVENTS,
    hook: str = "",
) -> ServiceSettings:
    told = (hook, "made-up-secret") if hook else None
    made = helper(here, permissions=permissions, events=events, hook=told)
    return hosting(here, app="helper", allowed_owners=("alice",), **made)


async def looked(hosting: ServiceSettings, *, fix: bool = False) -> list[Finding]:
    return [found async for found in examined(hosting, is_ours, fix=fix)]


def about(found: list[Finding], word: str) -> Finding:
    return next(one for one in found if word in one.said)


@pytest.mark.layer("landing")
async def test_of_a_sound_app_only_its_missing_webhook_is_a_fault(here: Town) -> None:
    found = await looked(app(here))

    assert about(found, "the App is").said == "the App is helper"
    assert about(found, "has all permissions").grade == "ok"
    assert not any("is not subscribed to" in one.said for one in found)
    assert about(found, "whether GitHub Actions is enabled").grade == "note"
    webhook = about(found, "webhook")
    assert (webhook.grade, webhook.said) == ("fault", "the webhook has no address")
    assert "--poll" in webhook.mend


@pytest.mark.layer("landing")
async def test_a_missing_permission_and_event_are_named(here: Town) -> None:
    fewer = {**PERMISSIONS, "checks": "read"}
    hosting = app(here, permissions=fewer, events=("issues",))
    hosting = hosting.model_copy(update={"allowed_owners": ("nobody",)})

    found = await looked(hosting)

    lacks = about(found, "lacks")
    assert (lacks.grade, lacks.said) == ("fault", "the App lacks checks: write")
    assert "permissions and events" in lacks.mend
    assert "push" in about(found, "is not subscribed to").said
    assert about(found, "no repository").grade == "fault"


@pytest.mark.layer("landing")
async def test_a_workflow_that_is_missing_is_a_fault_and_a_label_is_made_when_asked(
    here: Town,
) -> None:
    told = {"label": "do it", "workflow": "no-such.yml"}
    hosting = app(here).model_copy(update=told)

    missing = await looked(hosting)
    workflow = about(missing, "workflow no-such.yml")
    assert workflow.grade == "fault"
    assert "brat init --hosted" in workflow.mend
    assert about(missing, "there is no label").mend == "use --fix to create it"
    made = about(await looked(hosting, fix=True), "label do it")
    assert "created the label" in made.said
    assert about(await looked(hosting), "label do it").grade == "ok"


@pytest.mark.layer("landing")
async def test_deliveries_that_fail_are_explained_and_their_address_is_tried(
    here: Town,
) -> None:
    async with receiving() as receiver:
        hosting, url = app(here, hook=receiver.url), receiver.url
        receiver.status = 401
        await here.issue()

        sent = deliveries_in(here.forge.store)
        await until(lambda: sent.all() and not any(each.pending for each in sent.all()))

        failing = about(await looked(hosting), "deliveries")
        assert failing.said.endswith("failed (newest: status 401)")
        assert "secrets do not match" in failing.mend
        for status, grade in ((401, "ok"), (403, "note"), (404, "fault")):
            receiver.status = status
            assert about(await looked(hosting), url).grade == grade, status

    assert "cannot be reached" in about(await looked(hosting), url).said
    found = await looked(hosting.model_copy(update={"app": "brat", "secret": ""}))
    assert about(found, "call the App brat").grade == "fault"
    assert about(found, "no secret").grade == "note"


# --- what a repository's settings would keep from the bot, with what mends it ---------

PROJECT = "octo/project"
AT = f"{API}/repos/{PROJECT}"
ACTIONS = f"{AT}/actions/permissions"


async def told_of(found: AsyncIterator[Finding]) -> list[tuple[str, str]]:
    return [(one.grade, one.said) async for one in found]


DEFAULT, REVIEWS = "default_workflow_permissions", "can_approve_pull_request_reviews"
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
        allowed = shown.get("actions", "all")
        policy = {"enabled": shown["on"], "allowed_actions": allowed}
        forge.get(ACTIONS).respond(json=policy)
        jobs = {DEFAULT: shown.get("default", "read"), REVIEWS: shown["on"]}
        forge.get(f"{ACTIONS}/workflow").respond(json=jobs)
    if put:
        forge.put(f"{ACTIONS}/workflow", json={DEFAULT: "read"}).respond(put, json={})

    found = await examination.job_settings(rest, PROJECT)
    fix = put is not None
    looked = await told_of(
        examination.examined_actions(rest, PROJECT, found, has_loop=fix, fix=fix)
    )

    assert [WRITABLE if said == WRITABLE else one for one, said in looked] == grades


async def test_a_workflow_file_is_held_against_this_version() -> None:
    ci = "on:\n  push:\n    branches: [main, 'brat/queue/**']\njobs: {x: {}}\n"
    files = {
        "brat.yml": text_of("brat.yml").replace("[CI]", '["tests"]'),
        "brat-task.yml": text_of("brat-task.yml") + "# mine\n",
        "ci.yml": ci,
    }

    assert await told_of(examination.examined_workflows(files, is_ours)) == [
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
    forge.get(f"{AT}/actions/workflows?per_page=100").respond(json=body)
    at = f"{AT}/contents/.github/workflows"
    forge.get(f"{at}/ci.yml").mock(
        httpx.Response(200, json={"content": "b246\nIHB1c2gK", "encoding": "base64"})
    )
    forge.get(f"{at}/gone.yml").respond(404, json={"message": "Not Finding"})

    assert await examination.workflow_texts(rest, PROJECT) == {"ci.yml": "on: push\n"}


QUIET = [
    ("ok", "no rule blocks the bot on convoy/any/base"),
    ("ok", "no rule blocks the bot on brat/queue/any/any"),
]


def ruled(
    forge: respx.MockRouter,
    rules: Mapping[str, list[dict[str, Any]]] | None = None,
    classic: dict[str, Any] | None = None,
) -> None:
    forge.get(AT).respond(json={"full_name": PROJECT, "default_branch": "trunk"})
    for branch in ("trunk", *examination.OWN_BRANCHES):
        path = branch.replace("/", "%2F")
        url = f"{AT}/rules/branches/{path}?per_page=100"
        forge.get(url).respond(json=(rules or {}).get(branch, []))
    ruling = {"data": {"repository": {"ref": {"refUpdateRule": classic}}}}
    forge.post(f"{API}/graphql").respond(json=ruling)


async def ruling(rest: Rest, ci: str = "") -> list[tuple[str, str]]:
    files, rules = {"ci.yml": ci}, BranchRules(rest, PROJECT)
    return await told_of(examination.examined_rules(rules, "trunk", files))


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
    forge.get(f"{AT}/rulesets/7").respond(json={"current_user_can_bypass": "never"})
    forge.get(f"{AT}/rulesets/8").respond(json={"current_user_can_bypass": "always"})

    said = "The forge merges the pull request with the squash method, after 1 approving"
    assert await ruling(rest) == [
        ("ok", f"how a convoy lands: {said} review and the check test."),
        QUIET[0],
        ("ok", "the bot may bypass the rules on brat/queue/any/any"),
    ]
    picky = "on: {push: {paths: [src/**]}}\njobs: {test: {}}\n"
    grade, said = (await ruling(rest, picky))[1]
    assert grade == "note"
    assert said.startswith("The workflow that reports the required check `test` starts")


BLOCKED = "the rules on convoy/any/base block the bot (no new branches)"


async def test_rules_that_the_bot_may_pass_by_or_that_keep_it_away_are_named(
    rest: Rest, forge: respx.MockRouter
) -> None:
    people = "The rules of trunk let only people merge"
    for branch, kind, bypass, grade, words in (
        ("trunk", "update", "always", "note", (people, "[refinery] bypass = true")),
        ("convoy/any/base", "creation", "never", "fault", (BLOCKED,)),
    ):
        ruled(forge, {branch: [{"type": kind, "ruleset_id": 7}]})
        may = {"current_user_can_bypass": bypass}
        forge.get(f"{AT}/rulesets/7").respond(json=may)

        (found,) = [said for found, said in await ruling(rest) if found == grade]
        assert all(each in found for each in words)


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

    (grade, said), *others = await ruling(rest)

    assert way in said
    assert (grade, others) == ("ok", QUIET)


@looped((200, "note"), (404, "ok"))
async def test_protection_that_cannot_be_read_is_a_note(
    status: int, grade: str, rest: Rest, forge: respx.MockRouter
) -> None:
    ruled(forge)
    forge.post(f"{API}/graphql").respond(404, json={"message": "Not Found"})
    forge.get(f"{AT}/branches/trunk").respond(status, json={"protected": True})

    assert (await ruling(rest))[0][0] == grade
