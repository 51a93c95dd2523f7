"""Which rules bind a ref for whom: protection and rulesets, and who may bypass them.

Patterns are those of Ruby's File.fnmatch with FNM_PATHNAME: `*` and `?` stay within a
name, `**/` stands for any folders.

https://docs.github.com/repositories/configuring-branches-and-merges-in-your-repository/managing-rulesets/creating-rulesets-for-a-repository
https://docs.github.com/rest/repos/rules
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final, Literal
from weakref import WeakKeyDictionary

from brat.forge.resources.forge_records import (
    ACTIONS_APP_ID,
    ROLES,
    Repository,
    Role,
    User,
)
from brat.forge.service.run_processes import JOB_LOGIN
from brat.forge.storage.forge_state import Forge
from brat.forge.storage.record_store import Store, Table
from tests.world.github_forge.rules.rule_resources import (
    BypassActor,
    CanBypass,
    Protection,
    Ruleset,
)
from tests.world.github_forge.rules.rule_types import (
    Deletion,
    MergeQueue,
    MergeQueueParameters,
    NonFastForward,
    Rule,
)


class RuleTables:
    def __init__(self, store: Store) -> None:
        self.protections = Table(store, Protection, lambda r: (r.repo, r.branch))
        self.rulesets = Table(store, Ruleset, lambda r: r.repo)


_TABLES: Final = WeakKeyDictionary[Store, RuleTables]()


def rules_in(store: Store) -> RuleTables:
    if store not in _TABLES:
        _TABLES[store] = RuleTables(store)
    return _TABLES[store]


_NAMESPACES: Final = {"branch": "refs/heads/", "tag": "refs/tags/"}
_MEANING: Final = {"**/": "(?:[^/]+/)*", "*": "[^/]*", "?": "[^/]"}


def binds(one: Ruleset, ref: str, default_branch: str) -> bool:
    if one.enforcement != "active":
        return False
    if not ref.startswith(_NAMESPACES[one.target]):
        return False
    names = one.conditions.ref_name
    return any(_fits(each, ref, default_branch) for each in names.include) and not any(
        _fits(each, ref, default_branch) for each in names.exclude
    )


def _fits(pattern: str, ref: str, default_branch: str) -> bool:
    if pattern == "~ALL":
        return True
    if pattern == "~DEFAULT_BRANCH":
        return ref == f"refs/heads/{default_branch}"
    return _compiled(pattern).fullmatch(ref) is not None


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> re.Pattern[str]:
    parts = re.split(r"(\*\*/|\*|\?)", pattern)
    return re.compile("".join(_MEANING.get(each, re.escape(each)) for each in parts))


Source = Literal["protection", "ruleset"]
_ROLE_IDS: Final[dict[int, Role]] = {2: "maintain", 4: "write", 5: "admin"}
"""GitHub's numbers of the roles that can be bypass actors; higher roles may, too."""
_HARD: Final = (Deletion, NonFastForward)
"""What a branch's protection forbids its admins, too."""
_MEANS: Final[dict[str, CanBypass]] = {
    "always": "always",
    "pull_request": "pull_requests_only",
    "exempt": "exempt",
}


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
        app = ACTIONS_APP_ID if user.login == JOB_LOGIN else forge.app_id(user)
    return Mover(user, forge.role(repo, user), app)


def binding(
    forge: Forge, repo: Repository, ref: str, who: Mover
) -> tuple[Binding, ...]:
    found: list[Binding] = []
    kept = protection_of(forge, repo, ref.removeprefix("refs/heads/"))
    if kept is not None and ref.startswith("refs/heads/"):
        found += _protected(kept, who)
    for one in rulesets_on(forge, repo, ref):
        found.append(Binding("ruleset", one.rules, can_bypass(one, who)))
    return tuple(each for each in found if each.rules)


def protection_of(forge: Forge, repo: Repository, branch: str) -> Protection | None:
    found = rules_in(forge.store).protections.of((repo.id, branch))
    return found[0] if found else None


def is_protected(forge: Forge, repo: Repository, branch: str) -> bool:
    """Say whether GitHub would call a branch protected: any rule binds it."""
    if protection_of(forge, repo, branch) is not None:
        return True
    found = rulesets_on(forge, repo, f"refs/heads/{branch}")
    return any(one.target == "branch" and one.rules for one in found)


def rulesets_on(forge: Forge, repo: Repository, ref: str) -> Iterator[Ruleset]:
    """Yield the active rulesets that apply to a ref, oldest first."""
    for one in rules_in(forge.store).rulesets.of(repo.id):
        if binds(one, ref, repo.default_branch):
            yield one


def can_bypass(one: Ruleset, who: Mover) -> CanBypass:
    """Say whether a ruleset binds somebody; the most generous actor counts."""
    modes = {actor.bypass_mode for actor in one.bypass_actors if _is(actor, who)}
    for mode in ("exempt", "always", "pull_request"):
        if mode in modes:
            return _MEANS[mode]
    return "never"


def _is(actor: BypassActor, who: Mover) -> bool:
    if actor.actor_type == "Integration":
        return who.app is not None and who.app == actor.actor_id
    if actor.actor_type == "User":
        return who.app is None and who.user.id == actor.actor_id
    if actor.actor_type == "RepositoryRole" and who.app is None:
        least = _ROLE_IDS.get(actor.actor_id or 0)
        return least is not None and ROLES.index(who.role) >= ROLES.index(least)
    return False


def _protected(kept: Protection, who: Mover) -> Iterator[Binding]:
    rules = tuple(kept.rules())
    hard = tuple(rule for rule in rules if isinstance(rule, _HARD))
    soft = tuple(rule for rule in rules if not isinstance(rule, _HARD))
    is_admin = who.role == "admin" and not kept.wanted.enforce_admins
    yield Binding("protection", hard, "never")
    yield Binding("protection", soft, "always" if is_admin else "never")
