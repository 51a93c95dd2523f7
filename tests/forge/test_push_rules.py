"""Rules refuse refs one by one, at a push and over REST."""

import asyncio
from typing import Any

import pytest

from brat.forge.resources.account_resource import ACTIONS_APP_ID
from tests.world.forge import Checkout, Town
from tests.world.forge_rules import (
    FORBID_ALL,
    checks,
    protect,
    pull_request,
    put_hook,
    rule,
)
from tests.world.github_forge.apps import Apps, NewApp

RULES = "(push declined due to repository rule violations)"
PROTECTED = "(protected branch hook declined)"


async def push(checkout: Checkout, *words: str) -> dict[str, str]:
    """Push and return git's word for each ref: its flag, and the text in brackets."""
    done = await checkout.run("push", "--porcelain", "origin", *words, check=False)
    found = {}
    for line in done.stdout.decode().splitlines():
        if line.count("\t") == 2:
            flag, names, said = line.split("\t")
            bracket = said.find("(")
            found[names.rpartition(":")[2]] = (
                flag + said[bracket:] if flag == "!" and bracket >= 0 else flag
            )
    return found


async def tips(here: Town) -> dict[str, str]:
    """Return all refs of the repository."""
    return here.forge.bare(here.forge.known("alice/app")).refs()


async def green(here: Town, sha: str, *names: str, by: str = "bot") -> None:
    """Let checks be green on a commit."""
    for name in names:
        body = {"name": name, "head_sha": sha, "conclusion": "success"}
        await here.post("check-runs", body, by=by)


async def test_a_refused_ref_does_not_hold_the_others_back(here: Town) -> None:
    checkout = await here.clone()
    await rule(here, pull_request())
    commit = await checkout.commit("a.txt", "a")

    said = await push(checkout, "HEAD:main", "HEAD:work", "HEAD:refs/grite/wal")

    assert said == {
        "refs/heads/main": f"!{RULES}",
        "refs/heads/work": "*",
        "refs/grite/wal": "*",
    }
    refs = await tips(here)
    assert refs["refs/heads/work"] == refs["refs/grite/wal"] == commit
    assert refs["refs/heads/main"] != commit


async def test_of_an_atomic_push_no_ref_moves_when_one_is_refused(here: Town) -> None:
    checkout = await here.clone()
    await protect(here, required_pull_request_reviews={})
    await checkout.commit("a.txt", "a")
    before = await tips(here)

    said = await push(checkout, "--atomic", "HEAD:main", "HEAD:work")

    assert said == {
        "refs/heads/main": f"!{PROTECTED}",
        "refs/heads/work": "!(atomic push failure)",
    }
    assert await tips(here) == before


async def test_two_sources_of_rules_have_one_answer_for_each_ref(here: Town) -> None:
    checkout = await here.clone()
    await checkout.git("push", "--quiet", "origin", "HEAD:kept")
    await protect(here, branch="kept")
    await rule(here, {"type": "creation"}, on=("refs/heads/brat/**/*",))
    await checkout.commit("a.txt", "a")
    await checkout.git("commit", "--quiet", "--amend", "-m", "Other")

    said = await push(checkout, ":kept", "HEAD:brat/queue/x", "HEAD:fine")

    assert said == {
        "refs/heads/kept": f"!{PROTECTED}",
        "refs/heads/brat/queue/x": f"!{RULES}",
        "refs/heads/fine": "*",
    }


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


async def test_what_the_rules_refuse_rest_refuses_too(here: Town) -> None:
    checkout = await here.clone()
    await rule(here, pull_request(), {"type": "deletion"}, on=("~ALL",))
    sha = await checkout.commit("a.txt", "a")
    await checkout.git("push", "--quiet", "origin", "HEAD:work")

    moved = await here.ask("PATCH", "git/refs/heads/main", {"sha": sha})
    gone = await here.ask("DELETE", "git/refs/heads/work")

    head = "Repository rule violations found\n\n"
    assert moved.status_code == gone.status_code == 422
    assert moved.json()["message"] == (
        head + "Changes must be made through a pull request.\n\n"
    )
    assert gone.json()["message"] == head + "Cannot delete this branch\n\n"


