"""The running forge: its state, its background work, and what a push leads to.

Git pushes and REST calls that move refs hold the repository's lock; everything that
must follow from a moved ref is done before the lock is free again: pull requests move,
merge or close, webhooks fire, CI starts. A pull request is merged exactly when its base
branch comes to contain its head. If its head moves back to a commit that the base
already had, it is closed unmerged.
"""

import asyncio
from collections.abc import Callable

from msgspec.structs import replace

from brat.forge.resources.forge_records import Pull, Repository, User
from brat.forge.resources.wire import Site
from brat.forge.service.announcements import ForgeContext, WebhookSender
from brat.forge.service.local_ci import Judge
from brat.forge.service.programs import WarmRunner
from brat.forge.service.run_processes import LIKE_GITHUB, How, Starter
from brat.forge.storage.forge_state import Forge
from brat.forge.storage.git_storage import Move


class Service(ForgeContext):
    def __init__(
        self, forge: Forge, tasks: asyncio.TaskGroup, *, how: How = LIKE_GITHUB
    ) -> None:
        super().__init__(forge, tasks)
        self.webhooks = WebhookSender(self)
        self._warm = WarmRunner()
        self.judge = Judge(self, self._warm)
        self.starter = Starter(self, how, self._warm)
        self.fault_words: Callable[[bytes, type, str], str] = lambda *said: said[-1]
        """Says what is wrong with a body that is not of a type, from our own words."""

    def start(self, base: str) -> None:
        """Start, with `base` as the address; first finish an earlier process's work."""
        self.site = Site(base)
        self.webhooks.start()
        for repo in self.forge.store.repositories.all():
            self.settle(repo, self.renderer.owner(repo), [])
        self.judge.start()
        self.starter.start()
        if self.starter.how.soon:
            self._warm.begin()

    def stop(self) -> None:
        """End all background work, and the process that forks runners."""
        super().stop()
        self._warm.end()

    def settle(self, repo: Repository, actor: User, moves: list[Move]) -> None:
        """Carry out all effects of a push; the caller holds the repository's lock.

        Pull requests are compared with the refs themselves, not with `moves`: so the
        next process makes up for whatever a dead process left undone.
        """
        with self.forge.store.change():
            if moves:
                repo = self.forge.update(repo, pushed_at=self.forge.now())
            for move in moves:
                self.events.push(repo, actor, move)
            for pull in self.forge.store.pulls.of(repo.id):
                if self.forge.issue_of(pull).state == "open":
                    self._follow(repo, actor, pull)
            self.judge.follow(repo, actor, moves)

    def _follow(self, repo: Repository, actor: User, pull: Pull) -> None:
        bare = self.forge.bare(repo)
        head, base = bare.tip(pull.head), bare.tip(pull.base)
        if (head, base) == (pull.head_sha, pull.base_sha):
            return
        before = pull
        pull = replace(
            pull, head_sha=head or pull.head_sha, base_sha=base or pull.base_sha
        )
        self.forge.store.pulls.put(pull)
        had = bare.reaches(before.base_sha, pull.head_sha)
        has = base is not None and bare.reaches(base, pull.head_sha)
        if pull.head_sha != before.head_sha:
            moved = {"before": before.head_sha, "after": pull.head_sha}
            issue, now = self.forge.issue_of(pull), self.forge.now()
            self.forge.store.issues.change(issue, updated_at=now)
            self.events.tell(repo, actor, "synchronize", pull, **moved)
        if has and not had:
            merged = replace(pull, base_sha=before.base_sha)
            self.merged(repo, actor, merged, pull.base_sha)
        elif has or head is None or base is None:
            self.close_pull(repo, actor, pull)

    def merged(self, repo: Repository, actor: User, pull: Pull, commit: str) -> Pull:
        """Close a pull request as merged by `commit`; only inside `Store.change`."""
        pull = self.forge.store.pulls.put(
            replace(
                pull,
                merged_at=self.forge.now(),
                merged_by=actor.id,
                merge_commit=commit,
            )
        )
        self.forge.note(pull.id, actor, "merged", commit=commit)
        return self.close_pull(repo, actor, pull)

    def close_pull(self, repo: Repository, actor: User, pull: Pull) -> Pull:
        """Close a pull request; only inside `Store.change`."""
        issue, now = self.forge.issue_of(pull), self.forge.now()
        self.forge.store.issues.change(
            issue, state="closed", closed_at=now, updated_at=now, closed_by=actor.id
        )
        self.forge.note(pull.id, actor, "closed")
        self.events.tell(repo, actor, "closed", pull)
        return pull
