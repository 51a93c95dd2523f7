"""Merge queues: entries, their groups of one pull request each, and what lands.

https://docs.github.com/repositories/configuring-branches-and-merges-in-your-repository/configuring-pull-request-merges/managing-a-merge-queue
"""

import asyncio
from typing import Any, Final, Literal

from msgspec.structs import replace

from brat.forge.resources.forge_records import Owned, Pull, Repository, User
from brat.forge.resources.wire import Refused
from brat.forge.service.announcements import Kind
from brat.forge.service.running_forge import Service
from brat.forge.storage.git_storage import Move
from brat.forge.storage.record_store import Table
from tests.world.github_forge import rest_pulls
from tests.world.github_forge.rules.push_rules import check_state
from tests.world.github_forge.rules.rule_bindings import (
    HEADS,
    binding,
    parameters,
    without_queue,
)
from tests.world.github_forge.rules.rule_enforcement import (
    RuleEnforcement,
    checks_of,
    opinion_of,
)


class QueueEntry(Owned, frozen=True, kw_only=True):
    """A pull request in the merge queue of its base; its id is the order of coming."""

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
        return f"{HEADS}{name}"


ADDED: Final = "added_to_merge_queue"
REMOVED: Final = "removed_from_merge_queue"
ACTOR: Final = "github-merge-queue[bot]"
"""Who moves what a queue moves: https://github.com/objectstack-ai/objectstack/issues/19343"""
Removal = Literal[
    "MANUAL", "MERGE", "MERGE_CONFLICT", "CI_FAILURE", "BRANCH_PROTECTIONS"
]
"""https://docs.github.com/webhooks/webhook-events-and-payloads?actionType=dequeued#pull_request"""
_REASONS: Final[dict[Removal, str]] = {"CI_FAILURE": "failed_checks", "MERGE": "merged"}
"""How the timeline of a pull request names what a webhook names otherwise."""


