"""What each rule forbids at a push, and to whom."""

from typing import Any, get_args

import pytest

from brat.forge.resources.account_resource import ACTIONS_APP_ID
from tests.forge.pushing import PROTECTED, RULES, green, push
from tests.world.forge import Town
from tests.world.forge_rules import (
    FORBID_ALL,
    checks,
    protect,
    pull_request,
    rule,
)
from tests.world.github_forge.apps import Apps, NewApp
from tests.world.github_forge.rules.push_rules import CHECKS
from tests.world.github_forge.rules.rule_types import Rule

pytestmark = pytest.mark.layer("landing")


def test_every_type_of_rule_has_its_check() -> None:
    assert set(get_args(Rule)) == CHECKS.keys()


@pytest.mark.parametrize(
    ("include", "exclude", "bound"),
    [
        (["~ALL"], [], ["main", "work", "brat/queue/x", "brat/x"]),
        (["~DEFAULT_BRANCH"], [], ["main"]),
        (["refs/heads/brat/*"], [], ["brat/x"]),
        (["refs/heads/brat/**/*"], [], ["brat/queue/x", "brat/x"]),
        (["~ALL"], ["refs/heads/brat/**/*"], ["main", "work"]),
        (["main"], [], []),
    ],
)
async def test_a_ruleset_binds_the_refs_it_names(
    here: Town, include: list[str], exclude: list[str], bound: list[str]
) -> None:
    names = ("main", "work", "brat/queue/x", "brat/x")
    checkout = await here.clone()
    await checkout.commit("a.txt", "a")
    where = {"ref_name": {"include": include, "exclude": exclude}}
    await rule(here, *FORBID_ALL, conditions=where)

    said = await push(checkout, *(f"HEAD:refs/heads/{name}" for name in names))

    refused = [name for name in names if said[f"refs/heads/{name}"] == f"!{RULES}"]
    assert refused == bound
    for name in names:
        listed = await here.get(f"rules/branches/{name}")
        assert [one["type"] for one in listed] == (
            ["creation", "update", "deletion"] if name in bound else []
        )


async def test_a_disabled_ruleset_binds_nothing(here: Town) -> None:
    checkout = await here.clone()
    number = await rule(here, *FORBID_ALL, enforcement="disabled")
    await checkout.commit("a.txt", "a")

    assert await push(checkout, "HEAD:main") == {"refs/heads/main": " "}

    change = {"enforcement": "active"}
    await here.ask("PUT", f"rulesets/{number}", change, by="alice")
    await checkout.commit("a.txt", "b")
    assert await push(checkout, "HEAD:main") == {"refs/heads/main": f"!{RULES}"}
    await here.ask("DELETE", f"rulesets/{number}", by="alice")
    assert await push(checkout, "HEAD:main") == {"refs/heads/main": " "}


async def test_a_commit_with_green_checks_may_be_pushed(here: Town) -> None:
    checkout = await here.clone()
    await rule(here, checks("ci", "lint"))
    sha = await checkout.commit("a.txt", "a")
    await checkout.git("push", "--quiet", "origin", "HEAD:brat/queue/x")
    await green(here, sha, "ci")
    half = await checkout.run("push", "origin", "HEAD:main", check=False)
    await here.post(f"statuses/{sha}", {"state": "success", "context": "lint"})

    assert 'Required status check "lint" is expected.' in half.stderr
    assert await push(checkout, "HEAD:main") == {"refs/heads/main": " "}


@pytest.mark.parametrize(
    ("state", "said"),
    [
        ({"status": "in_progress"}, 'Required status check "ci" is in progress.'),
        ({"conclusion": "failure"}, 'Required status check "ci" is failing.'),
    ],
)
async def test_a_check_that_is_not_green_is_named(
    here: Town, state: dict[str, str], said: str
) -> None:
    checkout = await here.clone()
    await rule(here, checks("ci"))
    sha = await checkout.commit("a.txt", "a")
    await checkout.git("push", "--quiet", "origin", "HEAD:work")
    await here.post("check-runs", {"name": "ci", "head_sha": sha} | state)

    refused = await checkout.run("push", "origin", "HEAD:main", check=False)

    assert said in refused.stderr


async def test_a_check_counts_only_from_the_app_that_is_named(here: Town) -> None:
    checkout = await here.clone()
    await rule(here, checks("ci", app=ACTIONS_APP_ID))
    sha = await checkout.commit("a.txt", "a")
    await checkout.git("push", "--quiet", "origin", "HEAD:work")
    await green(here, sha, "ci")

    assert await push(checkout, "HEAD:main") == {"refs/heads/main": f"!{RULES}"}

    here.forge.add_user("github-actions[bot]", kind="Bot")
    here.forge.grant("alice/app", "github-actions[bot]", "write")
    here.tokens["actions"] = here.forge.add_token("github-actions[bot]")
    await green(here, sha, "ci", by="actions")
    assert await push(checkout, "HEAD:main") == {"refs/heads/main": " "}


