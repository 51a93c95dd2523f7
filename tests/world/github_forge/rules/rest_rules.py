"""REST: rulesets, the rules that bind a branch, and its own protection.

https://docs.github.com/rest/repos/rules
https://docs.github.com/rest/branches/branch-protection
"""

from msgspec import Struct

from brat.forge.resources.wire import Refused, fault, not_found
from brat.forge.rest import rest_repositories
from brat.forge.rest.rest_call import Answer, Call, Route
from tests.world.github_forge import shapes
from tests.world.github_forge.rules import rule_resources
from tests.world.github_forge.rules.push_rules import not_held
from tests.world.github_forge.rules.rule_bindings import (
    can_bypass,
    is_protected,
    mover,
    protection_of,
    rules_in,
    rulesets_on,
)
from tests.world.github_forge.rules.rule_resources import (
    BypassActor,
    Conditions,
    Enforcement,
    Protection,
    Ruleset,
    Target,
    Wanted,
)
from tests.world.github_forge.rules.rule_types import RulesetRule

_WITH_NUMBER = frozenset({"Integration", "RepositoryRole", "User"})


class NewRuleset(Struct, forbid_unknown_fields=True):
    name: str
    enforcement: Enforcement
    target: Target = "branch"
    conditions: Conditions = Conditions()
    rules: tuple[RulesetRule, ...] = ()
    bypass_actors: tuple[BypassActor, ...] = ()

    def made(self, number: int, repo: int, now: str) -> Ruleset:
        return Ruleset(
            id=number,
            repo=repo,
            name=self.name,
            target=self.target,
            enforcement=self.enforcement,
            conditions=self.conditions,
            rules=self.rules,
            bypass_actors=self.bypass_actors,
            created_at=now,
            updated_at=now,
        )


def _of(call: Call) -> Ruleset:
    one = rules_in(call.store).rulesets.get(call.number("id"))
    if one is None or one.repo != call.repo.id:
        raise not_found()
    return one


def _shown(call: Call, one: Ruleset, status: int = 200) -> Answer:
    who = mover(call.service.forge, call.repo, call.user)
    bypass = can_bypass(one, who)
    face = rule_resources.ruleset(call.site, call.repo, one, bypass)
    if who.role != "admin":
        del face["bypass_actors"]  # GitHub shows them to whoever may change them
    return Answer(face, status)


def _checked(call: Call, one: Ruleset) -> Ruleset:
    """Check what types cannot say.

    Raises:
        Refused: 422.
    """
    unheld = not_held(one.rules)
    if unheld:
        raise fault("RepositoryRuleset", "rules", "invalid", unheld)
    for actor in one.bypass_actors:
        if actor.actor_type in _WITH_NUMBER and actor.actor_id is None:
            said = f"A bypass actor of the type {actor.actor_type} needs an actor_id."
            raise fault("RepositoryRuleset", "bypass_actors", "invalid", said)
    for other in rules_in(call.store).rulesets.of(one.repo):
        if other.id != one.id and other.name == one.name:
            raise Refused(422, "Validation Failed: Name must be unique")
    return one


async def create_ruleset(call: Call) -> Answer:
    asked, now = call.body(NewRuleset), call.service.forge.now()
    with call.store.change():
        one = asked.made(call.store.next_id(), call.repo.id, now)
        rules_in(call.store).rulesets.put(_checked(call, one))
    return _shown(call, one, 201)


async def get_ruleset(call: Call) -> Answer:
    return _shown(call, _of(call))


async def list_branch_rules(call: Call) -> Answer:
    ref = f"refs/heads/{call.word('branch')}"
    found = [
        rule_resources.binding_rule(call.repo, one, rule)
        for one in rulesets_on(call.service.forge, call.repo, ref)
        if one.target == "branch"
        for rule in one.rules
    ]
    return call.page(found, lambda one: one)


_REPO = "/repos/{owner}/{repo}"
_ONE = _REPO + r"/rulesets/{id:\d+}"
RULESET_ROUTES = (
    Route("POST", _REPO + "/rulesets", create_ruleset, "admin"),
    Route("GET", _ONE, get_ruleset),
    Route("GET", rest_repositories.BRANCH_RULES, list_branch_rules),
)


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


async def protect(call: Call) -> Answer:
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
    return Answer(rule_resources.protection(call.site, call.repo, one))


async def get_branch(call: Call) -> Answer:
    answer, name = await shapes.get_branch(call), call.word("branch")
    kept = protection_of(call.service.forge, call.repo, name)
    shown = {
        "protected": is_protected(call.service.forge, call.repo, name),
        "protection": rule_resources.branch_protection(kept),
    }
    return Answer(answer.body | shown)


_PROTECTION = "/repos/{owner}/{repo}/branches/{branch:.+}/protection"
PROTECTION_ROUTES = (
    Route("GET", rest_repositories.BRANCH, get_branch),
    Route("PUT", _PROTECTION, protect, "admin"),
)
