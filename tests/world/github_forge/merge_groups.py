"""The groups of a merge queue: each is built on the one before, judged, and landed."""

from typing import Final, Literal

from msgspec.structs import replace

from brat.forge.resources.account_resource import Repository, User
from brat.forge.resources.issue_resource import Pull
from brat.forge.resources.run_resource import simple_commit
from brat.forge.resources.wire import Refused
from brat.forge.service.running_forge import Service
from brat.forge.storage.git_storage import Move
from brat.forge.storage.record_store import Table
from tests.world.github_forge import queue_events, rest_merges
from tests.world.github_forge.queue_entries import QueueEntry
from tests.world.github_forge.queue_rules import METHODS, check_queued
from tests.world.github_forge.rules.commit_checks import checks_of
from tests.world.github_forge.rules.push_rules import check_state
from tests.world.github_forge.rules.rule_bindings import protection_of, rulesets_on
from tests.world.github_forge.rules.rule_types import (
    MergeQueueParameters,
    RequiredStatusChecks,
)

ACTOR: Final = "github-merge-queue[bot]"
"""Who moves what a queue moves: https://github.com/objectstack-ai/objectstack/issues/19343"""
Removal = Literal[
    "MANUAL",
    "MERGE",
    "MERGE_CONFLICT",
    "CI_FAILURE",
    "ALREADY_MERGED",
    "QUEUE_CLEARED",
    "BRANCH_PROTECTIONS",
]
"""https://docs.github.com/webhooks/webhook-events-and-payloads?actionType=dequeued#pull_request"""
End = Literal["merged", "invalidated", "dequeued"]


