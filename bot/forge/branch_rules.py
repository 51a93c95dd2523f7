"""Reads what a forge asks for before a branch moves, and what that means.

https://docs.github.com/rest/repos/rules#get-rules-for-a-branch
https://docs.github.com/graphql/reference/objects#refupdaterule
https://docs.github.com/rest/repos/rules#get-a-repository-ruleset
"""

from contextlib import suppress
from functools import reduce
from http import HTTPStatus
from typing import Final, get_args
from urllib.parse import quote

from msgspec.structs import replace
from pydantic import Field

from bot.forge.payloads import Payload, at
from bot.forge.rest import HIDDEN, Part, Refused, Unless
from convoy.model.records import Strategy
from convoy.model.work import TargetRules


class _Context(Payload):
    context: str
    integration_id: int | None = None


class _Parameters(Payload):
    required_approving_review_count: int = 0
    require_code_owner_review: bool = False
    required_review_thread_resolution: bool = False
    allowed_merge_methods: tuple[Strategy, ...] = get_args(Strategy)
    checks: tuple[_Context, ...] = Field(default=(), alias="required_status_checks")
    required_deployment_environments: tuple[str, ...] = ()


class Rule(Payload):
    type: str
    ruleset_id: int | None = None
    parameters: _Parameters = _Parameters()


class Protection(Payload):
    reviews: int | None = Field(None, alias="requiredApprovingReviewCount")
    contexts: tuple[str, ...] | None = Field(None, alias="requiredStatusCheckContexts")
    owners: bool = Field(default=False, alias="requiresCodeOwnerReviews")
    resolved: bool = Field(default=False, alias="requiresConversationResolution")
    linear: bool = Field(default=False, alias="requiresLinearHistory")
    signed: bool = Field(default=False, alias="requiresSignatures")
    pushes: bool = Field(default=True, alias="viewerCanPush")


def _and(found: TargetRules, rule: Rule) -> TargetRules:
    asked = rule.parameters
    match rule.type:
        case "pull_request":
            named = asked.allowed_merge_methods
            return replace(
                found,
                pull_request=True,
                reviews=max(found.reviews, asked.required_approving_review_count),
                owners=found.owners or asked.require_code_owner_review,
                resolved=found.resolved or asked.required_review_thread_resolution,
                methods=tuple(one for one in found.methods if one in named),
            )
        case "required_status_checks":
            names = (*found.checks, *(each.context for each in asked.checks))
            apps = {e.context: app for e in asked.checks if (app := e.integration_id)}
            return replace(
                found,
                checks=tuple(dict.fromkeys(names)),
                reporters=found.reporters | apps,
            )
        case "required_deployments":
            return replace(found, deployed=asked.required_deployment_environments)
        case known if field := _SWITCHES.get(known):
            return replace(found, **{field: True})
        case _:
            return found


_SWITCHES: Final = {
    "merge_queue": "queue",
    "required_signatures": "signed",
    "required_linear_history": "linear",
    "update": "frozen",
}
"""The rules that ask for one thing without parameters, and the field for each."""
MAY_PASS: Final = frozenset({"always", "exempt"})


class _Ruleset(Payload):
    current_user_can_bypass: str | None = None


class _Branch(Payload):
    protected: bool = False


class _Methods(Payload):
    allow_merge_commit: bool = True
    allow_squash_merge: bool = True
    allow_rebase_merge: bool = True


class _Classic(Payload):
    rule: Protection | None = at("repository", "ref", "refUpdateRule", default=None)


class BranchRules(Part):
    async def of(self, branch: str) -> TargetRules:
        """Return what a branch asks for, as far as the bot may read it.

        The branch need not exist.
        """
        listed = await self.listed(branch)
        merging = await self._rest.read(_Methods, self._repo)
        allowed: dict[Strategy, bool] = {
            "merge": merging.allow_merge_commit,
            "squash": merging.allow_squash_merge,
            "rebase": merging.allow_rebase_merge,
        }
        methods = tuple(method for method, is_allowed in allowed.items() if is_allowed)
        found = reduce(_and, listed or (), TargetRules(methods=methods))
        classic: Protection | None = None
        is_known = False
        with suppress(Refused):
            named = {**self._named, "ref": f"refs/heads/{branch}"}
            classic = (await self._rest.ask(_Classic, "branch_protection", named)).rule
            is_known = True
        if classic is not None:
            checks = (*found.checks, *(classic.contexts or ()))
            needs_pull = classic.reviews is not None or not classic.pushes
            found = replace(
                found,
                pull_request=found.pull_request or needs_pull,
                reviews=max(found.reviews, classic.reviews or 0),
                owners=found.owners or classic.owners,
                resolved=found.resolved or classic.resolved,
                checks=tuple(dict.fromkeys(checks)),
                linear=found.linear or classic.linear,
                signed=found.signed or classic.signed,
            )
        unknown = [f"the rules of {branch}"] if listed is None else []
        if not is_known and not listed:
            with HIDDEN:  # or nothing was pushed yet
                url = f"{self._repo}/branches/{quote(branch, safe='')}"
                if (await self._rest.read(_Branch, url)).protected:
                    unknown.append(f"the protection of {branch}")
        sets = {rule.ruleset_id for rule in listed or ()}
        passes = [await self.bypass(number) in MAY_PASS for number in sets]
        bound = classic is not None and not classic.pushes
        may_pass = bool(passes) and all(passes) and not bound
        return replace(found, passes=may_pass, unknown=tuple(unknown))

    async def listed(self, branch: str) -> tuple[Rule, ...] | None:
        """Return the rules of all rulesets for a branch; None: the bot may not ask."""
        url = f"{self._repo}/rules/branches/{quote(branch, safe='')}?per_page=100"
        with Unless(HTTPStatus.FORBIDDEN):
            with Unless(HTTPStatus.NOT_FOUND):
                return tuple(await self._rest.all(Rule, url))
            return ()  # a forge older than rulesets
        return None

    async def bypass(self, ruleset: int | None) -> str:
        """Return whether the bot may bypass a ruleset; empty: it is not told."""
        if ruleset is None:
            return ""
        try:
            url = f"{self._repo}/rulesets/{ruleset}"
            found = await self._rest.read(_Ruleset, url)
        except Refused:
            return ""  # perhaps an organisation's ruleset
        return found.current_user_can_bypass or ""
