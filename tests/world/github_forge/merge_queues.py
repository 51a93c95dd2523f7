"""GitHub's merge queue: what is in it, and what moves it on.

https://docs.github.com/repositories/configuring-branches-and-merges-in-your-repository/configuring-pull-request-merges/managing-a-merge-queue
"""

import asyncio
from typing import Any

from brat.forge.resources.account_resource import Repository, User
from brat.forge.resources.issue_resource import Pull
from brat.forge.resources.wire import Refused
from brat.forge.service.running_forge import Service
from brat.forge.service.webhook_deliveries import Kind
from brat.forge.storage.record_store import Table
from tests.world.github_forge import queue_events
from tests.world.github_forge.merge_groups import MergeGroups
from tests.world.github_forge.queue_entries import QueueEntry
from tests.world.github_forge.queue_rules import check_queued
from tests.world.github_forge.rules.rule_bindings import Mover, binding, without_queue
from tests.world.github_forge.rules.rule_types import MergeQueueParameters

LOOK_S = 5.0
"""How often a queue is looked at in which nothing happens: times may have run out."""


class MergeQueues:
    """The merge queues of all repositories of a served forge."""

    def __init__(self, service: Service) -> None:
        """Move queues on from now on, whenever something happens."""
        self._service = service
        self._entries = Table(service.forge.store, QueueEntry, lambda one: one.repo)
        self._groups = MergeGroups(service, self._entries)
        self._happened = asyncio.Event()
        service.events.heard_by.append(self._hear)
        service.spawn(self._run(), "merge queues")

    def of(self, repo: Repository, base: str) -> list[QueueEntry]:
        """Return the entries of a branch's queue, first the one that is next."""
        return self._groups.line(repo, base)

    def entry(self, pull: Pull) -> QueueEntry | None:
        """Return a pull request's entry; None: it is in no queue."""
        found = [one for one in self._entries.of(pull.repo) if one.pull == pull.id]
        return found[0] if found else None

    def rules(self, repo: Repository, base: str) -> MergeQueueParameters | None:
        """Return how the queue of a branch works; None: it has none."""
        nobody = Mover(self._groups.actor(), "none", None)
        held = binding(self._service.forge, repo, f"refs/heads/{base}", nobody)
        return without_queue(held)[1]

    async def enqueue(
        self,
        repo: Repository,
        pull: Pull,
        user: User,
        *,
        head: str | None = None,
        jump: bool = False,
    ) -> QueueEntry:
        """Put a pull request into the queue of its base.

        Raises:
            Refused: 422: it is not ready, is in already, or has another head.
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
                        enqueued_at=self._service.forge.now(),
                        jump=jump,
                    )
                )
                queue_events.note(self._service, pull, user, queue_events.ADDED)
                self._service.events.pull(repo, user, "enqueued", pull)
        self._happened.set()
        return entry

    async def dequeue(self, repo: Repository, entry: QueueEntry, user: User) -> None:
        """Take a pull request out of its queue, as a person wants it."""
        async with self._service.lock(repo):
            self._groups.remove(repo, entry, "MANUAL", user)
        self._happened.set()

    def _hear(self, _: Repository, __: User, kind: Kind, ___: dict[str, Any]) -> None:
        if kind[0] != "merge_group":
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
                    self._groups.advance(repo, base, self.rules(repo, base))
