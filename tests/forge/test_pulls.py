from typing import Any

import pytest

from tests.world.forge import Checkout, Town


async def test_a_pull_request_that_cannot_be_is_refused(here: Town) -> None:
    checkout = await here.clone()
    await here.pull(checkout)
    await checkout.git("switch", "--quiet", "--orphan", "alone")
    await checkout.commit("a.txt", "a")
    await checkout.git("push", "--quiet", "origin", "alone")

    for head, base, said in (
        ("nothing", "main", "invalid"),
        ("work", "nothing", "invalid"),
        ("mallory:work", "main", "invalid"),
        ("main", "main", "No commits between main and main"),
        ("work", "main", "A pull request already exists for alice:work."),
        ("alone", "main", "no history in common"),
    ):
        body = {"title": "x", "head": head, "base": base}
        answer = await here.ask("POST", "pulls", body)
        assert answer.status_code == 422, head
        (error,) = answer.json()["errors"]
        assert said in f"{error['code']} {error.get('message')}"


# --- a pull request is merged exactly when its base comes to contain its head ---------


async def landed(here: Town, pull: dict[str, Any]) -> tuple[str, bool, str | None]:
    found = await here.get(f"pulls/{pull['number']}")
    return found["state"], found["merged"], found["merge_commit_sha"]


async def pulled(here: Town) -> tuple[Checkout, dict[str, Any]]:
    checkout = await here.clone()
    return checkout, await here.pull(checkout)


async def advance_main(here: Town, checkout: Checkout) -> None:
    """Let main move on, so that nothing is a fast-forward any more."""
    other = await here.clone("alice")
    await other.commit("other.txt", "other")
    await other.git("push", "--quiet", "origin", "main")
    await checkout.git("fetch", "--quiet")


@pytest.mark.parametrize("strategy", ["squash", "rebase"])
@pytest.mark.parametrize("atomic", [True, False])
async def test_a_head_that_moves_to_the_landing_commit_merges(
    here: Town, strategy: str, *, atomic: bool
) -> None:
    checkout, pull = await pulled(here)
    await advance_main(here, checkout)
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
    await checkout.git("switch", "--quiet", "--detach", "origin/main")
    if strategy == "rebase":
        await checkout.git("cherry-pick", "work")
    else:
        await checkout.git("merge", "--quiet", "--squash", "work")
        await checkout.git("commit", "--quiet", "-m", "Squashed")


async def test_what_moves_or_goes_with_its_base_closes_merged_or_not(
    here: Town,
) -> None:
    checkout, pull = await pulled(here)
    await checkout.git("push", "--quiet", "--force", "origin", "origin/main:work")
    assert await landed(here, pull) == ("closed", False, None)

    again = await here.pull(checkout, "again")
    tip = await checkout.git("rev-parse", "again")
    await checkout.git("push", "--atomic", "origin", "again:main", ":again")
    assert await landed(here, again) == ("closed", True, tip)