class MergeQueues:
    def __init__(self, service: Service) -> None:
        """Move queues on from now on, whenever something happens."""
        self._service, self._forge = service, service.forge
        self._rules = RuleEnforcement(service)
        self._entries = Table(service.forge.store, QueueEntry, lambda one: one.repo)
        self.reasons: dict[int, str] = {}
        """Why each pull request, by its id, left its queue last."""
        self._happened = asyncio.Event()
        self._happened.set()
        service.events.heard_by.append(self._hear)
        service.spawn(self._run(), "merge queues")

    def entry(self, pull: Pull) -> QueueEntry | None:
        """Return a pull request's entry; None: it is in no queue."""
        found = [one for one in self._entries.of(pull.repo) if one.pull == pull.id]
        return found[0] if found else None

    async def enqueue(
        self, repo: Repository, pull: Pull, user: User, head: str | None
    ) -> None:
        """Put a pull request into the queue of its base.

        Raises `Refused`: 422: it is not ready, is in already, or has another head.
        """
        async with self._service.lock(repo):
            pull = self._forge.store.pulls.get(pull.id) or pull
            is_in = self.entry(pull) is not None
            if is_in or pull.draft or not self._fits(repo, pull, user, head):
                raise Refused(422, "Pull Request is not mergeable")
            new = QueueEntry(
                repo=repo.id,
                base=pull.base,
                pull=pull.id,
                number=pull.number,
                head_sha=pull.head_sha,
                enqueuer=user.id,
            )
            with self._forge.store.change():
                self._entries.add(new)
                self._forge.note(pull.id, user, ADDED)
                self._service.events.tell(repo, user, "enqueued", pull)

    async def dequeue(self, repo: Repository, entry: QueueEntry, user: User) -> None:
        """Take a pull request out of its queue, as a person wants it."""
        async with self._service.lock(repo):
            self._remove(repo, entry, "MANUAL", user)

    def _fits(self, repo: Repository, pull: Pull, user: User, head: str | None) -> bool:
        """Whether a merge queue may take a pull request with that head, or keep it.

        Its base need not be in it: the queue brings that in.
        """
        held, queued = without_queue(self._rules.held(repo, user, pull))
        is_open = self._forge.issue_of(pull).state == "open"
        if not (queued and is_open and head in {None, pull.head_sha}):
            return False
        change = self._rules.merge_of(repo, pull, "merge", user)
        return not opinion_of(held, change.brought_up_to_date()).sentences

    def _hear(self, _: Repository, __: User, ___: Kind, ____: dict[str, Any]) -> None:
        self._happened.set()

    async def _run(self) -> None:
        while True:
            await self._happened.wait()
            self._happened.clear()
            next_of = {(o.repo, o.base): o.id for o in reversed(self._entries.all())}
            for (number, _), entry in next_of.items():
                repo = self._forge.store.repositories.get(number)
                assert repo is not None
                async with self._service.lock(repo):
                    self._step(repo, entry)

    def _step(self, repo: Repository, number: int) -> None:
        """Do what is due for the first of a queue: what it does is heard again."""
        store, entry = self._forge.store, self._entries.get(number)
        if entry is None:
            return
        pull, user = store.pulls.get(entry.pull), store.users.get(entry.enqueuer)
        tip = self._forge.bare(repo).tip(entry.base)
        assert pull is not None
        assert user is not None
        assert tip is not None
        if not self._fits(repo, pull, user, entry.head_sha):
            self._remove(repo, entry, "BRANCH_PROTECTIONS")
        elif entry.group_base != tip:
            self._build(repo, entry, replace(pull, base_sha=tip))
        elif "failing" in (states := self._states(repo, entry)):
            self._remove(repo, entry, "CI_FAILURE")
        elif states <= {"green"}:
            self._land(repo, entry, pull)

    def _actor(self) -> User:
        """Return the account that moves what a queue moves."""
        return self._forge.add_user(ACTOR, kind="Bot")

    def _build(self, repo: Repository, entry: QueueEntry, there: Pull) -> None:
        options, actor = rest_pulls.MergeAsked(), self._actor()
        try:
            made = rest_pulls.build(self._forge, repo, there, options, actor)
        except Refused:
            self._remove(repo, entry, "MERGE_CONFLICT")
            return
        with self._forge.store.change():
            self._drop(repo, entry)
            entry = self._entries.change(
                entry, group_base=there.base_sha, group_sha=made
            )
            self._forge.bare(repo).move(entry.group_ref, made)
            move = Move(entry.group_ref, None, made)
            self._service.settle(repo, actor, [move])

    def _drop(self, repo: Repository, entry: QueueEntry) -> None:
        """Delete the branch of a group, if there is one; only inside `Store.change`."""
        bare = self._forge.bare(repo)
        if bare.ref(entry.group_ref) is not None:
            bare.move(entry.group_ref, None)
            move = Move(entry.group_ref, entry.group_sha, None)
            self._service.settle(repo, self._actor(), [move])

    def _states(self, repo: Repository, entry: QueueEntry) -> set[str]:
        checks = checks_of(self._forge, repo, entry.group_sha)
        held = binding(self._forge, repo, HEADS + entry.base, self._actor())
        return {
            check_state(check, checks)
            for asked in parameters(held, "required_status_checks")
            for check in asked["required_status_checks"]
        }

    def _land(self, repo: Repository, entry: QueueEntry, pull: Pull) -> None:
        bare, actor = self._forge.bare(repo), self._actor()
        move = Move(HEADS + entry.base, entry.group_base, entry.group_sha)
        bare.move(move.ref, move.after)
        with self._forge.store.change():
            self._service.merged(repo, actor, pull, entry.group_sha)
            self._service.settle(repo, actor, [move])
            self._remove(repo, entry, "MERGE")

    def _remove(
        self,
        repo: Repository,
        entry: QueueEntry,
        why: Removal,
        user: User | None = None,
    ) -> None:
        pull, actor = self._forge.store.pulls.get(entry.pull), user or self._actor()
        assert pull is not None
        with self._forge.store.change():
            self._drop(repo, entry)
            self._entries.remove(entry)
            group = entry.group_sha or None
            self._forge.note(pull.id, actor, REMOVED, commit=group)
            self.reasons[pull.id] = _REASONS.get(why, why.lower())
            self._service.events.tell(repo, actor, "dequeued", pull, reason=why)
