"""What the rules of a branch mean for whoever wants to move it. Pure.

https://docs.github.com/rest/repos/rules#get-rules-for-a-branch
https://docs.github.com/graphql/reference/objects#refupdaterule
"""

from collections.abc import Iterable
from typing import get_args

from msgspec.structs import replace
from pydantic import Field

from bot.forge.payload import Payload
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
    required_status_checks: tuple[_Context, ...] = ()
    required_deployment_environments: tuple[str, ...] = ()
    merge_method: str = ""


class Rule(Payload):
    """One rule that holds for a branch."""

    type: str
    ruleset_id: int | None = None
    parameters: _Parameters = _Parameters()


class Protection(Payload):
    """A branch's own protection, as it holds for whoever asks."""

    reviews: int | None = Field(None, alias="requiredApprovingReviewCount")
    contexts: tuple[str, ...] | None = Field(None, alias="requiredStatusCheckContexts")
    owners: bool = Field(default=False, alias="requiresCodeOwnerReviews")
    resolved: bool = Field(default=False, alias="requiresConversationResolution")
    linear: bool = Field(default=False, alias="requiresLinearHistory")
    signed: bool = Field(default=False, alias="requiresSignatures")
    pushes: bool = Field(default=True, alias="viewerCanPush")


def ruled(rules: Iterable[Rule], methods: tuple[Strategy, ...]) -> TargetRules:
    """Return what the rules of all rulesets ask for together."""
    found = TargetRules(methods=methods)
    for rule in rules:
        found = _and(found, rule)
    return found


def _and(found: TargetRules, rule: Rule) -> TargetRules:
    """Return what is asked for with one more rule."""
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
            names = (
                *found.checks,
                *(one.context for one in asked.required_status_checks),
            )
            asked_of = {
                one.context: one.integration_id
                for one in asked.required_status_checks
                if one.integration_id
            }
            return replace(
                found,
                checks=tuple(dict.fromkeys(names)),
                reporters=found.reporters | asked_of,
            )
        case "merge_queue":
            return replace(found, queue=True)
        case "required_signatures":
            return replace(found, signed=True)
        case "required_linear_history":
            return replace(found, linear=True)
        case "required_deployments":
            return replace(found, deployed=asked.required_deployment_environments)
        case "update":
            return replace(found, frozen=True)
        case _:
            return found


def protected(found: TargetRules, own: Protection) -> TargetRules:
    """Return what is asked for with a branch's own protection."""
    names = (*found.checks, *(own.contexts or ()))
    return replace(
        found,
        pull_request=found.pull_request or own.reviews is not None or not own.pushes,
        reviews=max(found.reviews, own.reviews or 0),
        owners=found.owners or own.owners,
        resolved=found.resolved or own.resolved,
        checks=tuple(dict.fromkeys(names)),
        linear=found.linear or own.linear,
        signed=found.signed or own.signed,
    )
