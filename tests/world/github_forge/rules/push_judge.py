"""Judges how a ref is moved: by all rules that bind it, and with a reason.

https://docs.github.com/pull-requests/collaborating-with-pull-requests/collaborating-on-repositories-with-code-quality-features/about-status-checks
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from brat.forge.resources.forge_records import (
    ACTIONS_APP,
    ACTIONS_APP_ID,
    CheckRun,
    Repository,
)
from brat.forge.storage.forge_state import Forge
from tests.world.github_forge.apps import app_id
from tests.world.github_forge.rules import refusal_words as words
from tests.world.github_forge.rules.push_rules import Violation, violations
from tests.world.github_forge.rules.ref_changes import Checks, CheckState, RefChange
from tests.world.github_forge.rules.rule_bindings import Binding
from tests.world.github_forge.shapes import said_in

_PASSES: Final = frozenset({"success", "neutral", "skipped"})
_STATES: Final[dict[str, CheckState]] = {"success": "green", "pending": "pending"}


def checks_of(forge: Forge, repo: Repository, sha: str) -> Checks:
    """Return the checks and statuses of a commit; the newest of each name and App.

    GitHub counts no job of a run that was dispatched:
    https://docs.github.com/pull-requests/collaborating-with-pull-requests/collaborating-on-repositories-with-code-quality-features/troubleshooting-required-status-checks
    """
    found: dict[str, dict[int, CheckState]] = {}
    on = (repo.id, sha)
    for status in said_in(forge.store).statuses.of(on):
        creator = forge.store.users.get(status.creator)
        is_bot = creator is not None and creator.kind == "Bot"
        slug = creator.login.removesuffix("[bot]") if creator and is_bot else ""
        state = _STATES.get(status.state, "failing")
        found.setdefault(status.context, {})[_app_id(forge, slug)] = state
    runs = {str(run.id): run.event for run in forge.store.runs.all()}
    for check in forge.store.check_runs.of(on):
        if runs.get(check.external_id or "") == "workflow_dispatch":
            continue
        found.setdefault(check.name, {})[_app_id(forge, check.app)] = _state(check)
    return found


def _state(check: CheckRun) -> CheckState:
    if check.status != "completed":
        return "pending"
    return "green" if check.conclusion in _PASSES else "failing"


def _app_id(forge: Forge, slug: str) -> int:
    """Return the id of an App by its slug; 0: there is none."""
    if slug == ACTIONS_APP:
        return ACTIONS_APP_ID
    bot = forge.user(f"{slug}[bot]")
    return app_id(forge, bot.id) if bot is not None else 0


@dataclass(frozen=True, slots=True)
class Verdict:
    """Which refs of a push are refused, why, and what its sender is told."""

    refused: Mapping[str, str] = field(default_factory=dict)
    """The reason that git shows in brackets, by ref."""
    said: str = ""
    """Lines for `remote:`."""


@dataclass(frozen=True, slots=True)
class Opinion:
    """What all that binds a ref has against a change of it."""

    of_protection: tuple[Violation, ...]
    of_rulesets: tuple[Violation, ...]

    @property
    def is_empty(self) -> bool:
        """Whether nothing stands against the change."""
        return not (self.of_protection or self.of_rulesets)

    def refusal(self, ref: str, page: str) -> tuple[str, str]:
        """Return why a push may not move a ref, and what is said; empty: it may.

        `page` is the address of the repository's page.
        """
        if self.of_rulesets:
            every = [*self.of_protection, *self.of_rulesets]
            return words.RULES, words.against_rules(ref, page, every)
        if self.of_protection:
            return words.PROTECTED, words.protected(ref, self.of_protection)
        return "", ""


def opinion_of(binding: tuple[Binding, ...], change: RefChange) -> Opinion:
    """Ask every rule that binds a ref, and mind who may bypass it."""
    passes = {"always"} | ({"pull_requests_only"} if change.pull is not None else set())
    against: dict[str, dict[Violation, None]] = {"protection": {}, "ruleset": {}}
    for one in binding:
        if one.bypass not in passes:
            against[one.source].update(dict.fromkeys(violations(one.rules, change)))
    return Opinion(tuple(against["protection"]), tuple(against["ruleset"]))
