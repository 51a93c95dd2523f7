"""Pushes that the forge refuses, by the name of the transcript that shows the like."""

from collections.abc import Awaitable, Callable
from typing import Any

from brat.forge.resources.forge_records import Access
from grite.git import Completed
from tests.world.forge import REPO, Checkout, Town
from tests.world.forge_rules import checks, protect, pull_request, rule
from tests.world.github_forge.rules.rule_bindings import PushLimits, rules_in

TOKEN = "ghp_" + "A1b2" * 9
Play = Callable[[Town, Checkout], Awaitable[Completed]]
PLAYS: dict[str, Play] = {}


def play(of: str) -> Callable[[Play], Play]:
    """Let a function push what is refused in a transcript; it returns git's answer."""

    def kept(function: Play) -> Play:
        PLAYS[of] = function
        return function

    return kept


async def pushed(checkout: Checkout, *refs: str) -> Completed:
    """Push, and return how git ended."""
    return await checkout.run("push", "--porcelain", "origin", *refs, check=False)


async def commit_and_push(checkout: Checkout, *refs: str) -> Completed:
    """Commit something, push it, and return how git ended."""
    await checkout.commit("a.txt", "a")
    return await pushed(checkout, *refs)


@play("ruleset-pull-request")
async def _(here: Town, checkout: Checkout) -> Completed:
    await rule(here, pull_request())
    return await commit_and_push(checkout, "main")


@play("ruleset-status-checks")
async def _(here: Town, checkout: Checkout) -> Completed:
    await rule(here, checks("one", "two"))
    return await commit_and_push(checkout, "HEAD:main")


@play("ruleset-signatures")
async def _(here: Town, checkout: Checkout) -> Completed:
    await rule(here, {"type": "required_signatures"})
    return await commit_and_push(checkout, "HEAD:main")


@play("ruleset-force-push")
async def _(here: Town, checkout: Checkout) -> Completed:
    await checkout.commit("a.txt", "a")
    await checkout.git("push", "--quiet", "origin", "main")
    await rule(here, {"type": "non_fast_forward"})
    return await pushed(checkout, "+main~1:main")


@play("ruleset-tag-update")
async def _(here: Town, checkout: Checkout) -> Completed:
    await checkout.git("push", "--quiet", "origin", "main:refs/tags/v1.2.0")
    await checkout.commit("a.txt", "a")
    await checkout.git("tag", "v1.2.0")
    await rule(here, {"type": "update"}, target="tag", on=("refs/tags/v*",))
    return await pushed(checkout, "+v1.2.0")


@play("ruleset-bypassed")
async def _(here: Town, checkout: Checkout) -> Completed:
    admins = [{"actor_type": "RepositoryRole", "actor_id": 5, "bypass_mode": "always"}]
    signed = {"type": "required_signatures"}
    await rule(here, signed, pull_request(), bypass_actors=admins)
    alice = await here.clone("alice")
    for number in range(7):
        await alice.commit("a.txt", str(number))
    return await pushed(alice, "main")


@play("ruleset-bypassed-deletion")
async def _(here: Town, checkout: Checkout) -> Completed:
    admins = [{"actor_type": "RepositoryRole", "actor_id": 5, "bypass_mode": "always"}]
    await checkout.git("push", "--quiet", "origin", "main:feat/auth")
    await rule(here, {"type": "deletion"}, on=("~ALL",), bypass_actors=admins)
    return await pushed(await here.clone("alice"), ":feat/auth")


@play("workflow-right")
async def _(here: Town, checkout: Checkout) -> Completed:
    job = await job_checkout(here, contents="write")
    await job.commit(".github/workflows/build.yml", "on: push\n")
    return await pushed(job, "HEAD:work")


@play("protection-pull-request")
async def _(here: Town, checkout: Checkout) -> Completed:
    await protect(here, required_pull_request_reviews={})
    return await commit_and_push(checkout, "HEAD:main")


@play("protection-force-push")
async def _(here: Town, checkout: Checkout) -> Completed:
    await checkout.commit("a.txt", "a")
    await checkout.git("push", "--quiet", "origin", "main")
    await protect(here)
    return await pushed(checkout, "+main~1:main")


@play("protection-beside-a-tag")
async def _(here: Town, checkout: Checkout) -> Completed:
    await protect(here, "CI Passed")
    await checkout.commit("a.txt", "a")
    await checkout.git("tag", "releases/9.0.0-alpha.0")
    return await pushed(checkout, "HEAD:main", "releases/9.0.0-alpha.0")


@play("secrets")
async def _(here: Town, checkout: Checkout) -> Completed:
    limit(here, secrets=False)
    await checkout.commit("src/api/github.ts", f"\n\nkey = '{TOKEN}'\n")
    return await pushed(checkout, "main")


@play("large-file")
async def _(here: Town, checkout: Checkout) -> Completed:
    limit(here, file_bytes=1 << 20)
    await checkout.commit("large.zip", "x" * (1 << 21))
    return await pushed(checkout, "main")


@play("large-push")
async def _(here: Town, checkout: Checkout) -> Completed:
    limit(here, pack_bytes=200)
    return await commit_and_push(checkout, "main")


@play("default-branch-deletion")
async def _(here: Town, checkout: Checkout) -> Completed:
    return await pushed(checkout, ":main")


@play("hidden-ref")
async def _(here: Town, checkout: Checkout) -> Completed:
    return await pushed(checkout, "HEAD:refs/pull/265/head")


def limit(here: Town, **given: Any) -> None:  # noqa: ANN401  its fields
    """Let a repository take less than GitHub would."""
    limits = PushLimits(id=here.forge.known(REPO).id, **given)
    rules_in(here.forge.store).set_limits(limits)


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
