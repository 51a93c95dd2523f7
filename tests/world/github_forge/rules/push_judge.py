"""Judges a push before anything of it is taken: each ref apart, and with a reason.

Everything here is a function of plain data and of objects read from git, so that it
can run in a thread beside the event loop.

https://docs.github.com/pull-requests/collaborating-with-pull-requests/collaborating-on-repositories-with-code-quality-features/about-status-checks
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Final

import pygit2

from brat.forge.resources.forge_records import (
    ACTIONS_APP,
    ACTIONS_APP_ID,
    CheckRun,
    Repository,
)
from brat.forge.storage.forge_state import Forge
from brat.forge.storage.git_storage import Move
from tests.world.github_forge.apps import app_id
from tests.world.github_forge.rules import refusal_words as words, rule_types as rules
from tests.world.github_forge.rules.push_rules import Violation, violations
from tests.world.github_forge.rules.pushed_commits import (
    Checks,
    CheckState,
    PushedCommit,
    PushedObjects,
    RefChange,
)
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


_OF_COMMITS: Final = (rules.RequiredLinearHistory, rules.RequiredSignatures)


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What the forge knows of a push before it looks into it."""

    page: str
    """The address of the repository's page."""
    default_branch: str
    may_change_workflows: bool
    bindings: Mapping[str, tuple[Binding, ...]]
    """By ref."""
    checks: Mapping[str, Checks]
    """By commit."""
    signed: Collection[str]
    """The commits that the forge made and signed."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Which refs of a push are refused, why, and what its sender is told."""

    refused: Mapping[str, str] = field(default_factory=dict)
    """The reason that git shows in brackets, by ref."""
    said: str = ""
    """Lines for `remote:`."""


def judge(moves: list[Move], standing: Standing, objects: PushedObjects) -> Verdict:
    """Judge every ref of a push, and the push as a whole.

    A push that lacks objects which it stands on cannot be judged, so none is taken.
    """
    try:
        return _judged(moves, standing, objects)
    except (KeyError, pygit2.GitError):
        return Verdict({move.ref: words.INCOMPLETE for move in moves})


def _judged(moves: list[Move], standing: Standing, objects: PushedObjects) -> Verdict:
    refused, told = dict[str, str](), list[str]()
    for move in moves:
        reason, said = _judge_ref(move, standing, objects)
        told.append(said)
        if reason:
            refused[move.ref] = reason
    return Verdict(refused, "".join(told))


def _judge_ref(
    move: Move, standing: Standing, objects: PushedObjects
) -> tuple[str, str]:
    """Return the reason to refuse a ref, or nothing, and what is said of it."""
    if move.after is None and move.ref == f"refs/heads/{standing.default_branch}":
        return f"refusing to delete the current branch: {move.ref}", ""
    binding = standing.bindings.get(move.ref, ())
    change = change_of(move, binding, objects, standing.checks, standing.signed)
    opinion = opinion_of(binding, change)
    of_rulesets = [*opinion.of_rulesets]
    path = None
    if not standing.may_change_workflows and move.after is not None:
        path = objects.changed_workflow(objects.new_to(move.before, move.after))
    if path is not None:
        of_rulesets.append(Violation(words.workflow(path)))
    if of_rulesets:
        every = [*opinion.of_protection, *of_rulesets]
        return words.RULES, words.against_rules(move.ref, standing.page, every)
    if opinion.of_protection:
        return words.PROTECTED, words.protected(move.ref, opinion.of_protection)
    return "", ""


@dataclass(frozen=True, slots=True)
class Opinion:
    """What all that binds a ref has against a change of it."""

    of_protection: tuple[Violation, ...]
    of_rulesets: tuple[Violation, ...]

    @property
    def is_empty(self) -> bool:
        """Whether nothing stands against the change."""
        return not (self.of_protection or self.of_rulesets)


def opinion_of(binding: tuple[Binding, ...], change: RefChange) -> Opinion:
    """Ask every rule that binds a ref, and mind who may bypass it."""
    passes = {"always"} | ({"pull_requests_only"} if change.pull is not None else set())
    against: dict[str, dict[Violation, None]] = {"protection": {}, "ruleset": {}}
    for one in binding:
        if one.bypass not in passes:
            against[one.source].update(dict.fromkeys(violations(one.rules, change)))
    return Opinion(tuple(against["protection"]), tuple(against["ruleset"]))


def change_of(
    move: Move,
    binding: tuple[Binding, ...],
    objects: PushedObjects,
    checks: Mapping[str, Checks],
    signed: Collection[str],
) -> RefChange:
    """Read what a move means; commits only if a rule asks for them."""
    asked = [rule for one in binding for rule in one.rules]
    commits: tuple[PushedCommit, ...] = ()
    if move.after and any(isinstance(rule, _OF_COMMITS) for rule in asked):
        commits = objects.pushed(objects.new_to(move.before, move.after))
    return RefChange(
        ref=move.ref,
        before=move.before,
        after=move.after,
        forced=bool(asked) and objects.is_forced(move.before, move.after),
        commits=commits,
        checks=checks.get(move.after or "", {}),
        signed=signed,
    )
