"""GraphQL's entry points: its queries and its mutations.

https://docs.github.com/graphql/reference/mutations
"""

from dataclasses import dataclass
from typing import Any

from tests.world.github_forge.graphql_git import AccountNode, account
from tests.world.github_forge.graphql_nodes import (
    IssueNode,
    PullNode,
    RepositoryNode,
    views,
)
from tests.world.github_forge.graphql_viewer import Failed, Viewer
from tests.world.github_forge.issue_removal import delete_issue, transfer_issue
from tests.world.github_forge.mailed_texts import TextNode

Asked = dict[str, Any]


@dataclass(frozen=True)
class Root:
    """What a document starts from."""

    _viewer: Viewer

    # --- queries ------------------------------------------------------------------

    def viewer(self) -> AccountNode:
        """Return who asks."""
        return account(self._viewer.caller.user)

    def repository(
        self, owner: str, name: str, *, follow_renames: bool = True
    ) -> RepositoryNode:
        """Return a repository by its name; none is ever renamed here."""
        del follow_renames
        found = self._viewer.repository(f"{owner}/{name}")
        return RepositoryNode(self._viewer, found)

    def node(self, node: str) -> RepositoryNode | IssueNode | PullNode | TextNode:
        """Return whatever has a global id."""
        viewer = self._viewer
        for show in (_pull, _issue, _comment, _review):
            try:
                return show(viewer, node)
            except Failed:
                continue
        return RepositoryNode(viewer, viewer.repository_node(node))

    # --- mutations ----------------------------------------------------------------

    def delete_issue(self, asked: Asked) -> Asked:
        """Delete an issue, which takes an admin."""
        viewer = self._viewer
        repo, issue = viewer.issue_node(asked["issue_id"])
        viewer.need(repo, "admin", "issues", "administration")
        delete_issue(viewer.service, viewer.caller.user, issue)
        return _done(asked, repository=RepositoryNode(viewer, repo))

    def transfer_issue(self, asked: Asked) -> Asked:
        """Move an issue to another repository."""
        viewer = self._viewer
        repo, issue = viewer.issue_node(asked["issue_id"])
        target = viewer.repository_node(asked["repository_id"])
        for each in (repo, target):
            viewer.need(each, "write", "issues")
        moved = transfer_issue(viewer.service, viewer.caller.user, issue, target)
        return _done(asked, issue=IssueNode(viewer, moved))

    async def enqueue_pull_request(self, asked: Asked) -> Asked:
        """Put a pull request into the queue of its base."""
        viewer = self._viewer
        repo, pull = viewer.pull_node(asked["pull_request_id"])
        viewer.need(repo, "write", "contents", "pull_requests")
        entry = await viewer.queues.enqueue(
            repo,
            pull,
            viewer.caller.user,
            head=asked.get("expected_head_oid"),
            jump=bool(asked.get("jump")),
        )
        return _done(asked, merge_queue_entry=views(viewer, repo).entry(entry))

    async def dequeue_pull_request(self, asked: Asked) -> Asked:
        """Take a pull request out of its queue."""
        viewer = self._viewer
        repo, pull = viewer.pull_node(asked["id"])
        viewer.need(repo, "write", "contents", "pull_requests")
        entry = viewer.queues.entry(pull)
        if entry is None:
            raise Failed("UNPROCESSABLE", "Pull request is not in the queue")
        await viewer.queues.dequeue(repo, entry, viewer.caller.user)
        return _done(asked, merge_queue_entry=views(viewer, repo).entry(entry))


def _pull(viewer: Viewer, node: str) -> PullNode:
    return PullNode(viewer, *viewer.pull_node(node))


def _issue(viewer: Viewer, node: str) -> IssueNode:
    return IssueNode(viewer, viewer.issue_node(node)[1])


def _comment(viewer: Viewer, node: str) -> TextNode:
    found = viewer.comment_node(node)
    return TextNode(viewer, found.id, "IssueComment", node, found.body)


def _review(viewer: Viewer, node: str) -> TextNode:
    found = viewer.review_node(node)
    return TextNode(viewer, found.id, "PullRequestReview", node, found.body)


def _done(asked: Asked, **more: object) -> Asked:
    return {"client_mutation_id": asked.get("client_mutation_id"), **more}
