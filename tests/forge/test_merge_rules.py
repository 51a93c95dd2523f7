"""Rules hold for refs moved by REST and for merges, too."""

import pytest

from brat.forge import Settings
from brat.forge.resources.account_resource import Access
from tests.forge.pushing import green
from tests.world.forge import Json, Town
from tests.world.forge_rules import checks, merge_queue, protect, pull_request, rule
from tests.world.github_forge.rules.allowed_methods import UNSIGNED

pytestmark = pytest.mark.layer("landing")


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


async def test_what_is_behind_has_to_catch_up_where_the_rules_say_so(
    here: Town,
) -> None:
    await rule(here, checks("ci", strict=True))
    checkout = await here.clone()
    pull = await here.pull(checkout)
    await green(here, pull["head"]["sha"], "ci")
    fresh = await here.get("pulls/1")
    alice = await here.clone("alice")
    late = await alice.commit("other.txt", "other")
    await alice.git("push", "--quiet", "origin", "HEAD:other")
    await green(here, late, "ci")
    await alice.git("push", "--quiet", "origin", "HEAD:main")

    behind = await here.get("pulls/1")
    refused = await here.ask("PUT", "pulls/1/merge")
    await checkout.git("pull", "--quiet", "--no-edit", "--no-rebase", "origin", "main")
    await checkout.git("push", "--quiet", "origin", "work")
    await green(here, await checkout.git("rev-parse", "HEAD"), "ci")

    assert fresh["mergeable_state"] == "clean"
    assert behind["mergeable_state"] == "behind"
    assert 'Required status check "ci" is expected.' in refused.json()["message"]
    assert (await here.ask("PUT", "pulls/1/merge")).status_code == 200


MERGES = "Merge commits are not allowed on this repository."
REBASES = "Rebase merges are not allowed on this repository."


@pytest.mark.parametrize(
    ("rules", "method", "said"),
    [
        ([pull_request(allowed_merge_methods=["squash"])], "merge", MERGES),
        ([pull_request(allowed_merge_methods=["squash"])], "rebase", REBASES),
        ([{"type": "required_linear_history"}], "merge", MERGES),
        (
            [{"type": "required_signatures"}],
            "rebase",
            UNSIGNED,
        ),
    ],
)
async def test_a_method_that_the_rules_do_not_allow_is_refused(
    here: Town, rules: list[Json], method: str, said: str
) -> None:
    await rule(here, *rules)
    await here.pull(await here.clone())

    refused = await here.ask("PUT", "pulls/1/merge", {"merge_method": method})

    assert (refused.status_code, refused.json()["message"]) == (405, said)
    assert (await here.get("pulls/1"))["mergeable_state"] == "clean"
    squash = {"merge_method": "squash"}
    assert (await here.ask("PUT", "pulls/1/merge", squash)).status_code == 200


async def test_a_protected_branch_with_linear_history_takes_no_merge(
    here: Town,
) -> None:
    await protect(here, required_linear_history=True)
    await here.pull(await here.clone())

    refused = await here.ask("PUT", "pulls/1/merge")

    assert (refused.status_code, refused.json()["message"]) == (405, MERGES)


async def test_a_repository_says_how_it_may_be_merged(here: Town) -> None:
    here.forge.set_settings("alice/app", Settings(merge_methods=("squash",)))
    await here.pull(await here.clone())
    shown = await here.get("")

    refused = await here.ask("PUT", "pulls/1/merge", {"merge_method": "rebase"})

    ways = ("merge_commit", "squash_merge", "rebase_merge")
    assert [shown[f"allow_{way}"] for way in ways] == [False, True, False]
    assert (refused.status_code, refused.json()["message"]) == (405, REBASES)


async def test_what_the_forge_merged_counts_as_signed(here: Town) -> None:
    checkout = await here.clone()
    await checkout.git("push", "--quiet", "origin", "HEAD:side")
    await rule(here, {"type": "required_signatures"})
    await here.pull(checkout)
    await here.ask("PATCH", "pulls/1", {"base": "side"})
    squash = {"merge_method": "squash"}
    made = (await here.ask("PUT", "pulls/1/merge", squash)).json()["sha"]
    body = {"title": "Take the side", "head": "side", "base": "main"}
    await here.post("pulls", body)
    await checkout.git("fetch", "--quiet")

    pushed = await checkout.run("push", "origin", f"{made}:main", check=False)

    assert pushed.status == 0, pushed.stderr


async def test_unsigned_work_is_squashed_by_its_author_only(here: Town) -> None:
    await rule(here, {"type": "required_signatures"})
    await here.pull(await here.clone())
    squash = {"merge_method": "squash"}

    plain = await here.ask("PUT", "pulls/1/merge")
    other = await here.ask("PUT", "pulls/1/merge", squash, by="alice")

    assert plain.status_code == other.status_code == 405
    assert "Commits must have verified signatures." in other.json()["message"]
    assert (await here.ask("PUT", "pulls/1/merge", squash)).status_code == 200


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
    checkout = await here.clone()
    await here.pull(checkout)
    await rule(here, merge_queue())

    merged = await here.ask("PUT", "pulls/1/merge")
    refused = await checkout.run("push", "origin", "HEAD:main", check=False)

    assert merged.status_code == 405
    assert "Changes must be made through the merge queue" in merged.json()["message"]
    assert "Changes must be made through the merge queue" in refused.stderr


async def test_a_job_may_not_merge_or_move_what_changes_a_workflow(here: Town) -> None:
    checkout = await here.clone("alice")
    await checkout.git("switch", "--quiet", "-c", "work")
    sha = await checkout.commit(".github/workflows/ci.yml", "on: push\n")
    await checkout.git("push", "--quiet", "origin", "work")
    body = {"title": "CI", "head": "work", "base": "main"}
    await here.post("pulls", body, by="alice")
    bot = here.forge.user("brat[bot]")
    assert bot is not None
    rights = (("contents", "write"), ("pull_requests", "write"))
    access = Access(
        repos=(here.forge.known("alice/app").id,),
        permissions=rights,
        expires_at="2999-01-01T00:00:00Z",
    )
    here.tokens["job"] = here.forge.keys.add(bot, access=access)

    merged = await here.ask("PUT", "pulls/1/merge", by="job")
    moved = await here.ask("PATCH", "git/refs/heads/main", {"sha": sha}, by="job")

    assert merged.status_code == moved.status_code == 403
    assert (
        merged.json()["message"]
        == moved.json()["message"]
        == (
            "refusing to allow a GitHub App to create or update workflow "
            "`.github/workflows/ci.yml` without `workflows` permission"
        )
    )
    assert (await here.ask("PUT", "pulls/1/merge", by="alice")).status_code == 200
