"""The rules a branch, a tag or a push can be under, in the form GitHub's API has them.

https://docs.github.com/rest/repos/rules#create-a-repository-ruleset
"""

from typing import Annotated, Literal

from msgspec import Meta, Struct

Minutes = Annotated[int, Meta(ge=0, le=360)]
Entries = Annotated[int, Meta(ge=0, le=100)]


class _Rule(Struct, frozen=True, tag_field="type", forbid_unknown_fields=True):
    """What every rule has: its `type`."""


class _Parameters(Struct, frozen=True, forbid_unknown_fields=True):
    """What a rule is told."""


class Update(_Rule, frozen=True, tag="update"):
    """Only who may bypass the rule moves such refs."""


class Deletion(_Rule, frozen=True, tag="deletion"):
    """Only who may bypass the rule deletes such refs."""


class NonFastForward(_Rule, frozen=True, tag="non_fast_forward"):
    """Such refs only move forward."""


class RequiredLinearHistory(_Rule, frozen=True, tag="required_linear_history"):
    """No merge commit comes in."""


class RequiredSignatures(_Rule, frozen=True, tag="required_signatures"):
    """Every commit that comes in has a signature that the forge can verify."""


class PullRequestParameters(_Parameters, frozen=True):
    required_approving_review_count: int
    dismiss_stale_reviews_on_push: Literal[False] = False
    require_code_owner_review: Literal[False] = False
    require_last_push_approval: Literal[False] = False
    required_review_thread_resolution: Literal[False] = False
    allowed_merge_methods: tuple[str, ...] = ("merge", "squash", "rebase")


class PullRequest(_Rule, frozen=True, tag="pull_request"):
    """Commits come in by merged pull requests only."""

    parameters: PullRequestParameters


class StatusCheck(_Parameters, frozen=True, omit_defaults=True):
    """A check that has to be green; `integration_id` is the App that must say so."""

    context: str
    integration_id: int | None = None


class StatusCheckParameters(_Parameters, frozen=True):
    required_status_checks: tuple[StatusCheck, ...]
    strict_required_status_checks_policy: bool


class RequiredStatusChecks(_Rule, frozen=True, tag="required_status_checks"):
    """The commit that comes in has these checks green."""

    parameters: StatusCheckParameters


class MergeQueueParameters(_Parameters, frozen=True):
    check_response_timeout_minutes: Annotated[int, Meta(ge=1, le=360)]
    grouping_strategy: Literal["ALLGREEN"]
    max_entries_to_build: Entries
    max_entries_to_merge: Entries
    merge_method: Literal["MERGE"]
    min_entries_to_merge: Literal[1]
    min_entries_to_merge_wait_minutes: Minutes


class MergeQueue(_Rule, frozen=True, tag="merge_queue"):
    """Commits come in by a merge queue only; without an extension there is none."""

    parameters: MergeQueueParameters


Rule = (
    Update
    | Deletion
    | NonFastForward
    | RequiredLinearHistory
    | RequiredSignatures
    | PullRequest
    | RequiredStatusChecks
    | MergeQueue
)
"""What a ruleset can hold here; GitHub's other types are refused when they are set."""
