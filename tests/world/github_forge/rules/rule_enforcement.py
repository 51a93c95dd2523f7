"""Holds a repository's rules wherever a ref moves: pushes, refs by REST, merges.

Without any a repository has no rules. Which status REST answers with is as published
where it is (405 for merges:
https://docs.github.com/rest/pulls/pulls#merge-a-pull-request), else as clients report
it: 422 for refs, https://github.com/dimileeh/agent-workspace-fabric/pull/353
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Final, Literal, get_args

from brat.forge.resources.forge_records import Pull, Repository, User
from brat.forge.resources.wire import Refused
from brat.forge.service.running_forge import Service
from brat.forge.storage.forge_state import Caller, Forge
from brat.forge.storage.git_storage import Move
from tests.world.github_forge.rules import rule_types as rules
from tests.world.github_forge.rules.push_judge import (
    Opinion,
    Verdict,
    checks_of,
    opinion_of,
)
from tests.world.github_forge.rules.ref_changes import MergedPull, RefChange
from tests.world.github_forge.rules.rule_bindings import (
    Binding,
    Mover,
    binding,
    mover,
    without_queue,
)
from tests.world.github_forge.shapes import NOREPLY, MergeMethod, between, said_in

_REFUSED: Final = "Merge commits are not allowed on this repository."


def method_refusal(held: Iterable[Binding], method: MergeMethod) -> str:
    """Return why nobody who is bound by `held` may merge so; empty: they may."""
    asked = (rule for one in held if one.bypass == "never" for rule in one.rules)
    is_linear = any(isinstance(rule, rules.RequiredLinearHistory) for rule in asked)
    return _REFUSED if is_linear and method == "merge" else ""


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


MergeState = Literal["clean", "behind", "blocked"]


class RuleEnforcement:
    """The rules of all repositories of a forge."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._forge = service.forge

    def judge_push(
        self, repo: Repository, caller: Caller, moves: list[Move]
    ) -> Verdict:
        who = mover(self._forge, repo, caller.user)
        page, refused, told = self._service.site.page(repo.full_name), {}, ""
        for move in moves:
            opinion = self._opinion(repo, who, move, forced=False)
            why, said = opinion.refusal(move.ref, page)
            told += said
            if why:
                refused[move.ref] = why
        return Verdict(refused, told)

    def check_move(self, repo: Repository, caller: Caller, move: Move) -> None:
        """Check that a ref may be moved by REST.

        Raises `Refused`: 422.
        """
        who = mover(self._forge, repo, caller.user)
        bare, before, after = self._forge.bare(repo), move.before, move.after
        forced = before and after and not bare.reaches(after, before)
        self._refuse(422, self._opinion(repo, who, move, forced=bool(forced)))

    def check_merge(
        self, repo: Repository, caller: Caller, pull: Pull, method: MergeMethod
    ) -> None:
        """Check that a pull request may be merged.

        Raises `Refused`: 405.
        """
        who = mover(self._forge, repo, caller.user)
        held = self.held(repo, who, pull)
        said = method_refusal(held, method)
        if said:
            raise Refused(405, said)
        if held:
            change = self.merge_of(repo, pull, (method, who))
            self._refuse(405, opinion_of(held, change))

    def merge_state(self, repo: Repository, pull: Pull) -> MergeState:
        """Say what the rules have against a merge by the best method; no bypass counts.

        Where there is a merge queue, it says what they have against queueing.

        https://docs.github.com/graphql/reference/enums#mergestatestatus
        """
        author = self._forge.issue_of(pull).author
        by = User(id=author, login="", kind="User", created_at="")
        who = Mover(by, "none", None)
        held, queue = without_queue(
            tuple(replace(one, bypass="never") for one in self.held(repo, who, pull))
        )
        if not held:
            return "clean"
        changes = [
            self.merge_of(repo, pull, (method, who))
            for method in get_args(MergeMethod)
            if not method_refusal(held, method)
        ]
        newest = [change.brought_up_to_date() for change in changes]
        now = newest if queue is not None else changes
        if any(opinion_of(held, change).is_empty for change in now):
            return "clean"
        is_only_behind = any(opinion_of(held, each).is_empty for each in newest)
        return "behind" if is_only_behind else "blocked"

    def held(self, repo: Repository, who: Mover, pull: Pull) -> tuple[Binding, ...]:
        """Return what binds a merge; what comes in was judged when it was pushed."""
        return binding(self._forge, repo, f"refs/heads/{pull.base}", who)

    def _opinion(
        self, repo: Repository, who: Mover, move: Move, *, forced: bool
    ) -> Opinion:
        held = binding(self._forge, repo, move.ref, who)
        checks = checks_of(self._forge, repo, move.after) if move.after else {}
        change = RefChange(move.before, move.after, forced=forced, checks=checks)
        return opinion_of(held, change)

    def merge_of(
        self, repo: Repository, pull: Pull, how: tuple[MergeMethod, Mover]
    ) -> RefChange:
        (method, who), bare = how, self._forge.bare(repo)
        commits = between(bare, pull.base_sha, pull.head_sha)
        return RefChange(
            before=pull.base_sha,
            after=pull.head_sha,
            checks=checks_of(self._forge, repo, pull.head_sha),
            pull=MergedPull(
                method=method,
                approvals=verdicts(self._forge, repo, pull).count("APPROVED"),
                by_author=who.user.id == self._forge.issue_of(pull).author,
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

    def _refuse(self, status: int, opinion: Opinion) -> None:
        if opinion.of_rulesets:
            every = [*opinion.of_protection, *opinion.of_rulesets]
            said = "".join(f"{each.text}\n\n" for each in every)
            raise Refused(status, f"Repository rule violations found\n\n{said}")
        if opinion.of_protection:
            said = " ".join(each.text for each in opinion.of_protection)
            raise Refused(status, said)
