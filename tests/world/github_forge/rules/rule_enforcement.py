"""Holds a repository's rules wherever a ref moves: pushes, refs by REST, merges.

Without any a repository has no rules; the `workflows` right holds everywhere.
Which status REST answers with is as published where it is (405 for merges:
https://docs.github.com/rest/pulls/pulls#merge-a-pull-request), else as clients report
it: 422 for refs, 403 for a missing right.

https://github.com/dimileeh/agent-workspace-fabric/pull/353,
https://github.com/bazelbuild/continuous-integration/pull/2178
"""

import asyncio
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Final, Literal, get_args

from brat.forge.resources.forge_records import Pull, Repository, Token, User
from brat.forge.resources.wire import Refused
from brat.forge.service.running_forge import Service
from brat.forge.storage.forge_state import Caller, Forge
from brat.forge.storage.git_storage import Move
from tests.world.github_forge.rules import refusal_words as words, rule_types as rules
from tests.world.github_forge.rules.push_judge import (
    Opinion,
    Standing,
    Verdict,
    change_of,
    checks_of,
    judge,
    opinion_of,
)
from tests.world.github_forge.rules.pushed_commits import (
    MergedPull,
    PushedObjects,
    RefChange,
)
from tests.world.github_forge.rules.rule_bindings import (
    Binding,
    Mover,
    binding,
    mover,
    without_queue,
)
from tests.world.github_forge.shapes import NOREPLY, MergeMethod, said_in

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

    async def judge_push(
        self, repo: Repository, caller: Caller, moves: list[Move], new: Path | None
    ) -> Verdict:
        """Judge a push; `new` is the folder of objects that it brings.

        The caller holds the repository's lock, and moves nothing meanwhile.
        """
        standing = self._standing(repo, caller, moves)
        bare = self._forge.bare(repo).path
        return await asyncio.to_thread(_judged, bare, new, moves, standing)

    def check_move(self, repo: Repository, caller: Caller, move: Move) -> None:
        """Check that a ref may be moved by REST.

        Raises `Refused`: 422 for the rules, 403 for the `workflows` right.
        """
        objects = PushedObjects(self._forge.bare(repo).path, None)
        if not may_change_workflows(caller.token) and move.after is not None:
            self._check_workflows(objects, move.before, move.after)
        held = binding(
            self._forge, repo, move.ref, mover(self._forge, repo, caller.user)
        )
        checks = (
            {move.after: checks_of(self._forge, repo, move.after)} if move.after else {}
        )
        change = change_of(move, held, objects, checks, self._signed(repo))
        self._refuse(422, opinion_of(held, change))

    def check_merge(
        self, repo: Repository, caller: Caller, pull: Pull, method: MergeMethod
    ) -> None:
        """Check that a pull request may be merged.

        Raises `Refused`: 405 for the rules, 403 for the `workflows` right.
        """
        if not may_change_workflows(caller.token):
            objects = PushedObjects(self._forge.bare(repo).path, None)
            self._check_workflows(objects, pull.base_sha, pull.head_sha)
        who = mover(self._forge, repo, caller.user)
        held = self.held(repo, who, pull)
        said = method_refusal(held, method)
        if said:
            raise Refused(405, said)
        if held:
            change = self.merge_of(repo, pull, (method, who), held)
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
            self.merge_of(repo, pull, (method, who), held)
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

    def _standing(
        self, repo: Repository, caller: Caller, moves: list[Move]
    ) -> Standing:
        who = mover(self._forge, repo, caller.user)
        new = {move.after for move in moves if move.after is not None}
        return Standing(
            page=self._service.site.page(repo.full_name),
            default_branch=repo.default_branch,
            may_change_workflows=may_change_workflows(caller.token),
            bindings={
                move.ref: binding(self._forge, repo, move.ref, who) for move in moves
            },
            checks={sha: checks_of(self._forge, repo, sha) for sha in new},
            signed=self._signed(repo),
        )

    def merge_of(
        self,
        repo: Repository,
        pull: Pull,
        how: tuple[MergeMethod, Mover],
        held: tuple[Binding, ...],
    ) -> RefChange:
        method, who = how
        objects = PushedObjects(self._forge.bare(repo).path, None)
        move = Move(f"refs/heads/{pull.base}", pull.base_sha, pull.head_sha)
        read = change_of(move, held, objects, {}, self._signed(repo))
        return RefChange(
            ref=move.ref,
            before=move.before,
            after=move.after,
            commits=read.commits,
            checks=checks_of(self._forge, repo, pull.head_sha),
            signed=read.signed,
            pull=MergedPull(
                method=method,
                approvals=verdicts(self._forge, repo, pull).count("APPROVED"),
                by_author=who.user.id == self._forge.issue_of(pull).author,
                up_to_date=self._forge.bare(repo).reaches(pull.head_sha, pull.base_sha),
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

    def _check_workflows(
        self, objects: PushedObjects, before: str | None, after: str
    ) -> None:
        path = objects.changed_workflow(objects.new_to(before, after))
        if path is not None:
            raise Refused(403, words.workflow(path))

    def _refuse(self, status: int, opinion: Opinion) -> None:
        if opinion.of_rulesets:
            every = [*opinion.of_protection, *opinion.of_rulesets]
            said = "".join(f"{each.text}\n\n" for each in every)
            raise Refused(status, f"Repository rule violations found\n\n{said}")
        if opinion.of_protection:
            said = " ".join(each.text for each in opinion.of_protection)
            raise Refused(status, said)


def may_change_workflows(token: Token) -> bool:
    """Say whether a token has the `workflows` right; a person's always has."""
    if token.access is None:
        return True
    return dict(token.access.permissions).get("workflows") == "write"


def _judged(
    bare: Path, new: Path | None, moves: Iterable[Move], standing: Standing
) -> Verdict:
    return judge(list(moves), standing, PushedObjects(bare, new))
