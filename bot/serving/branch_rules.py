"""Checks whether a repository's rules let the bot push.

https://docs.github.com/rest/repos/rules#get-rules-for-a-branch
https://docs.github.com/rest/branches/branches#get-a-branch
"""

from collections.abc import AsyncIterator, Iterable
from http import HTTPStatus
from typing import Final
from urllib.parse import quote

from pydantic import BaseModel, ConfigDict

from bot.forge.payloads import Repository
from bot.forge.rest import Refused, Rest
from bot.serving.examination_finding import Finding

_ANYWHERE: Final = {
    "merge_queue": "a merge queue of the forge's",
    "pull_request": "a pull request for each push",
    "required_deployments": "deployments first",
    "required_linear_history": "no merge commits",
    "required_signatures": "signed commits",
    "update": "no pushes",
}
_OWN: Final = _ANYWHERE | {
    "creation": "no new branches",
    "deletion": "no removal",
    "non_fast_forward": "no forced pushes",
    "required_status_checks": "checks before the push",
}
"""Rules that matter on the bot's own branches, which it creates, moves and deletes."""
OWN_BRANCHES: Final = ("convoy/any/base", "brat/queue/any/any")
"""Names to ask the rules for; the branches need not exist."""
_MAY_PASS: Final = frozenset({"always", "exempt"})
_MEND: Final = "add the App to the ruleset's bypass list, under Settings, Rules"


class _Rule(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)

    type: str
    ruleset_id: int | None = None


class _Ruleset(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)

    current_user_can_bypass: str | None = None


class _Branch(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)

    protected: bool = False


async def examined(rest: Rest, name: str) -> AsyncIterator[Finding]:
    """Give the findings about rules that may keep the bot from pushing.

    Raises:
        BratError: the forge did not answer.
    """
    main = (await rest.read(Repository, f"/repos/{name}")).default_branch
    for branch in (main, *OWN_BRANCHES):
        known = _ANYWHERE if branch == main else _OWN
        rules = await _rules(rest, name, branch)
        binding = [rule for rule in rules if rule.type in known]
        if binding:
            yield await _judged(rest, name, branch, binding)
        elif branch == main and not rules and await _is_protected(rest, name, main):
            said = f"{name}: {main} is protected, and how is for its admins to see"
            mend = "let the App push there, under Settings, Branches"
            yield Finding("note", said, mend)
        else:
            yield Finding("ok", f"{name}: no rule keeps the bot from {branch}")


async def _rules(rest: Rest, name: str, branch: str) -> list[_Rule]:
    url = f"/repos/{name}/rules/branches/{quote(branch, safe='')}?per_page=100"
    return [rule async for rule in rest.each(_Rule, url)]


async def _judged(
    rest: Rest, name: str, branch: str, binding: Iterable[_Rule]
) -> Finding:
    """Return the finding about a branch's rules, without those the bot may bypass."""
    passes = {
        rule.ruleset_id: await _bypass(rest, name, rule.ruleset_id) for rule in binding
    }
    left = [rule for rule in binding if passes[rule.ruleset_id] not in _MAY_PASS]
    if not left:
        return Finding("ok", f"{name}: the bot may pass by the rules on {branch}")
    wanted = ", ".join(sorted({_OWN[rule.type] for rule in left}))
    is_sure = any(passes[rule.ruleset_id] for rule in left)
    more = "" if is_sure else "; whether the bot may pass by is not shown"
    said = f"{name}: the rules on {branch} want {wanted}{more}"
    return Finding("fault" if is_sure else "note", said, _MEND)


async def _bypass(rest: Rest, name: str, ruleset: int | None) -> str:
    """Return whether the bot may bypass a ruleset; empty: the forge does not say.

    https://docs.github.com/rest/repos/rules#get-a-repository-ruleset
    """
    if ruleset is None:
        return ""
    try:
        found = await rest.read(_Ruleset, f"/repos/{name}/rulesets/{ruleset}")
    except Refused:
        return ""  # perhaps an organisation's ruleset
    return found.current_user_can_bypass or ""


async def _is_protected(rest: Rest, name: str, branch: str) -> bool:
    url = f"/repos/{name}/branches/{quote(branch, safe='')}"
    try:
        return (await rest.read(_Branch, url)).protected
    except Refused as refused:
        if refused.status != HTTPStatus.NOT_FOUND:
            raise
        return False  # nothing was pushed yet
