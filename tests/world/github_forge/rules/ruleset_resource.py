"""Rulesets of a repository, and how GitHub writes them.

https://docs.github.com/rest/repos/rules
"""

from typing import Any, Literal

from msgspec import Struct, to_builtins

from brat.forge.resources.account_resource import Record, Repository
from brat.forge.resources.wire import Site, node_id
from tests.world.github_forge.rules.rule_types import RulesetRule

Target = Literal["branch", "tag", "push"]
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


def summary(site: Site, repo: Repository, one: Ruleset) -> dict[str, Any]:
    """A ruleset in the list of them."""
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
    }


def ruleset(
    site: Site, repo: Repository, one: Ruleset, bypass: CanBypass
) -> dict[str, Any]:
    """A ruleset; `bypass` says what the caller may do."""
    ref_names = one.target != "push"
    return summary(site, repo, one) | {
        "conditions": to_builtins(one.conditions) if ref_names else None,
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
