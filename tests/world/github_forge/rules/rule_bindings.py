"""Which rules bind a ref for whom: protection and rulesets, and who may bypass them.

In patterns `*` stays within a name.

https://docs.github.com/repositories/configuring-branches-and-merges-in-your-repository/managing-rulesets/creating-rulesets-for-a-repository
https://docs.github.com/rest/repos/rules
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from brat.forge.resources.forge_records import (
    ACTIONS_APP_ID,
    Repository,
    Role,
    User,
)
from brat.forge.service.run_processes import JOB_LOGIN
from brat.forge.storage.forge_state import Forge
from brat.forge.storage.record_store import Store, Table
from tests.world.github_forge.apps import app_id
from tests.world.github_forge.per_store import per_store
from tests.world.github_forge.rules.rule_resources import (
    BypassActor,
    CanBypass,
    Protection,
    Ruleset,
)
from tests.world.github_forge.rules.rule_types import (
    MergeQueue,
    MergeQueueParameters,
    Rule,
)


class RuleTables:
    def __init__(self, store: Store) -> None:
        self.protections = Table(store, Protection, lambda r: (r.repo, r.branch))
        self.rulesets = Table(store, Ruleset, lambda r: r.repo)


rules_in = per_store(RuleTables)


def binds(one: Ruleset, ref: str, default_branch: str) -> bool:
    return any(
        _fits(each, ref, default_branch) for each in one.conditions.ref_name.include
    )


def _fits(pattern: str, ref: str, default_branch: str) -> bool:
    if pattern == "~DEFAULT_BRANCH":
        return ref == f"refs/heads/{default_branch}"
    return re.fullmatch(re.escape(pattern).replace(r"\*", "[^/]*"), ref) is not None


Source = Literal["protection", "ruleset"]


@dataclass(frozen=True, slots=True)
class Mover:
    """Who wants to move a ref, as rules see them."""

    user: User
    role: Role
    app: int | None
    """The id of the App that the account belongs to; None: it is a person's."""


@dataclass(frozen=True, slots=True)
class Binding:
    """Rules that bind a ref, all from one source."""

    source: Source
    rules: tuple[Rule, ...]
    bypass: CanBypass
    """What the mover may do about them."""


def without_queue(
    held: tuple[Binding, ...],
) -> tuple[tuple[Binding, ...], MergeQueueParameters | None]:
    queues = [
        rule.parameters
        for one in held
        for rule in one.rules
        if isinstance(rule, MergeQueue)
    ]
    rest = tuple(
        replace(
            one,
            rules=tuple(rule for rule in one.rules if not isinstance(rule, MergeQueue)),
        )
        for one in held
    )
    return rest, queues[0] if queues else None


def mover(forge: Forge, repo: Repository, user: User) -> Mover:
    """Return an account as the rules of a repository see it."""
    app = None
    if user.kind == "Bot":
        app = ACTIONS_APP_ID if user.login == JOB_LOGIN else app_id(forge, user.id)
    return Mover(user, forge.role(repo, user), app)


def binding(
    forge: Forge, repo: Repository, ref: str, who: Mover
) -> tuple[Binding, ...]:
    found: list[Binding] = []
    kept = protection_of(forge, repo, ref.removeprefix("refs/heads/"))
    if kept is not None and ref.startswith("refs/heads/"):
        found.append(Binding("protection", kept.rules(), "never"))
    found += (
        Binding("ruleset", one.rules, can_bypass(one, who))
        for one in rulesets_on(forge, repo, ref)
    )
    return tuple(each for each in found if each.rules)


def protection_of(forge: Forge, repo: Repository, branch: str) -> Protection | None:
    found = rules_in(forge.store).protections.of((repo.id, branch))
    return found[0] if found else None


def is_protected(forge: Forge, repo: Repository, branch: str) -> bool:
    """Say whether GitHub would call a branch protected: any rule binds it."""
    if protection_of(forge, repo, branch) is not None:
        return True
    found = rulesets_on(forge, repo, f"refs/heads/{branch}")
    return any(one.rules for one in found)


def rulesets_on(forge: Forge, repo: Repository, ref: str) -> Iterator[Ruleset]:
    """Yield the active rulesets that apply to a ref, oldest first."""
    for one in rules_in(forge.store).rulesets.of(repo.id):
        if binds(one, ref, repo.default_branch):
            yield one


def can_bypass(one: Ruleset, who: Mover) -> CanBypass:
    """Say whether a ruleset binds somebody; the most generous actor counts."""
    modes = {actor.bypass_mode for actor in one.bypass_actors if _is(actor, who)}
    if "always" in modes:
        return "always"
    return "pull_requests_only" if modes else "never"


def _is(actor: BypassActor, who: Mover) -> bool:
    if actor.actor_type == "Integration":
        return who.app == actor.actor_id
    return who.app is None and who.role == "admin"
