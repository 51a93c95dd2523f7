"""A pull request is merged exactly when its base comes to contain its head."""

import asyncio
from typing import Any

import pytest

from tests.world.forge import Checkout, Town


async def landed(here: Town, pull: dict[str, Any]) -> tuple[str, bool, str | None]:
    """Return what became of a pull request."""
    found = await here.get(f"pulls/{pull['number']}")
    return found["state"], found["merged"], found["merge_commit_sha"]


async def advance_main(here: Town) -> None:
    """Let main move on, so that nothing is a fast-forward any more."""
    other = await here.clone("alice")
    await other.commit("other.txt", "other")
    await other.git("push", "--quiet", "origin", "main")


async def test_a_merge_commit_that_is_pushed_merges(here: Town) -> None:
    checkout = await here.clone()
    pull = await here.pull(checkout)
    await advance_main(here)
    await checkout.git("fetch", "--quiet")
    await checkout.git("switch", "--quiet", "--detach", "origin/main")
    await checkout.git("merge", "--quiet", "--no-edit", "work")
    tip = await checkout.git("rev-parse", "HEAD")

    await checkout.git("push", "--quiet", "origin", "HEAD:main")

    assert await landed(here, pull) == ("closed", True, tip)


@pytest.mark.parametrize("strategy", ["squash", "rebase"])
@pytest.mark.parametrize("atomic", [True, False])
async def test_a_head_that_moves_to_the_landing_commit_merges(
    here: Town, strategy: str, *, atomic: bool
) -> None:
    checkout = await here.clone()
    pull = await here.pull(checkout)
    await advance_main(here)
    await checkout.git("fetch", "--quiet")
    await build(checkout, strategy)
    tip = await checkout.git("rev-parse", "HEAD")

    if atomic:
        await checkout.git("push", "--atomic", "origin", "+HEAD:work", "HEAD:main")
    else:
        await checkout.git("push", "--quiet", "origin", "+HEAD:work")
        assert await landed(here, pull) == ("open", False, None)
        await checkout.git("push", "--quiet", "origin", "HEAD:main")

    assert await landed(here, pull) == ("closed", True, tip)


async def build(checkout: Checkout, strategy: str) -> None:
    """Build the landing commit on main's tip."""
    await checkout.git("switch", "--quiet", "--detach", "origin/main")
    if strategy == "rebase":
        await checkout.git("cherry-pick", "work")
    else:
        await checkout.git("merge", "--quiet", "--squash", "work")
        await checkout.git("commit", "--quiet", "-m", "Squashed")


async def test_a_squash_without_moving_the_head_does_not_merge(here: Town) -> None:
    checkout = await here.clone()
    pull = await here.pull(checkout)
    await advance_main(here)
    await checkout.git("fetch", "--quiet")
    await build(checkout, "squash")

    await checkout.git("push", "--quiet", "origin", "HEAD:main")

    assert await landed(here, pull) == ("open", False, None)


async def test_a_head_moved_back_onto_its_base_closes_unmerged(here: Town) -> None:
    checkout = await here.clone()
    pull = await here.pull(checkout)

    await checkout.git("push", "--quiet", "--force", "origin", "origin/main:work")

    assert await landed(here, pull) == ("closed", False, None)


async def test_a_branch_deleted_as_it_lands_is_merged(here: Town) -> None:
    checkout = await here.clone()
    pull = await here.pull(checkout)
    tip = await checkout.git("rev-parse", "work")

    await checkout.git("push", "--atomic", "origin", "work:main", ":work")

    assert await landed(here, pull) == ("closed", True, tip)


@pytest.mark.parametrize("method", ["merge", "squash", "rebase"])
async def test_the_button_merges(here: Town, method: str) -> None:
    checkout = await here.clone()
    pull = await here.pull(checkout)
    await advance_main(here)
    asked = {"sha": pull["head"]["sha"], "merge_method": method}

    done = await here.ask("PUT", "pulls/1/merge", asked)
    await checkout.git("fetch", "--quiet")

    tip = await checkout.git("rev-parse", "origin/main")
    parents = (await checkout.git("log", "-1", "--format=%P", tip)).split()
    said = await checkout.git("log", "-1", "--format=%s", tip)
    assert (done.status_code, done.json()["sha"]) == (200, tip)
    assert await landed(here, pull) == ("closed", True, tip)
    assert len(parents) == (2 if method == "merge" else 1)
    assert (
        said
        == {
            "merge": "Merge pull request #1 from alice/work",
            "squash": "Do work (#1)",
            "rebase": "Write work.txt",
        }[method]
    )
    assert await checkout.git("cat-file", "-p", f"{tip}:other.txt") == "other"


@pytest.mark.parametrize("by", ["button", "push"])
async def test_what_is_merged_still_shows_what_it_brought(here: Town, by: str) -> None:
    checkout = await here.clone()
    pull = await here.pull(checkout)
    path = f"pulls/{pull['number']}"
    before = await here.get(path)

    if by == "button":
        await here.ask("PUT", f"{path}/merge", {})
    else:
        await checkout.git("push", "--quiet", "origin", "work:main")

    after = await here.get(path)
    counts = ("commits", "additions", "deletions", "changed_files")
    assert after["merged"] is True
    assert [after[each] for each in counts] == [before[each] for each in counts]
    assert after["base"]["sha"] == before["base"]["sha"]


async def test_a_merge_says_what_it_is_told(here: Town) -> None:
    checkout = await here.clone()
    await here.pull(checkout)
    asked = {
        "merge_method": "squash",
        "commit_title": "Land",
        "commit_message": "Because.",
    }

    await here.ask("PUT", "pulls/1/merge", asked)
    await checkout.git("fetch", "--quiet")

    said = await checkout.git("log", "-1", "--format=%B", "origin/main")
    assert said == "Land\n\nBecause."


async def test_a_head_that_moved_is_a_conflict_of_409(here: Town) -> None:
    await here.pull(await here.clone())

    answer = await here.ask("PUT", "pulls/1/merge", {"sha": "0" * 40})

    assert answer.status_code == 409


async def test_what_conflicts_cannot_be_merged(here: Town) -> None:
    checkout = await here.clone()
    await here.pull(checkout)
    other = await here.clone("alice")
    await other.commit("work.txt", "something else")
    await other.git("push", "--quiet", "origin", "main")

    pull = await here.get("pulls/1")
    statuses = [
        (await here.ask("PUT", "pulls/1/merge", {"merge_method": method})).status_code
        for method in ("merge", "squash", "rebase")
    ]

    assert (pull["mergeable"], pull["mergeable_state"]) == (False, "dirty")
    assert statuses == [405, 405, 405]


async def test_what_is_merged_closed_or_a_draft_cannot_be_merged(here: Town) -> None:
    checkout = await here.clone()
    await here.pull(checkout, "one")
    await here.pull(checkout, "two")
    await here.ask("PUT", "pulls/1/merge")
    await here.ask("PATCH", "pulls/2", {"state": "closed"})
    body = {"title": "x", "head": "two", "base": "main", "draft": True}
    await here.post("pulls", body)

    for number in (1, 2, 3):
        answer = await here.ask("PUT", f"pulls/{number}/merge")
        assert answer.status_code == 405
    assert (await here.get("pulls/3"))["mergeable_state"] == "draft"


async def test_of_two_merges_at_once_one_wins(here: Town) -> None:
    await here.pull(await here.clone())

    async with asyncio.TaskGroup() as tasks:
        asked = [tasks.create_task(here.ask("PUT", "pulls/1/merge")) for _ in range(2)]

    assert sorted(each.result().status_code for each in asked) == [200, 405]
