"""Rules hold for refs moved by REST and for merges, too."""

import pytest

from tests.forge.pushing import green
from tests.world.forge import Town
from tests.world.forge_rules import checks, merge_queue, pull_request, rule

pytestmark = pytest.mark.layer("landing")


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


async def test_the_queue_is_the_only_way_where_there_is_one(here: Town) -> None:
    checkout = await here.clone()
    await here.pull(checkout)
    await rule(here, merge_queue())

    merged = await here.ask("PUT", "pulls/1/merge")
    refused = await checkout.run("push", "origin", "HEAD:main", check=False)

    assert merged.status_code == 405
    assert "Changes must be made through the merge queue" in merged.json()["message"]
    assert "Changes must be made through the merge queue" in refused.stderr
