"""GraphQL's view of a branch's own protection; rulesets are not in it.

https://docs.github.com/graphql/reference/objects#refupdaterule
"""

from dataclasses import dataclass

from brat.forge.resources.account_resource import ROLES, Role
from tests.world.github_forge.rules.protection_resource import (
    ProtectedReviews,
    Protection,
)


@dataclass(frozen=True)
class RefUpdateRule:
    """What binds whoever asks; GitHub shows it to all who may read."""

    pattern: str
    allows_deletions: bool
    allows_force_pushes: bool
    blocks_creations: bool
    required_approving_review_count: int | None
    required_status_check_contexts: tuple[str, ...] | None
    requires_code_owner_reviews: bool
    requires_conversation_resolution: bool
    requires_linear_history: bool
    requires_signatures: bool
    viewer_allowed_to_dismiss_reviews: bool
    viewer_can_push: bool


def ref_update_rule(kept: Protection, role: Role) -> RefUpdateRule:
    """Return what a branch's protection means for somebody with a role."""
    wanted = kept.wanted
    reviews = wanted.required_pull_request_reviews
    asked = reviews or ProtectedReviews()
    checks = tuple(one.context for one in kept.required_checks())
    may_write = ROLES.index(role) >= ROLES.index("write")
    return RefUpdateRule(
        pattern=kept.branch,
        allows_deletions=wanted.allow_deletions,
        allows_force_pushes=bool(wanted.allow_force_pushes),
        blocks_creations=wanted.block_creations,
        required_approving_review_count=(
            asked.required_approving_review_count if reviews is not None else None
        ),
        required_status_check_contexts=checks or None,
        requires_code_owner_reviews=asked.require_code_owner_reviews,
        requires_conversation_resolution=wanted.required_conversation_resolution,
        requires_linear_history=wanted.required_linear_history,
        requires_signatures=kept.signatures,
        viewer_allowed_to_dismiss_reviews=may_write,
        viewer_can_push=may_write and not wanted.lock_branch,
    )
