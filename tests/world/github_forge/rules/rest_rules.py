"""REST: rulesets, the rules that bind a branch, and its own protection.

https://docs.github.com/rest/repos/rules
https://docs.github.com/rest/branches/branch-protection
"""

from typing import Literal

from msgspec import Struct

from brat.forge.resources.wire import Refused, not_found
from brat.forge.rest import rest_repositories
from brat.forge.rest.rest_call import Answer, Call, Route
from tests.world.github_forge.rules import rule_resources
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
    Ruleset,
)
from tests.world.github_forge.rules.rule_types import Rule


class NewRuleset(Struct, forbid_unknown_fields=True):
    name: str
    enforcement: Literal["active"]
    conditions: Conditions
    target: Literal["branch"] = "branch"
    rules: tuple[Rule, ...] = ()
    bypass_actors: tuple[BypassActor, ...] = ()

    def made(self, number: int, repo: int, now: str) -> Ruleset:
        return Ruleset(
            id=number,
            repo=repo,
            name=self.name,
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
    face = rule_resources.ruleset(call.repo, one, bypass)
    if who.role != "admin":
        del face["bypass_actors"]  # GitHub shows them to whoever may change them
    return Answer(face, status)


async def create_ruleset(call: Call) -> Answer:
    asked, now = call.body(NewRuleset), call.service.forge.now()
    with call.store.change():
        one = asked.made(call.store.next_id(), call.repo.id, now)
        rules_in(call.store).rulesets.put(one)
    return _shown(call, one, 201)


async def get_ruleset(call: Call) -> Answer:
    return _shown(call, _of(call))


async def list_branch_rules(call: Call) -> Answer:
    ref = f"refs/heads/{call.word('branch')}"
    found = [
        rule_resources.binding_rule(call.repo, one, rule)
        for one in rulesets_on(call.service.forge, call.repo, ref)
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


async def get_branch(call: Call) -> Answer:
    name, forge = call.word("branch"), call.service.forge
    tip = call.bare.tip(name)
    if tip is None:
        raise Refused(404, "Branch not found")
    told = {
        "name": name,
        "commit": {"sha": tip},
        "protected": is_protected(forge, call.repo, name),
        "protection": rule_resources.branch_protection(
            protection_of(forge, call.repo, name)
        ),
    }
    return Answer(told)


PROTECTION_ROUTES = (Route("GET", rest_repositories.BRANCH, get_branch),)
