"""REST: the protection of branches.

https://docs.github.com/rest/branches/branch-protection
"""

from msgspec.structs import replace

from brat.forge.resources.wire import Refused
from brat.forge.rest import rest_repositories
from brat.forge.rest.rest_call import Answer, Call, Route
from tests.world.github_forge.rules import protection_resource
from tests.world.github_forge.rules.protection_resource import Protection, Wanted
from tests.world.github_forge.rules.push_rules import not_held
from tests.world.github_forge.rules.rule_bindings import is_protected, protection_of
from tests.world.github_forge.rules.rule_tables import rules_in

_ORGANIZATIONS = "Only organization repositories can have users and team restrictions"
_CONVERSATIONS = (
    "This forge cannot ask for resolved conversations: please set that to false."
)


def _kept(call: Call) -> Protection:
    branch = call.word("branch")
    if call.bare.tip(branch) is None:
        raise Refused(404, "Branch not found")
    found = protection_of(call.service.forge, call.repo, branch)
    if found is None:
        raise Refused(404, "Branch not protected")
    return found


def _wanted(call: Call) -> Wanted:
    """Read what is wanted, and refuse what this forge could not hold.

    Raises:
        Refused: 422.
    """
    try:
        wanted = call.body(Wanted)
    except Refused as refused:
        said = " ".join(each.message for each in refused.faults)
        raise Refused(refused.status, f"Invalid request. {said}".strip()) from None
    if wanted.restrictions is not None:
        raise Refused(422, _ORGANIZATIONS)
    if wanted.required_conversation_resolution:
        raise Refused(422, _CONVERSATIONS)
    return wanted


async def get_protection(call: Call) -> Answer:
    """`GET branches/{branch}/protection`."""
    return Answer(protection_resource.protection(call.site, call.repo, _kept(call)))


async def protect(call: Call) -> Answer:
    """`PUT branches/{branch}/protection`: replaces what there is."""
    branch, wanted = call.word("branch"), _wanted(call)
    if call.bare.tip(branch) is None:
        raise Refused(404, "Branch not found")
    old = protection_of(call.service.forge, call.repo, branch)
    with call.store.change():
        one = Protection(
            id=old.id if old else call.store.next_id(),
            repo=call.repo.id,
            branch=branch,
            wanted=wanted,
            signatures=old is not None and old.signatures,
        )
        unheld = not_held(one.rules())
        if unheld:
            raise Refused(422, unheld)
        rules_in(call.store).protections.put(one)
    return Answer(protection_resource.protection(call.site, call.repo, one))


async def unprotect(call: Call) -> Answer:
    """`DELETE branches/{branch}/protection`."""
    with call.store.change():
        rules_in(call.store).protections.remove(_kept(call))
    return Answer(status=204)


def _signatures(call: Call, one: Protection) -> Answer:
    url = protection_resource.protection_url(call.site, call.repo, one.branch)
    return Answer({"url": f"{url}/required_signatures", "enabled": one.signatures})


async def get_signatures(call: Call) -> Answer:
    """`GET branches/{branch}/protection/required_signatures`."""
    return _signatures(call, _kept(call))


async def require_signatures(call: Call) -> Answer:
    """`POST branches/{branch}/protection/required_signatures`."""
    with call.store.change():
        one = rules_in(call.store).protections.put(
            replace(_kept(call), signatures=True)
        )
    return _signatures(call, one)


async def allow_unsigned(call: Call) -> Answer:
    """`DELETE branches/{branch}/protection/required_signatures`."""
    with call.store.change():
        rules_in(call.store).protections.put(replace(_kept(call), signatures=False))
    return Answer(status=204)


async def get_branch(call: Call) -> Answer:
    """`GET branches/{branch}`."""
    answer, name = await rest_repositories.get_branch(call), call.word("branch")
    kept = protection_of(call.service.forge, call.repo, name)
    shown = {
        "protected": is_protected(call.service.forge, call.repo, name),
        "protection": protection_resource.branch_protection(kept),
    }
    return Answer(answer.body | shown)


_ONE = "/repos/{owner}/{repo}/branches/{branch:.+}/protection"
_SIGNATURES = _ONE + "/required_signatures"
ROUTES = (
    Route("GET", rest_repositories.BRANCH, get_branch),
    Route("GET", _SIGNATURES, get_signatures, "admin"),
    Route("POST", _SIGNATURES, require_signatures, "admin"),
    Route("DELETE", _SIGNATURES, allow_unsigned, "admin"),
    Route("GET", _ONE, get_protection, "admin"),
    Route("PUT", _ONE, protect, "admin"),
    Route("DELETE", _ONE, unprotect, "admin"),
)
