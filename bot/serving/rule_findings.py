"""Checks how a repository's rules let the bot land, and push its own branches.

https://docs.github.com/rest/repos/rules#get-rules-for-a-branch
"""

from collections.abc import AsyncIterator, Sequence
from typing import Final

from bot.forge.branch_rules import MAY_PASS, BranchRules, Rule
from bot.forge.payloads import Repository
from bot.forge.rest import GraphQl, Rest
from bot.serving.examination_finding import Finding
from convoy.rules.target import landing_by
from convoy.views.reasons import unread_rules, way_of_landing

OWN_BRANCHES: Final = ("convoy/any/base", "brat/queue/any/any")
"""Names to ask the rules for; the branches need not exist."""
_AGAINST: Final = {
    "creation": "no new branches",
    "deletion": "no removal",
    "merge_queue": "a merge queue of the forge's",
    "non_fast_forward": "no forced pushes",
    "pull_request": "a pull request for each push",
    "required_deployments": "deployments first",
    "required_linear_history": "no merge commits",
    "required_signatures": "signed commits",
    "required_status_checks": "checks before the push",
    "update": "no pushes",
}
"""Rules that matter on the bot's own branches, which it creates, moves and deletes."""
_MEND: Final = (
    "except these branches from the ruleset, or add the App to its bypass list, under "
    "Settings, Rules"
)
_READ: Final = "see under Settings, Rules, what it asks for"
_BYPASS: Final = "(the bot may pass its rules by: [refinery] bypass = true lets it)"


async def examined(rest: Rest, api_url: str, name: str) -> AsyncIterator[Finding]:
    """Give the findings about the rules of the default branch and of the bot's own.

    Raises:
        BratError: the forge did not answer.
    """
    rules = BranchRules(rest, GraphQl(rest, api_url), name)
    main = (await rest.read(Repository, f"/repos/{name}")).default_branch
    yield await _landing(rules, name, main)
    for branch in OWN_BRANCHES:
        listed = await rules.listed(branch) or ()
        binding = [rule for rule in listed if rule.type in _AGAINST]
        if binding:
            yield await _judged(rules, name, branch, binding)
        else:
            yield Finding("ok", f"{name}: no rule keeps the bot from {branch}")


async def _landing(rules: BranchRules, name: str, main: str) -> Finding:
    """Return how convoys land on the default branch, in the words of their comment."""
    found = await rules.of(main)
    landing = landing_by(found, bypass=False)
    said = f"{name}: how a convoy lands: {way_of_landing(landing, main)}"
    if found.passes and landing.way != "push":
        said = f"{said} {_BYPASS}"
    if landing.unknown:
        return Finding("note", f"{said} {unread_rules(landing)}", _READ)
    if landing.way == "person":
        return Finding("note", said, _READ)
    return Finding("ok", said)


async def _judged(
    rules: BranchRules, name: str, branch: str, binding: Sequence[Rule]
) -> Finding:
    """Return the finding about a branch's rules, if the bot may not pass them by."""
    may = {rule.ruleset_id: await rules.bypass(rule.ruleset_id) for rule in binding}
    left = [rule for rule in binding if may[rule.ruleset_id] not in MAY_PASS]
    if not left:
        return Finding("ok", f"{name}: the bot may pass by the rules on {branch}")
    wanted = ", ".join(sorted({_AGAINST[rule.type] for rule in left}))
    is_sure = any(may[rule.ruleset_id] for rule in left)
    more = "" if is_sure else "; whether the bot may pass by is not shown"
    said = f"{name}: the rules on {branch} want {wanted}{more}"
    return Finding("fault" if is_sure else "note", said, _MEND)
