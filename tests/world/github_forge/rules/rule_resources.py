"""Rulesets of a repository and the protection of a branch, as GitHub writes them.

https://docs.github.com/rest/repos/rules
https://docs.github.com/rest/branches/branch-protection
"""

from collections.abc import Iterator
from typing import Annotated, Any, Literal
from urllib.parse import quote

from msgspec import Meta, Struct, to_builtins

from brat.forge.resources.forge_records import Record, Repository
from brat.forge.resources.wire import Site
from tests.world.github_forge.rules import rule_types as rules
from tests.world.github_forge.rules.rule_types import RulesetRule
from tests.world.github_forge.shapes import node_id

Target = Literal["branch", "tag"]
Enforcement = Literal["active", "disabled"]
BypassMode = Literal["always", "pull_request", "exempt"]
CanBypass = Literal["always", "pull_requests_only", "never", "exempt"]


class RefNames(Struct, frozen=True, forbid_unknown_fields=True):
    """Which refs: full names or patterns, `~DEFAULT_BRANCH` or `~ALL`."""

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()


class Conditions(Struct, frozen=True, forbid_unknown_fields=True):
    """To what a ruleset applies."""

    ref_name: RefNames = RefNames()


class BypassActor(Struct, frozen=True, forbid_unknown_fields=True):
    """Whom a ruleset does not bind."""

    actor_type: Literal["Integration", "RepositoryRole", "User", "DeployKey"]
    actor_id: int | None = None
    bypass_mode: BypassMode = "always"


class Ruleset(Record, frozen=True, kw_only=True):
    """A set of rules, and the refs that it binds."""

    repo: int
    name: str
    target: Target
    enforcement: Enforcement
    conditions: Conditions
    rules: tuple[RulesetRule, ...]
    bypass_actors: tuple[BypassActor, ...]
    created_at: str
    updated_at: str


def ruleset(
    site: Site, repo: Repository, one: Ruleset, bypass: CanBypass
) -> dict[str, Any]:
    """A ruleset; `bypass` says what the caller may do."""
    return {
        "id": one.id,
        "name": one.name,
        "target": one.target,
        "source_type": "Repository",
        "source": repo.full_name,
        "enforcement": one.enforcement,
        "node_id": node_id("RepositoryRuleset", one.id),
        "_links": {
            "self": {"href": f"{site.repo(repo.full_name)}/rulesets/{one.id}"},
            "html": {"href": site.page(repo.full_name, "rules", one.id)},
        },
        "created_at": one.created_at,
        "updated_at": one.updated_at,
        "conditions": to_builtins(one.conditions),
        "rules": to_builtins(one.rules),
        "bypass_actors": to_builtins(one.bypass_actors),
        "current_user_can_bypass": bypass,
    }


def binding_rule(repo: Repository, one: Ruleset, rule: RulesetRule) -> dict[str, Any]:
    """A rule in the answer of `GET rules/branches/{branch}`."""
    face: dict[str, Any] = to_builtins(rule)
    return face | {
        "ruleset_source_type": "Repository",
        "ruleset_source": repo.full_name,
        "ruleset_id": one.id,
    }


ANY_APP = -1
"""The `app_id` that says: whoever reports it."""


class ProtectedCheck(Struct, frozen=True, forbid_unknown_fields=True):
    """A check that has to be green, and the App that must say so."""

    context: str
    app_id: int | None = None


class ProtectedChecks(Struct, frozen=True, forbid_unknown_fields=True):
    """The checks a branch requires."""

    strict: bool
    contexts: tuple[str, ...]
    checks: tuple[ProtectedCheck, ...] = ()


class ProtectedReviews(Struct, frozen=True, forbid_unknown_fields=True):
    """The reviews a branch requires of a pull request."""

    dismiss_stale_reviews: bool = False
    require_code_owner_reviews: bool = False
    required_approving_review_count: Annotated[int, Meta(ge=0, le=6)] = 1
    require_last_push_approval: bool = False


class Wanted(Struct, frozen=True, forbid_unknown_fields=True):
    """The body of `PUT branches/{branch}/protection`: the four first must be there."""

    required_status_checks: ProtectedChecks | None
    enforce_admins: bool | None
    required_pull_request_reviews: ProtectedReviews | None
    restrictions: dict[str, Any] | None
    required_linear_history: bool = False
    allow_force_pushes: bool | None = False
    allow_deletions: bool = False
    block_creations: bool = False
    required_conversation_resolution: bool = False
    lock_branch: bool = False
    allow_fork_syncing: bool = False


