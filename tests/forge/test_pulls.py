from typing import Any

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
