"""Merge queues: entries, their groups, and what lands.

https://docs.github.com/repositories/configuring-branches-and-merges-in-your-repository/configuring-pull-request-merges/managing-a-merge-queue
"""

import asyncio
from typing import Any, Final, Literal

from msgspec.structs import replace

from brat.forge.resources.forge_records import (
    IssueEvent,
    Pull,
    Record,
    Repository,
    User,
)
from brat.forge.resources.wire import Refused
from brat.forge.service.announcements import Kind
from brat.forge.service.running_forge import Service
from brat.forge.storage.git_storage import Move
from brat.forge.storage.record_store import Table
from tests.world.github_forge import rest_pulls
from tests.world.github_forge.rules.push_judge import checks_of, opinion_of
from tests.world.github_forge.rules.push_rules import check_state
from tests.world.github_forge.rules.rule_bindings import (
    mover,
    protection_of,
    rulesets_on,
    without_queue,
)
from tests.world.github_forge.rules.rule_enforcement import RuleEnforcement
from tests.world.github_forge.rules.rule_types import (
    RequiredStatusChecks,
)


class QueueEntry(Record, frozen=True, kw_only=True):
    """A pull request in the merge queue of its base; its id is the order of coming."""

    repo: int
    base: str
    pull: int
    number: int
    head_sha: str
    """The head that was queued; another one is not."""
    enqueuer: int
    group_base: str = ""
    """What its group was built on."""
    group_sha: str = ""
    """The commit that is judged and lands; empty: not built yet."""

    @property
    def group_ref(self) -> str:
        """The branch that holds its group.

        https://docs.github.com/repositories/configuring-branches-and-merges-in-your-repository/configuring-pull-request-merges/managing-a-merge-queue
        """
        name = f"gh-readonly-queue/{self.base}/pr-{self.number}-{self.group_base}"
        return f"refs/heads/{name}"


ADDED: Final = "added_to_merge_queue"
REMOVED: Final = "removed_from_merge_queue"


class Leaving(Record, frozen=True, kw_only=True):
    """Why a pull request left its queue; its id is that of the event that says so."""

    reason: str


def note(
    service: Service, pull: Pull, actor: User, event: str, commit: str | None = None
) -> IssueEvent:
    """Note that a pull request came into its queue, or left it with this group."""
    store = service.forge.store
    return store.issue_events.put(
        IssueEvent(
            id=store.next_id(),
            issue=pull.id,
            actor=actor.id,
            event=event,
            created_at=service.forge.now(),
            commit=commit,
        )
    )


def check_queued(service: Service, repo: Repository, user: User, pull: Pull) -> None:
    """Check that a merge queue may take a pull request, or keep it.

    Its base need not be in it: the queue brings that in.

    Raises `Refused`: 422.
    """
    who = mover(service.forge, repo, user)
    held, queue = without_queue(RuleEnforcement(service).held(repo, who, pull))
    if queue is None:
        raise Refused(422, f"The branch {pull.base} has no merge queue")
    change = RuleEnforcement(service).merge_of(repo, pull, ("merge", who))
    opinion = opinion_of(held, change.brought_up_to_date())
    every = (*opinion.of_protection, *opinion.of_rulesets)
    if every:
        raise Refused(422, " ".join(each.text for each in every))


ACTOR: Final = "github-merge-queue[bot]"
"""Who moves what a queue moves: https://github.com/objectstack-ai/objectstack/issues/19343"""
Removal = Literal[
    "MANUAL",
    "MERGE",
    "MERGE_CONFLICT",
    "CI_FAILURE",
    "ALREADY_MERGED",
    "BRANCH_PROTECTIONS",
]
"""https://docs.github.com/webhooks/webhook-events-and-payloads?actionType=dequeued#pull_request"""
_REASONS: Final[dict[Removal, str]] = {"CI_FAILURE": "failed_checks", "MERGE": "merged"}
"""How the timeline of a pull request names what a webhook names otherwise."""