async def test_merge_commits_are_named_where_history_is_linear(here: Town) -> None:
    checkout = await here.clone()
    await checkout.git("switch", "--quiet", "-c", "side")
    await checkout.commit("side.txt", "s")
    await checkout.git("switch", "--quiet", "main")
    await checkout.commit("a.txt", "a")
    await checkout.git("merge", "--quiet", "--no-edit", "side")
    merge = await checkout.git("rev-parse", "HEAD")
    await rule(here, {"type": "required_linear_history"})

    refused = await checkout.run("push", "origin", "main", check=False)

    assert "This branch must not contain merge commits." in refused.stderr
    assert merge in refused.stderr
    assert await push(checkout, "main~1:main") == {"refs/heads/main": " "}


@pytest.mark.parametrize(
    ("asked", "path", "size"),
    [
        (
            {
                "type": "file_path_restriction",
                "parameters": {"restricted_file_paths": ["secret/**"]},
            },
            "secret/a.txt",
            1,
        ),
        (
            {"type": "max_file_size", "parameters": {"max_file_size": 1}},
            "a.bin",
            (1 << 20) + 1,
        ),
    ],
)
async def test_a_push_ruleset_looks_at_every_commit(
    here: Town, asked: dict[str, Any], path: str, size: int
) -> None:
    checkout = await here.clone()
    await rule(here, asked, target="push")
    bad = await checkout.commit(path, "x" * size)
    await checkout.git("rm", "--quiet", path)
    await checkout.git("commit", "--quiet", "-m", "Take it back")

    refused = await checkout.run("push", "origin", "HEAD:work", check=False)
    fine = await push(checkout, "HEAD~2:refs/heads/fine")

    assert f"commit: {bad}" in refused.stderr
    assert f"path: {path}" in refused.stderr
    assert fine == {"refs/heads/fine": "*"}


async def test_a_job_may_push_what_changes_no_workflow(here: Town) -> None:
    checkout = await here.clone("alice")
    await checkout.commit(".github/workflows/ci.yml", "on: push\n")
    await checkout.git("push", "--quiet", "origin", "main")
    apps = Apps(here.forge)
    apps.add(NewApp(slug="b", owner="alice", public_key="", permissions={}))
    installed = apps.install("b", "alice/app")
    for right in ({"contents": "write"}, {"contents": "write", "workflows": "write"}):
        name = "with" if "workflows" in right else "without"
        token, _ = apps.token(installed, installed.repos, tuple(right.items()))
        here.tokens[name] = token
    one, other = await here.clone("without"), await here.clone("with")
    for each in (one, other):
        await each.commit("a.txt", "a")
        branch = f"HEAD:{each.folder.name}"
        assert await push(each, branch) == {f"refs/heads/{each.folder.name}": "*"}
        await each.commit(".github/workflows/ci.yml", "on: pull_request\n")

    refused, taken = await push(one, "HEAD:one"), await push(other, "HEAD:other")

    assert refused == {"refs/heads/one": f"!{RULES}"}
    assert taken == {"refs/heads/other": "*"}


@pytest.mark.parametrize("mode", ["always", "exempt", "pull_request"])
async def test_an_app_may_bypass_as_its_mode_says(here: Town, mode: str) -> None:
    bot = here.forge.user("brat[bot]")
    assert bot is not None
    actor = {
        "actor_type": "Integration",
        "actor_id": here.forge.app_id(bot),
        "bypass_mode": mode,
    }
    number = await rule(here, pull_request(), checks("ci"), bypass_actors=[actor])
    checkout, other = await here.clone(), await here.clone("alice")
    await checkout.commit("a.txt", "a")
    await other.commit("b.txt", "b")

    mine = await checkout.run("push", "origin", "HEAD:main", check=False)
    theirs = await push(other, "HEAD:main")
    may = (await here.get(f"rulesets/{number}"))["current_user_can_bypass"]

    assert (mine.status == 0) == (mode != "pull_request")
    assert ("Bypassed rule violations" in mine.stderr) == (mode == "always")
    assert may == ("pull_requests_only" if mode == "pull_request" else mode)
    if mode == "pull_request":
        assert theirs == {"refs/heads/main": f"!{RULES}"}
        await here.pull(checkout)
        merged = await here.ask("PUT", "pulls/1/merge")
        assert merged.status_code == 200


async def test_an_admin_passes_protection_unless_it_is_enforced(here: Town) -> None:
    alice = await here.clone("alice")
    await protect(here, required_pull_request_reviews={}, enforce_admins=False)
    await alice.commit("a.txt", "a")
    passed = await alice.run("push", "origin", "main")
    forced = await push(alice, "+main~1:main")
    await protect(here, required_pull_request_reviews={}, enforce_admins=True)
    await alice.commit("a.txt", "b")

    assert "Bypassed rule violations for refs/heads/main" in passed.stderr
    assert forced == {"refs/heads/main": f"!{PROTECTED}"}
    assert await push(alice, "main") == {"refs/heads/main": f"!{PROTECTED}"}