async def test_a_merge_waits_for_what_the_rules_ask(here: Town) -> None:
    await rule(here, pull_request(1, allowed_merge_methods=["squash"]), checks("ci"))
    pull = await here.pull(await here.clone())
    sha = pull["head"]["sha"]
    asked = {"merge_method": "squash"}

    both = await here.ask("PUT", "pulls/1/merge", asked)
    await green(here, sha, "ci")
    unseen = await here.ask("PUT", "pulls/1/merge", asked)
    await here.post("pulls/1/reviews", {"event": "APPROVE"}, by="alice")
    wrong = await here.ask("PUT", "pulls/1/merge", {"merge_method": "merge"})
    clean = (await here.get("pulls/1"))["mergeable_state"]
    done = await here.ask("PUT", "pulls/1/merge", asked)

    review = "At least 1 approving review is required by reviewers with write access."
    head = "Repository rule violations found\n\n"
    expected = 'Required status check "ci" is expected.'
    assert pull["mergeable_state"] == "blocked"
    assert both.json()["message"] == f"{head}{review}\n\n{expected}\n\n"
    assert unseen.json()["message"] == f"{head}{review}\n\n"
    assert both.status_code == unseen.status_code == wrong.status_code == 405
    assert (clean, done.status_code) == ("clean", 200)


async def test_an_approval_goes_stale_where_the_rules_say_so(here: Town) -> None:
    await rule(here, pull_request(1, dismiss_stale_reviews_on_push=True))
    checkout = await here.clone()
    await here.pull(checkout)
    await here.post("pulls/1/reviews", {"event": "APPROVE"}, by="alice")
    await checkout.commit("more.txt", "more")
    await checkout.git("push", "--quiet", "origin", "work")

    stale = await here.ask("PUT", "pulls/1/merge")
    await here.post("pulls/1/reviews", {"event": "APPROVE"}, by="alice")

    assert stale.status_code == 405
    assert (await here.ask("PUT", "pulls/1/merge")).status_code == 200


async def test_the_queue_is_the_only_way_where_there_is_one(here: Town) -> None:
    queue = {
        "check_response_timeout_minutes": 60,
        "grouping_strategy": "ALLGREEN",
        "max_entries_to_build": 5,
        "max_entries_to_merge": 5,
        "merge_method": "MERGE",
        "min_entries_to_merge": 1,
        "min_entries_to_merge_wait_minutes": 5,
    }
    checkout = await here.clone()
    await here.pull(checkout)
    await rule(here, {"type": "merge_queue", "parameters": queue})

    merged = await here.ask("PUT", "pulls/1/merge")
    refused = await checkout.run("push", "origin", "HEAD:main", check=False)

    assert merged.status_code == 405
    assert "Changes must be made through the merge queue" in merged.json()["message"]
    assert "Changes must be made through the merge queue" in refused.stderr


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


async def test_a_repositorys_update_hook_refuses_one_ref(here: Town) -> None:
    put_hook(here.forge, "update", 'case "$1" in */no/*) echo never; exit 1;; esac')
    checkout = await here.clone()

    said = await push(checkout, "HEAD:no/way", "HEAD:work")
    atomic = await push(checkout, "--atomic", "HEAD:no/way", "HEAD:more")

    assert said == {"refs/heads/no/way": "!(hook declined)", "refs/heads/work": "*"}
    assert atomic == {
        "refs/heads/no/way": "!(hook declined)",
        "refs/heads/more": "!(atomic push failure)",
    }


async def test_a_pre_receive_hook_refuses_all_and_names_none(here: Town) -> None:
    hook = put_hook(here.forge, "pre-receive", "echo 'closed for today' >&2; exit 1")
    checkout = await here.clone()
    await rule(here, {"type": "creation"}, on=("refs/heads/kept/*",))

    said = await push(checkout, "HEAD:one", "HEAD:two", "HEAD:kept/x")
    hook.unlink()

    assert said == {
        "refs/heads/one": "!(pre-receive hook declined)",
        "refs/heads/two": "!(pre-receive hook declined)",
        "refs/heads/kept/x": f"!{RULES}",
    }
    assert await push(checkout, "HEAD:one") == {"refs/heads/one": "*"}


async def test_what_is_refused_leaves_nothing_behind(here: Town) -> None:
    checkout = await here.clone()
    await protect(here, required_pull_request_reviews={})
    sha = await checkout.commit("a.txt", "a")
    bare = here.forge.bare(here.forge.known("alice/app"))

    await push(checkout, "HEAD:main")

    bare.close()
    assert bare.kind(sha) is None
    assert not list(bare.path.glob("incoming-*"))


async def test_a_slow_push_does_not_hold_the_others_up(here: Town) -> None:
    host, port = here.url.removeprefix("http://").split(":")
    head = (
        f"POST /alice/app.git/git-receive-pack HTTP/1.1\r\nHost: {host}\r\n"
        f"Authorization: Bearer {here.tokens['bot']}\r\nContent-Length: 1000\r\n\r\n"
    )
    _, writer = await asyncio.open_connection(host, int(port))
    line = f"{'0' * 40} {'1' * 40} refs/heads/slow\0 report-status"
    writer.write(f"{head}{len(line) + 4:04x}{line}0000PACK".encode())
    await writer.drain()

    assert await push(await here.clone(), "HEAD:fast") == {"refs/heads/fast": "*"}

    writer.close()
    await writer.wait_closed()