class Protection(Record, frozen=True, kw_only=True):
    repo: int
    branch: str
    wanted: Wanted
    signatures: bool = False
    """Whether signatures are required, which has an endpoint of its own."""

    def required_checks(self) -> tuple[ProtectedCheck, ...]:
        """Return the required checks, those without an App included."""
        asked = self.wanted.required_status_checks
        if asked is None:
            return ()
        named = {one.context for one in asked.checks}
        plain = (ProtectedCheck(each) for each in asked.contexts if each not in named)
        return (*plain, *asked.checks)

    def rules(self) -> Iterator[rules.Rule]:
        """Yield the rules it amounts to."""
        wanted = self.wanted
        if wanted.lock_branch:
            yield rules.LockedBranch()
        if not wanted.allow_deletions:
            yield rules.Deletion()
        if not wanted.allow_force_pushes:
            yield rules.NonFastForward()
        if wanted.required_linear_history:
            yield rules.RequiredLinearHistory()
        if self.signatures:
            yield rules.RequiredSignatures()
        if wanted.required_pull_request_reviews is not None:
            yield _pull_request(wanted.required_pull_request_reviews, wanted)
        if wanted.required_status_checks is not None:
            yield _checks(self.required_checks(), wanted.required_status_checks)


def _pull_request(asked: ProtectedReviews, wanted: Wanted) -> rules.PullRequest:
    return rules.PullRequest(
        rules.PullRequestParameters(
            dismiss_stale_reviews_on_push=asked.dismiss_stale_reviews,
            require_code_owner_review=asked.require_code_owner_reviews,
            require_last_push_approval=asked.require_last_push_approval,
            required_approving_review_count=asked.required_approving_review_count,
            required_review_thread_resolution=wanted.required_conversation_resolution,
        )
    )


def _checks(
    wanted: tuple[ProtectedCheck, ...], asked: ProtectedChecks
) -> rules.RequiredStatusChecks:
    return rules.RequiredStatusChecks(
        rules.StatusCheckParameters(
            required_status_checks=tuple(
                rules.StatusCheck(
                    one.context, None if one.app_id == ANY_APP else one.app_id
                )
                for one in wanted
            ),
            strict_required_status_checks_policy=asked.strict,
        )
    )


def protection(site: Site, repo: Repository, one: Protection) -> dict[str, Any]:
    """The answer of `GET branches/{branch}/protection`."""
    url = protection_url(site, repo, one.branch)
    wanted = one.wanted
    face: dict[str, Any] = {
        "url": url,
        "required_signatures": {
            "url": f"{url}/required_signatures",
            "enabled": one.signatures,
        },
        "enforce_admins": {
            "url": f"{url}/enforce_admins",
            "enabled": bool(wanted.enforce_admins),
        },
    }
    for name in _SWITCHES:
        face[name] = {"enabled": bool(getattr(wanted, name))}
    if wanted.required_status_checks is not None:
        face["required_status_checks"] = _status_checks(url, one)
    if wanted.required_pull_request_reviews is not None:
        asked = wanted.required_pull_request_reviews
        face["required_pull_request_reviews"] = {
            "url": f"{url}/required_pull_request_reviews",
            "dismiss_stale_reviews": asked.dismiss_stale_reviews,
            "require_code_owner_reviews": asked.require_code_owner_reviews,
            "required_approving_review_count": asked.required_approving_review_count,
            "require_last_push_approval": asked.require_last_push_approval,
        }
    return face


_SWITCHES = (
    "required_linear_history",
    "allow_force_pushes",
    "allow_deletions",
    "block_creations",
    "required_conversation_resolution",
    "lock_branch",
    "allow_fork_syncing",
)


def _status_checks(url: str, one: Protection) -> dict[str, Any]:
    asked = one.wanted.required_status_checks
    return {
        "url": f"{url}/required_status_checks",
        "contexts_url": f"{url}/required_status_checks/contexts",
        "strict": asked is not None and asked.strict,
    } | _named(one)


def _named(one: Protection) -> dict[str, Any]:
    checks = one.required_checks()
    return {
        "contexts": [each.context for each in checks],
        "checks": [
            {
                "context": each.context,
                "app_id": None if each.app_id == ANY_APP else each.app_id,
            }
            for each in checks
        ],
    }


def protection_url(site: Site, repo: Repository, branch: str) -> str:
    return f"{site.repo(repo.full_name)}/branches/{quote(branch)}/protection"


def branch_protection(one: Protection | None) -> dict[str, Any]:
    named = _named(one) if one is not None else {"contexts": [], "checks": []}
    level = "off"
    if named["contexts"] and one is not None:
        level = "everyone" if one.wanted.enforce_admins else "non_admins"
    return {
        "enabled": one is not None,
        "required_status_checks": {"enforcement_level": level} | named,
    }
