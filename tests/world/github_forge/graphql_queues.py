"""What GraphQL shows of merge queues.

https://docs.github.com/graphql/reference/objects#mergequeue
"""

from collections.abc import Callable
from dataclasses import dataclass

from brat.forge.resources.account_resource import Repository
from brat.forge.resources.issue_resource import Pull
from brat.forge.resources.wire import node_id
from tests.world.github_forge.graphql_git import AccountNode, CommitNode, account
from tests.world.github_forge.graphql_viewer import Viewer
from tests.world.github_forge.queue_entries import QueueEntry
from tests.world.github_forge.rules.rule_types import MergeQueueParameters


@dataclass(frozen=True)
class QueueNode:
    """The queue of a branch."""

    views: "QueueViews"
    base: str
    rules: MergeQueueParameters
    kind: str = "MergeQueue"

    @property
    def id(self) -> str:
        """Its global id."""
        return node_id(self.kind, f"{self.views.repo.id}:{self.base}")

    def configuration(self) -> dict[str, object]:
        """Return how it works."""
        asked = self.rules
        return {
            "check_response_timeout": asked.check_response_timeout_minutes,
            "maximum_entries_to_build": asked.max_entries_to_build,
            "maximum_entries_to_merge": asked.max_entries_to_merge,
            "merge_method": asked.merge_method,
            "merging_strategy": asked.grouping_strategy,
            "minimum_entries_to_merge": asked.min_entries_to_merge,
            "minimum_entries_to_merge_wait_time": (
                asked.min_entries_to_merge_wait_minutes
            ),
        }

    def entries(self, first: int | None = None) -> dict[str, object]:
        """Return the first that are in it."""
        found = self.views.viewer.queues.of(self.views.repo, self.base)
        shown = [EntryNode(self.views, one) for one in found[:first]]
        return {"nodes": shown, "total_count": len(found)}


@dataclass(frozen=True)
class EntryNode:
    """A pull request in a queue."""

    views: "QueueViews"
    entry: QueueEntry
    kind: str = "MergeQueueEntry"

    @property
    def id(self) -> str:
        """Its global id."""
        return node_id(self.kind, self.entry.id)

    @property
    def state(self) -> str:
        """How far it is."""
        return self.entry.state

    @property
    def position(self) -> int:
        """Its place, from 1 on; 0: it is in no queue any more."""
        line = self.views.viewer.queues.of(self.views.repo, self.entry.base)
        places = (at for at, one in enumerate(line, 1) if one.id == self.entry.id)
        return next(places, 0)

    @property
    def jump(self) -> bool:
        """Whether it was put in front."""
        return self.entry.jump

    @property
    def enqueued_at(self) -> str:
        """When it came in."""
        return self.entry.enqueued_at

    def enqueuer(self) -> AccountNode:
        """Return who put it in."""
        return account(self.views.viewer.service.renderer.who(self.entry.enqueuer))

    def head_commit(self) -> CommitNode | None:
        """Return the commit that is judged, if it is built."""
        return self._commit(self.entry.group_sha)

    def base_commit(self) -> CommitNode | None:
        """Return what that commit was built on."""
        return self._commit(self.entry.group_base)

    def pull_request(self) -> object:
        """Return the pull request."""
        pull = self.views.viewer.service.forge.store.pulls.get(self.entry.pull)
        assert pull is not None
        return self.views.show(pull)

    def merge_queue(self) -> QueueNode | None:
        """Return the queue."""
        return self.views.queue(self.entry.base)

    def _commit(self, sha: str) -> CommitNode | None:
        bare = self.views.viewer.service.forge.bare(self.views.repo)
        return CommitNode(bare, sha) if sha else None


@dataclass(frozen=True)
class QueueViews:
    """The queues of a repository, as somebody sees them."""

    viewer: Viewer
    repo: Repository
    show: Callable[[Pull], object]
    """Shows a pull request."""

    def queue(self, base: str) -> QueueNode | None:
        """Return the queue of a branch; None: it has none."""
        rules = self.viewer.queues.rules(self.repo, base)
        return QueueNode(self, base, rules) if rules is not None else None

    def entry(self, entry: QueueEntry) -> EntryNode:
        """Return a pull request's place in its queue."""
        return EntryNode(self, entry)
