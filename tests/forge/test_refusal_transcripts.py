"""What git prints against the forge is what it prints against GitHub."""

import re
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from brat.forge.resources.account_resource import Access
from brat.forge.resources.repository_resource import PushLimits
from tests.world.forge import REPO, Checkout, Town
from tests.world.forge_rules import checks, protect, pull_request, rule

FOLDER = Path(__file__).with_name("transcripts")
TOKEN = "ghp_" + "A1b2" * 9
Play = Callable[[Town, Checkout], Awaitable[str]]
PLAYS: dict[str, Play] = {}


def play(of: str) -> Callable[[Play], Play]:
    """Let a function push what is refused in a transcript; it returns git's words."""

    def kept(function: Play) -> Play:
        PLAYS[of] = function
        return function

    return kept


async def pushed(checkout: Checkout, *refs: str) -> str:
    """Push, and return what git prints."""
    done = await checkout.run("push", "origin", *refs, check=False)
    return done.stderr


async def commit_and_push(checkout: Checkout, *refs: str) -> str:
    """Commit something, push it, and return what git prints."""
    await checkout.commit("a.txt", "a")
    return await pushed(checkout, *refs)


@play("ruleset-pull-request")
async def _(here: Town, checkout: Checkout) -> str:
    await rule(here, pull_request())
    return await commit_and_push(checkout, "main")


@play("ruleset-status-checks")
async def _(here: Town, checkout: Checkout) -> str:
    await rule(here, checks("one", "two"))
    return await commit_and_push(checkout, "HEAD:main")


@play("ruleset-signatures")
async def _(here: Town, checkout: Checkout) -> str:
    await rule(here, {"type": "required_signatures"})
    return await commit_and_push(checkout, "HEAD:main")


@play("ruleset-force-push")
async def _(here: Town, checkout: Checkout) -> str:
    await checkout.commit("a.txt", "a")
    await checkout.git("push", "--quiet", "origin", "main")
    await rule(here, {"type": "non_fast_forward"})
    return await pushed(checkout, "+main~1:main")


@play("ruleset-tag-update")
async def _(here: Town, checkout: Checkout) -> str:
    await checkout.git("push", "--quiet", "origin", "main:refs/tags/v1.2.0")
    await checkout.commit("a.txt", "a")
    await checkout.git("tag", "v1.2.0")
    await rule(here, {"type": "update"}, target="tag", on=("refs/tags/v*",))
    return await pushed(checkout, "+v1.2.0")


@play("ruleset-bypassed")
async def _(here: Town, checkout: Checkout) -> str:
    admins = [{"actor_type": "RepositoryRole", "actor_id": 5, "bypass_mode": "always"}]
    signed = {"type": "required_signatures"}
    await rule(here, signed, pull_request(), bypass_actors=admins)
    alice = await here.clone("alice")
    for number in range(7):
        await alice.commit("a.txt", str(number))
    return await pushed(alice, "main")


@play("ruleset-bypassed-deletion")
async def _(here: Town, checkout: Checkout) -> str:
    admins = [{"actor_type": "RepositoryRole", "actor_id": 5, "bypass_mode": "always"}]
    await checkout.git("push", "--quiet", "origin", "main:feat/auth")
    await rule(here, {"type": "deletion"}, on=("~ALL",), bypass_actors=admins)
    return await pushed(await here.clone("alice"), ":feat/auth")


@play("workflow-right")
async def _(here: Town, checkout: Checkout) -> str:
    job = await job_checkout(here, contents="write")
    await job.commit(".github/workflows/build.yml", "on: push\n")
    return await pushed(job, "HEAD:work")


@play("protection-pull-request")
async def _(here: Town, checkout: Checkout) -> str:
    await protect(here, required_pull_request_reviews={})
    return await commit_and_push(checkout, "HEAD:main")


@play("protection-force-push")
async def _(here: Town, checkout: Checkout) -> str:
    await checkout.commit("a.txt", "a")
    await checkout.git("push", "--quiet", "origin", "main")
    await protect(here)
    return await pushed(checkout, "+main~1:main")


