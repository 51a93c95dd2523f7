"""What GraphQL shows of repositories, issues and pull requests, field by field.

https://docs.github.com/graphql/reference/objects
"""

from dataclasses import dataclass
from typing import Final

from brat.forge.resources.account_resource import Repository
from brat.forge.resources.issue_resource import Issue, Pull
from brat.forge.resources.wire import node_id
from tests.world.github_forge.graphql_git import (
    HEADS,
    AccountNode,
    CommitNode,
    RefNode,
    account,
)
from tests.world.github_forge.graphql_queues import EntryNode, QueueNode, QueueViews
from tests.world.github_forge.graphql_timeline import timeline
from tests.world.github_forge.graphql_viewer import Failed, Viewer
from tests.world.github_forge.review_decisions import review_decision


@dataclass(frozen=True)
class IssueNode:
    """An issue."""

    viewer: Viewer
    issue: Issue
    kind: str = "Issue"

    @property
    def id(self) -> str:
        """Its global id."""
        return node_id(self.kind, self.issue.id)

    @property
    def number(self) -> int:
        """Its number."""
        return self.issue.number

    @property
    def title(self) -> str:
        """Its title."""
        return self.issue.title

    def last_edited_at(self) -> str | None:
        """Return when its text was last edited."""
        return self.viewer.edits.last(self.issue.id)


@dataclass(frozen=True)
class PullNode:
    """A pull request."""

    viewer: Viewer
    repo: Repository
    pull: Pull
    kind: str = "PullRequest"

    def __getattr__(self, name: str) -> object:
        """Return a field that the record has under another name."""
        if name not in _PULL:
            raise AttributeError(name)
        return getattr(self.pull, _PULL[name])

    @property
    def id(self) -> str:
        """Its global id."""
        return node_id(self.kind, self.pull.id)

    @property
    def title(self) -> str:
        """Its title."""
        return self._issue.title

    @property
    def state(self) -> str:
        """Open, closed or merged."""
        return "MERGED" if self.merged else self._issue.state.upper()

    @property
    def merged(self) -> bool:
        """Whether it is merged."""
        return self.pull.merged_at is not None

    def merge_commit(self) -> CommitNode | None:
        """Return the commit that merged it."""
        sha = self.pull.merge_commit
        bare = self.viewer.service.forge.bare(self.repo)
        return CommitNode(bare, sha) if sha is not None else None

    def merged_by(self) -> AccountNode | None:
        """Return who merged it."""
        by = self.pull.merged_by
        return account(self.viewer.service.renderer.who(by)) if by is not None else None

    def mergeable(self) -> str:
        """Return whether it merges cleanly."""
        return {True: "MERGEABLE", False: "CONFLICTING", None: "UNKNOWN"}[
            self._mergeable()[0]
        ]

    def merge_state_status(self) -> str:
        """Return what stands against its merge."""
        return self._mergeable()[1].upper()

    def review_decision(self) -> str | None:
        """Return what its reviews say, where reviews are asked for."""
        return review_decision(self.viewer.service.forge, self.repo, self.pull)

    def is_in_merge_queue(self) -> bool:
        """Return whether it is in a queue."""
        return self.viewer.queues.entry(self.pull) is not None

    def is_merge_queue_enabled(self) -> bool:
        """Return whether its base has a queue."""
        return self.viewer.queues.rules(self.repo, self.pull.base) is not None

    def merge_queue(self) -> QueueNode | None:
        """Return the queue of its base."""
        return views(self.viewer, self.repo).queue(self.pull.base)

    def merge_queue_entry(self) -> EntryNode | None:
        """Return its place in the queue."""
        entry = self.viewer.queues.entry(self.pull)
        return views(self.viewer, self.repo).entry(entry) if entry else None

    def timeline_items(
        self, item_types: list[str] | None = None, last: int | None = None
    ) -> dict[str, object]:
        """Return what happened to it, of these kinds."""
        return timeline(self.viewer, self.pull, item_types, last)

    @property
    def _issue(self) -> Issue:
        return self.viewer.service.forge.issue_of(self.pull)

    def _mergeable(self) -> tuple[bool | None, str]:
        merges = self.viewer.service.merges
        return merges.mergeable(self.repo, self.pull, self._issue)


_PULL: Final = {
    "base_ref_name": "base",
    "base_ref_oid": "base_sha",
    "head_ref_name": "head",
    "head_ref_oid": "head_sha",
    "is_draft": "draft",
    "merged_at": "merged_at",
    "number": "number",
}


@dataclass(frozen=True)
class RepositoryNode:
    """A repository."""

    viewer: Viewer
    repo: Repository
    kind: str = "Repository"

    def __getattr__(self, name: str) -> object:
        """Return whether a method of merging is allowed."""
        if name not in _METHODS:
            raise AttributeError(name)
        return _METHODS[name] in self.repo.settings.merge_methods

    @property
    def id(self) -> str:
        """Its global id."""
        return node_id(self.kind, self.repo.id)

    @property
    def is_archived(self) -> bool:
        """Whether nobody writes to it any more."""
        return self.repo.archived

    @property
    def name_with_owner(self) -> str:
        """Its full name."""
        return self.repo.full_name

    def ref(self, qualified_name: str) -> RefNode | None:
        """Return a ref by its full name, or a branch by its own."""
        bare = self.viewer.service.forge.bare(self.repo)
        for name in (qualified_name, HEADS + qualified_name):
            sha = bare.ref(name) if name.startswith("refs/") else None
            if sha is not None:
                return RefNode(self.viewer, self.repo, name, sha)
        return None

    def issue(self, number: int) -> IssueNode:
        """Return an issue by its number."""
        found = self._numbered(number, "Issue")
        return IssueNode(self.viewer, found)

    def pull_request(self, number: int) -> PullNode:
        """Return a pull request by its number."""
        found = self._numbered(number, "PullRequest")
        pull = self.viewer.service.forge.store.pulls.get(found.id)
        assert pull is not None
        return PullNode(self.viewer, self.repo, pull)

    def merge_queue(self, branch: str | None = None) -> QueueNode | None:
        """Return the queue of a branch, or of the default one."""
        base = branch or self.repo.default_branch
        return views(self.viewer, self.repo).queue(base)

    def _numbered(self, number: int, kind: str) -> Issue:
        for one in self.viewer.service.forge.store.issues.of(self.repo.id):
            if one.number == number and one.pull == (kind == "PullRequest"):
                return one
        article = "an" if kind == "Issue" else "a"
        said = f"Could not resolve to {article} {kind} with the number of {number}."
        raise Failed("NOT_FOUND", said)


_METHODS: Final = {
    "merge_commit_allowed": "merge",
    "rebase_merge_allowed": "rebase",
    "squash_merge_allowed": "squash",
}


def views(viewer: Viewer, repo: Repository) -> QueueViews:
    """Return what shows the queues of a repository."""
    return QueueViews(viewer, repo, lambda pull: PullNode(viewer, repo, pull))
