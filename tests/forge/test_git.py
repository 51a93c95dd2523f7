import asyncio
from itertools import product
from pathlib import Path

import pytest

from grite.errors import GitFailed
from tests.world.forge import REPO, Checkout, Town


async def test_who_may_not_push_can_still_fetch(here: Town) -> None:
    for by in ("carol", "mallory", "reader"):
        checkout = await here.clone(by)
        await checkout.commit("a.txt", "a")

        with pytest.raises(GitFailed, match="403"):
            await checkout.git("push", "origin", "main")


async def test_by_another_name_the_forge_answers_nothing(here: Town) -> None:
    for path in ("/api/v3/repos/alice/hello", "/alice/hello.git/info/refs", "/x"):
        shown = {"Host": "evil.example"}
        answer = await here.client.get(f"{here.url}{path}", headers=shown)
        assert answer.status_code == 421


async def test_git_without_a_token_is_asked_for_one_and_what_is_no_push_is_refused(
    here: Town, tmp_path: Path
) -> None:
    nobody = Checkout(tmp_path / "nobody", "brat_1_wrong")

    with pytest.raises(GitFailed, match="could not read Username"):
        await nobody.git("ls-remote", here.remote)
    answer = await here.client.get(f"{here.remote}/info/refs?service=git-upload-pack")
    assert answer.status_code == 401
    assert answer.headers["WWW-Authenticate"].startswith("Basic")

    known = {"Authorization": f"Bearer {here.tokens['bot']}"}
    push, refs = (f"{here.remote}/{each}" for each in ("git-receive-pack", "info/refs"))
    no_push = await here.client.post(push, content=b"hello", headers=known)
    old_protocol = await here.client.get(refs, headers=known)
    assert (no_push.status_code, old_protocol.status_code) == (400, 403)


async def test_refs_are_listed_as_git_lists_them(here: Town) -> None:
    checkout = await here.clone()
    await checkout.commit("a.txt", "a")
    pushed = ("main", "main:refs/heads/other", "main:refs/brat/x")
    await checkout.git("push", "--quiet", "origin", *pushed)
    bare = here.forge.bare(here.forge.known(REPO)).path
    asked = [[], ["refs/brat/*"], ["HEAD"], ["no-such"]]

    for tag in ("v1", "v2"):
        for option, names in product(("--symref", "--tags", "--quiet"), asked):
            ours, gits = [
                await checkout.git("ls-remote", option, where, *names)
                for where in (here.remote, str(bare))
            ]
            assert ours == gits, (option, names)
        await checkout.git("tag", "-m", "One", tag)
        await checkout.git("push", "--quiet", "origin", tag)


async def test_a_push_that_breaks_off_moves_nothing(here: Town) -> None:
    checkout = await here.clone()
    old = await checkout.git("rev-parse", "HEAD")
    line = f"{old} {'1' * 40} refs/heads/main\0 report-status"
    start = f"{len(line) + 4:04x}{line}0000PACK".encode()
    host, port = here.url.removeprefix("http://").split(":")
    head = (
        f"POST /alice/app.git/git-receive-pack HTTP/1.1\r\nHost: {host}\r\n"
        f"Authorization: Bearer {here.tokens['bot']}\r\nContent-Length: 100000\r\n\r\n"
    )
    _, writer = await asyncio.open_connection(host, int(port))
    writer.write(head.encode() + start)
    await writer.drain()
    writer.close()
    await writer.wait_closed()

    await checkout.commit("a.txt", "a")
    await checkout.git("push", "--quiet", "origin", "main")  # the lock is free again

    assert await here.get("branches/main")


# --- pull requests, which git's moves merge and close ---------------------------------


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


async def test_what_moves_or_goes_with_its_base_closes_merged_or_not(
    here: Town,
) -> None:
    checkout = await here.clone()
    left, landed = [await here.pull(checkout, branch) for branch in ("work", "again")]
    tip = await checkout.git("rev-parse", "again")

    await checkout.git("push", "--quiet", "--force", "origin", "origin/main:work")
    await checkout.git("push", "--atomic", "origin", "again:main", ":again")

    for pull, merged, commit in ((left, False, None), (landed, True, tip)):
        found = await here.get(f"pulls/{pull['number']}")
        assert (found["state"], found["merged"]) == ("closed", merged)
        assert found["merge_commit_sha"] == commit