@play("protection-beside-a-tag")
async def _(here: Town, checkout: Checkout) -> str:
    await protect(here, "CI Passed")
    await checkout.commit("a.txt", "a")
    await checkout.git("tag", "releases/9.0.0-alpha.0")
    return await pushed(checkout, "HEAD:main", "releases/9.0.0-alpha.0")


@play("secrets")
async def _(here: Town, checkout: Checkout) -> str:
    settings = here.forge.known(REPO).settings
    here.forge.set_settings(REPO, replace(settings, secret_push_protection=True))
    await checkout.commit("src/api/github.ts", f"\n\nkey = '{TOKEN}'\n")
    return await pushed(checkout, "main")


@play("large-file")
async def _(here: Town, checkout: Checkout) -> str:
    limit(here, file_bytes=1 << 20)
    await checkout.commit("large.zip", "x" * (1 << 21))
    return await pushed(checkout, "main")


@play("large-push")
async def _(here: Town, checkout: Checkout) -> str:
    limit(here, pack_bytes=200)
    return await commit_and_push(checkout, "main")


@play("default-branch-deletion")
async def _(here: Town, checkout: Checkout) -> str:
    return await pushed(checkout, ":main")


@play("hidden-ref")
async def _(here: Town, checkout: Checkout) -> str:
    return await pushed(checkout, "HEAD:refs/pull/265/head")


def limit(here: Town, **limits: int) -> None:
    """Let a repository take less than GitHub would."""
    settings = here.forge.known(REPO).settings
    here.forge.set_settings(REPO, replace(settings, limits=PushLimits(**limits)))


async def job_checkout(here: Town, **permissions: str) -> Checkout:
    """Clone with a token that has only these permissions."""
    who = here.forge.user("brat[bot]")
    assert who is not None
    access = Access(
        repos=(here.forge.known(REPO).id,),
        permissions=tuple(permissions.items()),
        expires_at="2999-01-01T00:00:00Z",
    )
    here.tokens["job"] = here.forge.keys.add(who, access=access)
    return await here.clone("job")


@pytest.mark.parametrize("name", sorted(PLAYS))
async def test_git_prints_what_it_prints_against_github(here: Town, name: str) -> None:
    transcript = (FOLDER / f"{name}.txt").read_text()

    said = await PLAYS[name](here, await here.clone())

    assert plain(said, name) == plain(transcript, name)


def test_every_transcript_is_played() -> None:
    there = {path.stem for path in FOLDER.glob("*.txt") if "until" not in path.stem}

    assert there == PLAYS.keys()


def plain(text: str, name: str) -> list[str]:
    """Return the lines that say what was refused, without names and commits."""
    found = [
        _anonymous(line.rstrip())
        for line in text.splitlines()
        if re.match(r"remote:|error: remote| [!*-] ", line)
    ]
    if name == "protection-beside-a-tag":
        return sorted(line for line in found if line != "remote:")
    return found


def _anonymous(line: str) -> str:
    for pattern, word in (
        (r"\b[0-9a-f]{64}\b", "TRACE"),
        (r"\b[0-9a-f]{40}\b", "COMMIT"),
        (r"https?://[\w.:]+/[\w.-]+/[\w.-]+(?=/rules|/security)", "PAGE"),
        (r"(?<=unblock-secret/)\w+", "SECRET"),
        (r"refs(/|%2F)(heads|tags|pull)(/|%2F)[^\s:)]*[^\s:.)]", "REF"),
        (r"(?<=[\]] ).*(?= \()", "REFS"),
        (r"(?<=\[new tag\]).*|(?<=\[deleted\]).*", " REFS"),
        (r"`[^`]*\.yml`", "`FILE`"),
        (r"File \S+ is \S+ MB", "File FILE is SIZE MB"),
        (r"limit of \S+ MB", "limit of SIZE MB"),
        (r"maximum allowed size \(.*\)", "maximum allowed size (SIZE)"),
        (r"path: \S+:\d+", "path: FILE"),
    ):
        line = re.sub(pattern, word, line)
    return line
