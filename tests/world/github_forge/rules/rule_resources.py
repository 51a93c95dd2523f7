"""Rulesets of a repository and the protection of a branch, as GitHub writes them.

https://docs.github.com/rest/repos/rules
https://docs.github.com/rest/branches/branch-protection
"""

from typing import Any, Literal

from msgspec import Struct, to_builtins

from brat.forge.resources.forge_records import Record, Repository
from brat.forge.resources.wire import fields
from tests.world.github_forge.rules import rule_types as rules

BypassMode = Literal["always", "pull_request"]
CanBypass = Literal["always", "pull_requests_only", "never"]


class RefNames(Struct, frozen=True, forbid_unknown_fields=True):
    """Which refs: full names or patterns, or `~DEFAULT_BRANCH`."""

    include: tuple[str, ...] = ()
    exclude: tuple[()] = ()


class Conditions(Struct, frozen=True, forbid_unknown_fields=True):
    ref_name: RefNames = RefNames()


class BypassActor(Struct, frozen=True, forbid_unknown_fields=True):
    """Whom a ruleset does not bind."""

    actor_type: Literal["Integration", "RepositoryRole"]
    actor_id: int
    """Of an App, or of the role `admin`."""
    bypass_mode: BypassMode = "always"


class Ruleset(Record, frozen=True, kw_only=True):
    """A set of rules, and the refs that it binds."""

    repo: int
    name: str
    conditions: Conditions
    rules: tuple[rules.Rule, ...]
    bypass_actors: tuple[BypassActor, ...]
    created_at: str
    updated_at: str


def ruleset(repo: Repository, one: Ruleset, bypass: CanBypass) -> dict[str, Any]:
    """A ruleset; `bypass` says what the caller may do."""
    return {
        **fields(one, "id name created_at updated_at"),
        "target": "branch",
        "source_type": "Repository",
        "source": repo.full_name,
        "enforcement": "active",
        "conditions": to_builtins(one.conditions),
        "rules": to_builtins(one.rules),
        "bypass_actors": to_builtins(one.bypass_actors),
        "current_user_can_bypass": bypass,
    }


def binding_rule(repo: Repository, one: Ruleset, rule: rules.Rule) -> dict[str, Any]:
    """A rule in the answer of `GET rules/branches/{branch}`."""
    face: dict[str, Any] = to_builtins(rule)
    return face | {
        "ruleset_source_type": "Repository",
        "ruleset_source": repo.full_name,
        "ruleset_id": one.id,
    }


class Protection(Record, frozen=True, kw_only=True):
    """A branch's own rules; they bind its admins, too."""

    repo: int
    branch: str
    contexts: tuple[str, ...]
    """The checks that it requires."""
    approvals: int
    """How many reviews it requires of a pull request."""

    def rules(self) -> tuple[rules.Rule, ...]:
        checks = tuple(rules.StatusCheck(each) for each in self.contexts)
        return (
            rules.Deletion(),
            rules.NonFastForward(),
            rules.PullRequest(rules.PullRequestParameters(self.approvals)),
            rules.RequiredStatusChecks(
                rules.StatusCheckParameters(
                    required_status_checks=checks,
                    strict_required_status_checks_policy=False,
                )
            ),
        )


def branch_protection(one: Protection | None) -> dict[str, Any]:
    contexts = one.contexts if one is not None else ()
    return {
        "enabled": one is not None,
        "required_status_checks": {
            "enforcement_level": "everyone" if contexts else "off",
            "contexts": contexts,
            "checks": [{"context": each, "app_id": None} for each in contexts],
        },
    }
