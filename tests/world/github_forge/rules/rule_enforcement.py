"""Holds a repository's rules wherever a ref moves: pushes, refs by REST, merges.

Without any a repository has no rules. Which status REST answers with is as published
where it is (405 for merges:
https://docs.github.com/rest/pulls/pulls#merge-a-pull-request), else as clients report
it: 422 for refs, https://github.com/dimileeh/agent-workspace-fabric/pull/353
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final, Literal, get_args
from urllib.parse import quote

from brat.forge.resources.forge_records import (
    ACTIONS_APP,
    ACTIONS_APP_ID,
    CheckRun,
    Pull,
    Repository,
    User,
)
from brat.forge.resources.wire import Refused
from brat.forge.service.running_forge import Service
from brat.forge.storage.forge_state import Forge
from brat.forge.storage.git_storage import Move
from tests.world.github_forge.apps import app_id
from tests.world.github_forge.rules.push_rules import (
    Checks,
    CheckState,
    MergedPull,
    RefChange,
    violations,
)
from tests.world.github_forge.rules.rule_bindings import (
    HEADS,
    Binding,
    binding,
    without_queue,
)
from tests.world.github_forge.shapes import NOREPLY, MergeMethod, between, said_in

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
class Opinion:
    """What all that binds a ref has against a change of it: GitHub's sentences."""

    sentences: tuple[str, ...]
    by_rulesets: bool

    def refusal(self, ref: str, page: str) -> tuple[str, str]:
        """Return why a push may not move a ref, and what is said behind `remote:`.

        `page` is the address of the repository's page. The words are git's and
        GitHub's: tests/bot/forge/transcripts holds them.
        """
        listed = "".join(f"\n- {each}\n" for each in self.sentences)
        if self.by_rulesets:
            head = f"error: GH013: Repository rule violations found for {ref}.\n"
            where = f"{page}/rules?ref={quote(ref, safe='')}"
            head += f"Review all repository rules at {where}\n"
            why = "push declined due to repository rule violations"
            return why, head + listed + "\n"
        head = f"error: GH006: Protected branch update failed for {ref}.\n"
        return "protected branch hook declined", head + listed

    def refuse(self, status: int) -> None:
        """Raise `Refused` if anything stands against the change."""
        if self.by_rulesets:
            said = "".join(f"{each}\n\n" for each in self.sentences)
            raise Refused(status, f"Repository rule violations found\n\n{said}")
        if self.sentences:
            raise Refused(status, " ".join(self.sentences))


def opinion_of(held: Iterable[Binding], change: RefChange) -> Opinion:
    """Ask every rule that binds a ref, and mind who may bypass it."""
    passes = {"always"} | ({"pull_requests_only"} if change.pull is not None else set())
    binds = [one for one in held if one.bypass not in passes]
    found = {
        said: one.source for one in binds for said in violations(one.rules, change)
    }
    return Opinion(tuple(found), by_rulesets="ruleset" in found.values())


def method_refusal(held: Iterable[Binding], method: MergeMethod) -> str:
    """Return why nobody who is bound by `held` may merge so; empty: they may."""
    asked = (rule for one in held if one.bypass == "never" for rule in one.rules)
    is_linear = any(rule["type"] == "required_linear_history" for rule in asked)
    refused = "Merge commits are not allowed on this repository."
    return refused if is_linear and method == "merge" else ""


def verdicts(forge: Forge, repo: Repository, pull: Pull) -> list[str]:
    """Return the newest states of the reviews by others who may write, each's one."""
    newest = {
        review.user: review.state
        for review in said_in(forge.store).reviews.of(pull.id)
        if review.state != "COMMENTED"
    }
    newest.pop(forge.issue_of(pull).author, None)
    return [
        newest[who.id]
        for who in map(forge.store.users.get, newest)
        if who is not None and forge.may(repo, who, "write")
    ]


class RuleEnforcement:
    """The rules of all repositories of a forge."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._forge = service.forge

    def judge_push(
        self, repo: Repository, user: User, moves: list[Move]
    ) -> tuple[dict[str, str], str]:
        """Return which refs are refused and why, and the lines for `remote:`."""
        page, refused, told = self._service.site.page(repo.full_name), {}, ""
        for move in moves:
            opinion = self._opinion(repo, user, move)
            if opinion.sentences:
                refused[move.ref], said = opinion.refusal(move.ref, page)
                told += said
        return refused, told

    def check_move(self, repo: Repository, user: User, move: Move) -> None:
        """Check that a ref may be moved by REST.

        Raises `Refused`: 422.
        """
        self._opinion(repo, user, move).refuse(422)

    def check_merge(
        self, repo: Repository, user: User, pull: Pull, method: MergeMethod
    ) -> None:
        """Check that a pull request may be merged.

        Raises `Refused`: 405.
        """
        held = self.held(repo, user, pull)
        if said := method_refusal(held, method):
            raise Refused(405, said)
        if held:
            opinion_of(held, self.merge_of(repo, pull, method, user)).refuse(405)

    def merge_state(
        self, repo: Repository, pull: Pull
    ) -> Literal["clean", "behind", "blocked"]:
        """Say what the rules have against a merge by the best method; no bypass counts.

        Where there is a merge queue, it says what they have against queueing.

        https://docs.github.com/graphql/reference/enums#mergestatestatus
        """
        author = self._forge.store.users.get(self._forge.issue_of(pull).author)
        assert author is not None
        bound = (replace(one, bypass="never") for one in self.held(repo, author, pull))
        held, queued = without_queue(tuple(bound))
        if not held:
            return "clean"
        changes = [
            self.merge_of(repo, pull, method, author)
            for method in get_args(MergeMethod)
            if not method_refusal(held, method)
        ]
        newest = [change.brought_up_to_date() for change in changes]
        now = newest if queued else changes
        if not all(opinion_of(held, change).sentences for change in now):
            return "clean"
        is_only_behind = not all(opinion_of(held, each).sentences for each in newest)
        return "behind" if is_only_behind else "blocked"

    def held(self, repo: Repository, who: User, pull: Pull) -> tuple[Binding, ...]:
        """Return what binds a merge; what comes in was judged when it was pushed."""
        return binding(self._forge, repo, HEADS + pull.base, who)

    def _opinion(self, repo: Repository, who: User, move: Move) -> Opinion:
        held = binding(self._forge, repo, move.ref, who)
        checks = checks_of(self._forge, repo, move.after) if move.after else {}
        return opinion_of(held, RefChange(checks))

    def merge_of(
        self, repo: Repository, pull: Pull, method: MergeMethod, who: User
    ) -> RefChange:
        bare = self._forge.bare(repo)
        commits = between(bare, pull.base_sha, pull.head_sha)
        return RefChange(
            checks=checks_of(self._forge, repo, pull.head_sha),
            pull=MergedPull(
                method=method,
                approvals=verdicts(self._forge, repo, pull).count("APPROVED"),
                by_author=who.id == self._forge.issue_of(pull).author,
                up_to_date=bare.reaches(pull.head_sha, pull.base_sha),
                commits=[str(one.id) for one in commits],
                signed=self._signed(repo),
            ),
        )

    def _signed(self, repo: Repository) -> frozenset[str]:
        """Return the commits that merges made here; GitHub signs them itself.

        https://docs.github.com/authentication/managing-commit-signature-verification/about-commit-signature-verification
        """
        pulls, bare = self._forge.store.pulls.of(repo.id), self._forge.bare(repo)
        made = (bare.commit(one.merge_commit or "") for one in pulls)
        own = (one for one in made if one and one.committer.email.endswith(NOREPLY))
        return frozenset(str(one.id) for one in own)
