"""Which rules bind a branch, and whom: its protection, and rulesets of the default one.

https://docs.github.com/repositories/configuring-branches-and-merges-in-your-repository/managing-rulesets/creating-rulesets-for-a-repository
https://docs.github.com/rest/repos/rules
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from brat.forge.resources.forge_records import Owned, Repository, User
from brat.forge.storage.forge_state import Forge
from brat.forge.storage.record_store import Store, Table
from tests.world.github_forge.apps import app_id
from tests.world.github_forge.per_store import per_store

Rule = dict[str, Any]
"""As GitHub's API has it: `type`, and `parameters` where it has some."""
CanBypass = Literal["always", "pull_requests_only", "never"]
HEADS: Final = "refs/heads/"


class Ruleset(Owned, frozen=True, kw_only=True):
    """Rules of a repository's default branch, and whom they do not bind."""

    rules: tuple[Rule, ...]
    bypass_actors: tuple[Rule, ...] = ()


class Protection(Owned, frozen=True, kw_only=True):
    """A branch's own rules; they bind its admins, too."""

    branch: str
    contexts: tuple[str, ...]
    """The checks that it requires."""
    rules: tuple[Rule, ...]


class RuleTables:
    def __init__(self, store: Store) -> None:
        self.protections = Table(store, Protection, lambda r: (r.repo, r.branch))
        self.rulesets = Table(store, Ruleset, lambda r: r.repo)


rules_in = per_store(RuleTables)


@dataclass(frozen=True, slots=True)
class Binding:
    """Rules that bind a ref, all from one source."""

    source: Literal["protection", "ruleset"]
    rules: tuple[Rule, ...]
    bypass: CanBypass
    """What whoever moves the ref may do about them."""


def parameters(held: Iterable[Binding], kind: str) -> Iterator[Any]:
    """Give what each rule of a type asks for."""
    for one in held:
        yield from (r.get("parameters") for r in one.rules if r["type"] == kind)


def without_queue(held: tuple[Binding, ...]) -> tuple[tuple[Binding, ...], bool]:
    """Return the other rules, and whether there is a merge queue."""
    kept = [tuple(r for r in one.rules if r["type"] != "merge_queue") for one in held]
    rest = tuple(map(lambda one, left: replace(one, rules=left), held, kept))
    return rest, rest != held


def binding(forge: Forge, repo: Repository, ref: str, who: User) -> tuple[Binding, ...]:
    kept = protection_of(forge, repo, ref)
    own = () if kept is None else (Binding("protection", kept.rules, "never"),)
    shared = (
        Binding("ruleset", one.rules, can_bypass(forge, repo, one, who))
        for one in rulesets_on(forge, repo, ref)
    )
    return *own, *shared


def protection_of(forge: Forge, repo: Repository, ref: str) -> Protection | None:
    if not ref.startswith(HEADS):
        return None
    known = rules_in(forge.store).protections
    return next(iter(known.of((repo.id, ref.removeprefix(HEADS)))), None)


def rulesets_on(forge: Forge, repo: Repository, ref: str) -> list[Ruleset]:
    """Return the rulesets that apply to a ref, oldest first."""
    is_default = ref == HEADS + repo.default_branch
    return rules_in(forge.store).rulesets.of(repo.id) if is_default else []


def can_bypass(forge: Forge, repo: Repository, one: Ruleset, who: User) -> CanBypass:
    """Say whether a ruleset binds somebody; the most generous actor counts."""
    modes = {
        actor.get("bypass_mode", "always")
        for actor in one.bypass_actors
        if _is(forge, repo, actor, who)
    }
    if "always" in modes:
        return "always"
    return "pull_requests_only" if modes else "never"


def _is(forge: Forge, repo: Repository, actor: Rule, who: User) -> bool:
    if actor["actor_type"] == "Integration":
        return who.kind == "Bot" and bool(app_id(forge, who.id) == actor["actor_id"])
    return who.kind != "Bot" and forge.may(repo, who, "admin")
