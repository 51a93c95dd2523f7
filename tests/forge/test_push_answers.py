"""Each ref of a push has its own answer, whoever refuses it."""

import asyncio
from pathlib import Path

from brat.forge import Forge
from grite import git
from tests.forge.pushing import PROTECTED, RULES, push, tips
from tests.world.forge import Town, settle_in, town
from tests.world.forge_rules import (
    protect,
    pull_request,
    put_hook,
    put_protection,
    put_ruleset,
    rule,
)
from tests.world.github_forge.rules.incoming_pack import incoming


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


async def test_what_is_refused_leaves_nothing_behind(here: Town) -> None:
    checkout = await here.clone()
    await protect(here, required_pull_request_reviews={})
    sha = await checkout.commit("a.txt", "a")
    bare = here.forge.bare(here.forge.known("alice/app"))

    await push(checkout, "HEAD:main")

    bare.close()
    assert bare.kind(sha) is None
    assert not list(bare.path.glob("incoming-*"))


async def test_rules_set_before_the_forge_is_served_hold(
    forge: Forge, source: Path, tmp_path: Path
) -> None:
    tokens = settle_in(forge, source)
    put_ruleset(forge, {"type": "creation"}, on=("refs/heads/brat/**/*",))
    put_protection(forge, required_pull_request_reviews={})
    async with town(forge, tokens, tmp_path) as here:
        checkout = await here.clone()
        await checkout.commit("a.txt", "a")

        said = await push(checkout, "HEAD:main", "HEAD:refs/heads/brat/queue/x")

    assert said == {
        "refs/heads/main": f"!{PROTECTED}",
        "refs/heads/brat/queue/x": f"!{RULES}",
    }


async def test_what_a_dead_forge_left_of_a_push_goes(
    forge: Forge, source: Path, tmp_path: Path
) -> None:
    tokens = settle_in(forge, source)
    left = incoming(forge.bare(forge.known("alice/app")))
    (left / "pack").write_bytes(b"PACK")

    async with town(forge, tokens, tmp_path):
        assert not left.exists()


async def test_a_push_without_what_it_stands_on_is_refused(here: Town) -> None:
    await rule(here, {"type": "required_linear_history"}, on=("~ALL",))
    checkout = await here.clone()
    await checkout.commit("a.txt", "a")
    tip = await checkout.commit("b.txt", "b")
    packed = await asyncio.to_thread(
        git.run,
        ["pack-objects", "--stdout", "-q"],
        cwd=checkout.folder,
        stdin=f"{tip}\n".encode(),
    )
    line = f"{'0' * 40} {tip} refs/heads/half\0 report-status"
    head = f"{len(line) + 4:04x}{line}0000".encode()

    answer = await here.client.post(
        f"{here.remote}/git-receive-pack",
        content=head + packed.stdout,
        headers={"Authorization": f"Bearer {here.tokens['bot']}"},
    )

    assert "ng refs/heads/half missing necessary objects" in answer.text
    assert "refs/heads/half" not in tips(here)


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