class MergeGroups:
    """Builds, judges and lands; the caller holds the repository's lock."""

    def __init__(self, service: Service, entries: Table[QueueEntry]) -> None:
        """Work on the `entries` of `service`."""
        self._service = service
        self._forge = service.forge
        self._store = service.forge.store
        self._entries = entries

    def actor(self) -> User:
        """Return the account that moves what a queue moves."""
        return self._forge.add_user(ACTOR, kind="Bot")

    def line(self, repo: Repository, base: str) -> list[QueueEntry]:
        """Return the entries of a branch's queue, first the one that is next."""
        found = [one for one in self._entries.of(repo.id) if one.base == base]
        return sorted(found, key=lambda one: (not one.jump, one.id))

    def advance(
        self, repo: Repository, base: str, asked: MergeQueueParameters | None
    ) -> None:
        """Do all that can be done now; safe to call at any time."""
        while self._step(repo, base, asked):
            pass

    def remove(
        self,
        repo: Repository,
        entry: QueueEntry,
        why: Removal,
        user: User | None = None,
    ) -> None:
        """Take an entry out, and its group with it."""
        pull = self._store.pulls.get(entry.pull)
        with self._store.change():
            self._drop(repo, entry, "merged" if why == "MERGE" else "dequeued")
            self._entries.remove(entry)
            if pull is not None:
                actor = user or self.actor()
                queue_events.note(self._service, pull, actor, queue_events.REMOVED)
                events = self._service.events
                events.pull(repo, actor, "dequeued", pull, reason=why)

    # --- one step -----------------------------------------------------------------

    def _step(
        self, repo: Repository, base: str, asked: MergeQueueParameters | None
    ) -> bool:
        """Do the first thing that is due; say whether there was one."""
        line = self.line(repo, base)
        for entry in line:
            why = self._unfit(repo, entry) if asked is not None else "QUEUE_CLEARED"
            if why is not None:
                self.remove(repo, entry, why)
                return True
        tip = self._forge.bare(repo).tip(base)
        if asked is None or tip is None:
            return False
        built = line[: asked.max_entries_to_build or len(line)]
        for entry in built:
            if not entry.group_sha or entry.group_base != tip:
                self._build(repo, entry, tip, asked)
                return True
            tip = entry.group_sha
        return self._judge(repo, built, asked)

    def _unfit(self, repo: Repository, entry: QueueEntry) -> Removal | None:
        """Return why a pull request may not stay in the queue."""
        pull = self._store.pulls.get(entry.pull)
        if pull is None or pull.merged_at is not None:
            return "ALREADY_MERGED"
        if self._forge.issue_of(pull).state == "closed" or pull.base != entry.base:
            return "MANUAL"
        if pull.head_sha != entry.head_sha:
            return "BRANCH_PROTECTIONS"
        user = self._store.users.get(entry.enqueuer)
        assert user is not None
        try:
            check_queued(self._service, repo, user, pull)
        except Refused:
            return "BRANCH_PROTECTIONS"
        return None

    def _build(
        self,
        repo: Repository,
        entry: QueueEntry,
        onto: str,
        asked: MergeQueueParameters,
    ) -> None:
        pull = self._store.pulls.get(entry.pull)
        assert pull is not None
        options = rest_merges.MergeOptions(METHODS[asked.merge_method])
        there = replace(pull, base_sha=onto)
        try:
            made = rest_merges.build(self._forge, repo, there, options, self.actor())
        except Refused:
            self.remove(repo, entry, "MERGE_CONFLICT")
            return
        with self._store.change():
            self._drop(repo, entry, "invalidated")
            entry = self._entries.put(
                replace(
                    entry,
                    group_base=onto,
                    group_sha=made,
                    mergeable=False,
                )
            )
            self._forge.bare(repo).move(entry.group_ref, made)
            self._settle(repo, Move(entry.group_ref, None, made))
            self._tell(repo, entry, "checks_requested")

    def _drop(self, repo: Repository, entry: QueueEntry, reason: End) -> None:
        """Delete the branch of a group, if there is one; only inside `Store.change`."""
        if not entry.group_sha:
            return
        bare = self._forge.bare(repo)
        self._tell(repo, entry, "destroyed", reason=reason)
        if bare.ref(entry.group_ref) is not None:
            bare.move(entry.group_ref, None)
            self._settle(repo, Move(entry.group_ref, entry.group_sha, None))

    # --- what CI says -------------------------------------------------------------

    def _judge(
        self, repo: Repository, built: list[QueueEntry], asked: MergeQueueParameters
    ) -> bool:
        states = [self._states(repo, entry) for entry in built]
        red = (place for place, one in enumerate(states) if not one <= {"green"})
        ready = built[: next(red, len(built))]
        with self._store.change():
            for entry in ready:
                self._entries.put(replace(entry, mergeable=True))
        for entry, said in zip(built, states, strict=True):
            if "failing" in said:
                self.remove(repo, entry, "CI_FAILURE")
                return True
        if not ready:
            return False
        self._land(repo, ready[: asked.max_entries_to_merge or None], asked)
        return True

    def _states(self, repo: Repository, entry: QueueEntry) -> set[str]:
        """Return what the required checks say of an entry's group."""
        checks = checks_of(self._forge, repo, entry.group_sha)
        kept = protection_of(self._forge, repo, entry.base)
        rules = list(kept.rules()) if kept is not None else []
        for one in rulesets_on(self._forge, repo, f"refs/heads/{entry.base}"):
            rules += one.rules
        return {
            check_state(check, checks)
            for rule in rules
            if isinstance(rule, RequiredStatusChecks)
            for check in rule.parameters.required_status_checks
        }

    # --- landing ------------------------------------------------------------------

    def _land(
        self, repo: Repository, ready: list[QueueEntry], asked: MergeQueueParameters
    ) -> None:
        base, tip = ready[0].base, ready[-1].group_sha
        bare, actor = self._forge.bare(repo), self.actor()
        move = Move(f"refs/heads/{base}", bare.tip(base), tip)
        bare.move(move.ref, tip)
        with self._store.change():
            for entry in ready:
                pull = self._store.pulls.get(entry.pull)
                assert pull is not None
                self._merged(repo, pull, entry, signed=asked.merge_method != "REBASE")
            self._service.pushes.settle(repo, actor, [move])
            for entry in ready:
                self.remove(repo, entry, "MERGE")

    def _merged(
        self, repo: Repository, pull: Pull, entry: QueueEntry, *, signed: bool
    ) -> None:
        self._service.pushes.merged(
            repo, self.actor(), pull, entry.group_sha, signed=signed
        )

    # --- telling ------------------------------------------------------------------

    def _settle(self, repo: Repository, move: Move) -> None:
        self._service.pushes.settle(repo, self.actor(), [move])

    def _tell(
        self, repo: Repository, entry: QueueEntry, action: str, **more: str
    ) -> None:
        commit = self._forge.bare(repo).commit(entry.group_sha)
        assert commit is not None
        group = {
            "head_sha": entry.group_sha,
            "head_ref": entry.group_ref,
            "base_sha": entry.group_base,
            "base_ref": f"refs/heads/{entry.base}",
            "head_commit": simple_commit(commit),
        }
        body = {"merge_group": group} | more
        self._service.events.send(repo, self.actor(), ("merge_group", action), body)
