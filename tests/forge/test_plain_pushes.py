"""Pushes to the forge without rules, as it is in local mode: git alone judges them."""

from pathlib import Path

import httpx
import pytest

from brat.forge import Forge, serving
from tests.world.forge import DEADLINE_S, REPO, Checkout, Town, settle_in

MAIN = "refs/heads/main"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("HEAD:work", "HEAD:other"), ""),
        (("--force", "HEAD~1:main"), ""),
        (("--atomic", "HEAD:refs/x/y", ":refs/heads/old"), ""),
        ((":main",), "deletion of the current branch prohibited"),
        (("HEAD:refs/pull/1/head",), "deny updating a hidden ref"),
        (("HEAD~1:main",), "non-fast-forward"),
    ],
)
async def test_a_ref_moves_where_git_lets_it(
    tmp_path: Path, source: Path, words: tuple[str, ...], said: str
) -> None:
    with Forge(tmp_path / "forge") as forge:
        tokens = settle_in(forge, source)
        async with serving(forge) as url, httpx.AsyncClient(timeout=DEADLINE_S) as http:
            here = Town(forge, url, tokens, http, tmp_path)
            checkout = await here.clone()
            sha = await checkout.commit("a.txt", "a")
            await checkout.git("push", "--quiet", "origin", "HEAD", "HEAD:old")
            before = refs(here)

            done = await checkout.run("push", "origin", *words, check=False)

            assert (done.status == 0) == (not said)
            assert said in done.stderr
            assert (refs(here) == before) == bool(said)
            assert before[MAIN] == sha


async def test_a_pull_request_is_merged_by_the_push_that_brings_it(
    tmp_path: Path, source: Path
) -> None:
    with Forge(tmp_path / "forge") as forge:
        tokens = settle_in(forge, source)
        async with serving(forge) as url, httpx.AsyncClient(timeout=DEADLINE_S) as http:
            here = Town(forge, url, tokens, http, tmp_path)
            checkout: Checkout = await here.clone()
            pull = await here.pull(checkout)
            await checkout.git("push", "--quiet", "origin", "HEAD:main")
            nothing = await http.post(
                f"{url}/{REPO}.git/git-receive-pack",
                content=b"0009zz",
                auth=("x-access-token", tokens["bot"]),
            )

            seen = await here.get(f"pulls/{pull['number']}")
            assert (seen["merged"], seen["state"]) == (True, "closed")
            assert nothing.status_code == 400


def refs(here: Town) -> dict[str, str]:
    bare = here.forge.bare(here.forge.known(REPO))
    return bare.refs()