class MergeGroups:
    """Builds, judges and lands; the caller holds the repository's lock."""

    def __init__(self, service: Service, entries: Table[QueueEntry]) -> None:
        self._service = service
        self._forge = service.forge
        self._store = service.forge.store
        self._entries = entries
        self.left = Table(service.forge.store, Leaving, lambda one: one.id)

    def actor(self) -> User:
        """Return the account that moves what a queue moves."""
        return self._forge.add_user(ACTOR, kind="Bot")

    def line(self, repo: Repository, base: str) -> list[QueueEntry]:
        """Return the entries of a branch's queue, first the one that is next."""
        found = [one for one in self._entries.of(repo.id) if one.base == base]
        return sorted(found, key=lambda one: one.id)

    def advance(self, repo: Repository, base: str) -> None:
        """Do all that can be done now; safe to call at any time."""
        while self._step(repo, base):
            pass

    def remove(
        self,
        repo: Repository,
        entry: QueueEntry,
        why: Removal,
        user: User | None = None,
    ) -> None:
        pull = self._store.pulls.get(entry.pull)
        with self._store.change():
            self._drop(repo, entry)
            self._entries.remove(entry)
            if pull is not None:
                actor = user or self.actor()
                group = entry.group_sha or None
                left = note(self._service, pull, actor, REMOVED, group)
                said = _REASONS.get(why, why.lower())
                self.left.put(Leaving(id=left.id, reason=said))
                events = self._service.events
                events.tell(repo, actor, "dequeued", pull, reason=why)

    # --- one step -----------------------------------------------------------------

    def _step(self, repo: Repository, base: str) -> bool:
        """Do the first thing that is due; say whether there was one."""
        line = self.line(repo, base)
        for entry in line:
            if (why := self._unfit(repo, entry)) is not None:
                self.remove(repo, entry, why)
                return True
        tip = self._forge.bare(repo).tip(base)
        if tip is None:
            return False
        for entry in line:
            if not entry.group_sha or entry.group_base != tip:
                self._build(repo, entry, tip)
                return True
            tip = entry.group_sha
        return self._judge(repo, line)

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

    def _build(self, repo: Repository, entry: QueueEntry, onto: str) -> None:
        pull = self._store.pulls.get(entry.pull)
        assert pull is not None
        options = rest_pulls.MergeAsked()
        there = replace(pull, base_sha=onto)
        try:
            made = rest_pulls.build(self._forge, repo, there, options, self.actor())
        except Refused:
            self.remove(repo, entry, "MERGE_CONFLICT")
            return
        with self._store.change():
            self._drop(repo, entry)
            entry = self._entries.put(
                replace(
                    entry,
                    group_base=onto,
                    group_sha=made,
                )
            )
            self._forge.bare(repo).move(entry.group_ref, made)
            self._settle(repo, Move(entry.group_ref, None, made))

    def _drop(self, repo: Repository, entry: QueueEntry) -> None:
        """Delete the branch of a group, if there is one; only inside `Store.change`."""
        if not entry.group_sha:
            return
        bare = self._forge.bare(repo)
        if bare.ref(entry.group_ref) is not None:
            bare.move(entry.group_ref, None)
            self._settle(repo, Move(entry.group_ref, entry.group_sha, None))

    # --- what CI says -------------------------------------------------------------

    def _judge(self, repo: Repository, built: list[QueueEntry]) -> bool:
        states = [self._states(repo, entry) for entry in built]
        red = (place for place, one in enumerate(states) if not one <= {"green"})
        ready = built[: next(red, len(built))]
        for entry, said in zip(built, states, strict=True):
            if "failing" in said:
                self.remove(repo, entry, "CI_FAILURE")
                return True
        if not ready:
            return False
        self._land(repo, ready)
        return True

    def _states(self, repo: Repository, entry: QueueEntry) -> set[str]:
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

    def _land(self, repo: Repository, ready: list[QueueEntry]) -> None:
        base, tip = ready[0].base, ready[-1].group_sha
        bare, actor = self._forge.bare(repo), self.actor()
        move = Move(f"refs/heads/{base}", bare.tip(base), tip)
        bare.move(move.ref, tip)
        with self._store.change():
            for entry in ready:
                pull = self._store.pulls.get(entry.pull)
                assert pull is not None
                self._service.merged(repo, actor, pull, entry.group_sha)
            self._service.settle(repo, actor, [move])
            for entry in ready:
                self.remove(repo, entry, "MERGE")

    def _settle(self, repo: Repository, move: Move) -> None:
        self._service.settle(repo, self.actor(), [move])


