"""REST: rulesets, the rules that bind a branch, and whether any does.

https://docs.github.com/rest/repos/rules
https://docs.github.com/rest/branches/branch-protection
"""

from brat.forge.rest import rest_repositories
from brat.forge.rest.rest_call import Answer, Call, Route
from tests.world.github_forge.rules.rule_bindings import (
    HEADS,
    binding,
    can_bypass,
    rules_in,
    rulesets_on,
)


async def get_ruleset(call: Call) -> Answer:
    one = call.own(rules_in(call.store).rulesets, "id")
    may = can_bypass(call.service.forge, call.repo, one, call.user)
    return Answer({"id": one.id, "current_user_can_bypass": may})


async def list_branch_rules(call: Call) -> Answer:
    ref = HEADS + call.word("branch")
    found = [
        {**rule, "ruleset_id": one.id}
        for one in rulesets_on(call.service.forge, call.repo, ref)
        for rule in one.rules
    ]
    return call.page(found, lambda one: one)


async def get_branch(call: Call) -> Answer:
    answer = await rest_repositories.get_branch(call)
    ref = HEADS + call.word("branch")
    held = binding(call.service.forge, call.repo, ref, call.user)
    return Answer(answer.body | {"protected": bool(held)})


ROUTES = (
    Route("GET", rest_repositories.BRANCH, get_branch),
    Route("GET", r"/repos/{owner}/{repo}/rulesets/{id:\d+}", get_ruleset),
    Route("GET", rest_repositories.BRANCH_RULES, list_branch_rules),
)
