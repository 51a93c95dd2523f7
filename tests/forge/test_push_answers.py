"""Each ref of a push has its own answer, whoever refuses it."""

import asyncio
from pathlib import Path

from tests.forge.pushing import PROTECTED, RULES, push, tips
from tests.world.forge import Town
from tests.world.forge_rules import (
    protect,
    pull_request,
    put_hook,
    rule,
)


def bare_path(here: Town) -> Path:
    """Return where the repository is."""
    return here.forge.bare(here.forge.known("alice/app")).path


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
    refs = tips(here)
    assert refs["refs/heads/work"] == refs["refs/grite/wal"] == commit
    assert refs["refs/heads/main"] != commit


async def test_of_an_atomic_push_no_ref_moves_when_one_is_refused(here: Town) -> None:
    checkout = await here.clone()
    await protect(here, required_pull_request_reviews={})
    await checkout.commit("a.txt", "a")
    before = tips(here)

    said = await push(checkout, "--atomic", "HEAD:main", "HEAD:work")

    assert said == {
        "refs/heads/main": f"!{PROTECTED}",
        "refs/heads/work": "!(atomic push failure)",
    }
    assert tips(here) == before


async def test_a_repositorys_update_hook_refuses_one_ref(here: Town) -> None:
    put_hook(
        bare_path(here), "update", 'case "$1" in */no/*) echo never; exit 1;; esac'
    )
    checkout = await here.clone()

    said = await push(checkout, "HEAD:no/way", "HEAD:work")
    atomic = await push(checkout, "--atomic", "HEAD:no/way", "HEAD:more")

    assert said == {"refs/heads/no/way": "!(hook declined)", "refs/heads/work": "*"}
    assert atomic == {
        "refs/heads/no/way": "!(hook declined)",
        "refs/heads/more": "!(atomic push failure)",
    }


async def test_a_pre_receive_hook_refuses_all_and_names_none(here: Town) -> None:
    hook = put_hook(
        bare_path(here), "pre-receive", "echo 'closed for today' >&2; exit 1"
    )
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