LOOK_S = 5.0
"""How often a queue is looked at in which nothing happens: times may have run out."""


class MergeQueues:
    def __init__(self, service: Service) -> None:
        """Move queues on from now on, whenever something happens."""
        self._service = service
        self._entries = Table(service.forge.store, QueueEntry, lambda one: one.repo)
        self._groups = MergeGroups(service, self._entries)
        self._happened = asyncio.Event()
        service.events.heard_by.append(self._hear)
        service.spawn(self._run(), "merge queues")

    def entry(self, pull: Pull) -> QueueEntry | None:
        """Return a pull request's entry; None: it is in no queue."""
        found = [one for one in self._entries.of(pull.repo) if one.pull == pull.id]
        return found[0] if found else None

    def reason(self, event: IssueEvent) -> str | None:
        """Return why a pull request left its queue; None: it came into it."""
        left = self._groups.left.get(event.id)
        return left.reason if left is not None else None

    async def enqueue(
        self,
        repo: Repository,
        pull: Pull,
        user: User,
        *,
        head: str | None = None,
    ) -> QueueEntry:
        """Put a pull request into the queue of its base.

        Raises `Refused`: 422: it is not ready, is in already, or has another head.
        """
        async with self._service.lock(repo):
            pull = self._service.forge.store.pulls.get(pull.id) or pull
            if head is not None and head != pull.head_sha:
                raise Refused(422, f"Expected head {head}, found {pull.head_sha}")
            issue = self._service.forge.issue_of(pull)
            if issue.state == "closed" or pull.draft:
                raise Refused(422, "Pull Request is not mergeable")
            if self.entry(pull) is not None:
                # https://github.com/ClickHouse/ClickHouse/pull/109183
                raise Refused(422, "Pull request is already in the queue")
            try:
                check_queued(self._service, repo, user, pull)
            except Refused as refused:
                # https://github.com/github/app/issues/93
                raise Refused(422, f"Pull request {refused.message}") from None
            store = self._service.forge.store
            with store.change():
                entry = self._entries.put(
                    QueueEntry(
                        id=store.next_id(),
                        repo=repo.id,
                        base=pull.base,
                        pull=pull.id,
                        number=pull.number,
                        head_sha=pull.head_sha,
                        enqueuer=user.id,
                    )
                )
                note(self._service, pull, user, ADDED)
                self._service.events.tell(repo, user, "enqueued", pull)
        self._happened.set()
        return entry

    async def dequeue(self, repo: Repository, entry: QueueEntry, user: User) -> None:
        """Take a pull request out of its queue, as a person wants it."""
        async with self._service.lock(repo):
            self._groups.remove(repo, entry, "MANUAL", user)
        self._happened.set()

    def _hear(self, _: Repository, __: User, ___: Kind, ____: dict[str, Any]) -> None:
        self._happened.set()

    async def _run(self) -> None:
        while True:
            try:
                async with asyncio.timeout(LOOK_S):
                    await self._happened.wait()
            except TimeoutError:
                pass
            self._happened.clear()
            for repo_id, base in {(one.repo, one.base) for one in self._entries.all()}:
                repo = self._service.forge.store.repositories.get(repo_id)
                assert repo is not None
                async with self._service.lock(repo):
                    self._groups.advance(repo, base)
