"""What GraphQL shows of repositories, issues and pull requests, field by field.

https://docs.github.com/graphql/reference/unions#pullrequesttimelineitems
https://docs.github.com/graphql/reference/objects#mergequeue
https://docs.github.com/graphql/reference/interfaces#comment
https://docs.github.com/graphql/reference/objects
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from brat.forge.resources.forge_records import Issue, IssueEvent, Pull, Repository
from tests.world.github_forge.graphql_git import (
    HEADS,
    AccountNode,
    CommitNode,
    Failed,
    RefNode,
    Viewer,
    account,
)
from tests.world.github_forge.merge_queues import ADDED, REMOVED
from tests.world.github_forge.rest_pulls import review_decision
from tests.world.github_forge.review_comments import LineComment, threads_of
from tests.world.github_forge.shapes import dressed, node_id

_KINDS: Final = {ADDED: "AddedToMergeQueueEvent", REMOVED: "RemovedFromMergeQueueEvent"}


@dataclass(frozen=True)
class QueueEventNode:
    viewer: Viewer
    event: IssueEvent

    @property
    def kind(self) -> str:
        return _KINDS[self.event.event]

    def actor(self) -> AccountNode:
        return account(self.viewer.service.renderer.who(self.event.actor))


def timeline(
    viewer: Viewer, pull: Pull, kinds: list[str] | None, last: int | None
) -> dict[str, object]:
    """Return the last events of some kinds, oldest first."""
    wanted = [kind.removesuffix("_EVENT").lower() for kind in kinds or ()] or _KINDS
    found = viewer.service.forge.store.issue_events.of(pull.id)
    shown = [QueueEventNode(viewer, one) for one in found if one.event in wanted]
    return {"nodes": shown[-(last or len(shown)) :]}


class MailedTexts:
    """Marks beside a forge, so that a test can set them while it is served."""

    def __init__(self, forge: Path) -> None:
        self._folder = forge / "mailed"

    def mark(self, number: int) -> None:
        self._folder.mkdir(exist_ok=True)
        (self._folder / str(number)).touch()

    def holds(self, number: int) -> bool:
        return (self._folder / str(number)).exists()


@dataclass(frozen=True)
class TextNode:
    """A comment, or a review."""

    viewer: Viewer
    database_id: int
    kind: str
    id: str = ""

    def created_via_email(self) -> bool:
        forge = self.viewer.service.forge
        return MailedTexts(forge.folder).holds(self.database_id)


@dataclass(frozen=True)
class LineCommentNode:
    viewer: Viewer
    comment: LineComment
    kind: str = "PullRequestReviewComment"

    def created_via_email(self) -> bool:
        return TextNode(self.viewer, self.comment.id, self.kind).created_via_email()

    @property
    def database_id(self) -> int:
        return self.comment.id

    @property
    def body(self) -> str:
        return self.comment.body

    @property
    def diff_hunk(self) -> str:
        return self.comment.hunk

    def author(self) -> AccountNode:
        """Return its author; of a bot the name is without `[bot]`."""
        found = account(self.viewer.service.renderer.who(self.comment.user))
        return replace(found, login=found.login.removesuffix("[bot]"))

    def pull_request_review(self) -> TextNode:
        return TextNode(self.viewer, self.comment.review, "PullRequestReview")


@dataclass(frozen=True)
class ThreadNode:
    viewer: Viewer
    said: list[LineComment]
    kind: str = "PullRequestReviewThread"

    @property
    def id(self) -> str:
        return node_id(self.kind, self.said[0].id)

    @property
    def is_resolved(self) -> bool:
        return self.said[0].is_resolved

    @property
    def path(self) -> str:
        return self.said[0].path

    @property
    def line(self) -> int:
        return self.said[0].line

    @property
    def original_line(self) -> int:
        return self.said[0].line

    def comments(self, first: int | None = None) -> dict[str, object]:
        return {"nodes": [LineCommentNode(self.viewer, e) for e in self.said[:first]]}


@dataclass(frozen=True)
class IssueNode:
    viewer: Viewer
    issue: Issue
    kind: str = "Issue"

    def last_edited_at(self) -> str | None:
        return self.viewer.edits.last(self.issue.id)


@dataclass(frozen=True)
class PullNode:
    viewer: Viewer
    repo: Repository
    pull: Pull
    kind: str = "PullRequest"

    @property
    def head_ref_oid(self) -> str:
        return self.pull.head_sha

    @property
    def id(self) -> str:
        return node_id(self.kind, self.pull.id)

    @property
    def merged(self) -> bool:
        return self.pull.merged_at is not None

    def merge_commit(self) -> CommitNode | None:
        sha = self.pull.merge_commit
        return CommitNode(sha) if sha is not None else None

    def merge_state_status(self) -> str:
        return dressed(self.viewer.service).mergeable(self.repo, self.pull)[1].upper()

    def review_decision(self) -> str | None:
        """Return what its reviews say, where reviews are asked for."""
        return review_decision(self.viewer.service.forge, self.repo, self.pull)

    def review_threads(self, last: int | None = None) -> dict[str, object]:
        found = threads_of(self.viewer.service.forge.store, self.pull)
        shown = [ThreadNode(self.viewer, said) for said in found]
        return {"nodes": shown[-(last or len(shown)) :]}

    def is_in_merge_queue(self) -> bool:
        return self.viewer.queues.entry(self.pull) is not None

    def timeline_items(
        self, item_types: list[str] | None = None, last: int | None = None
    ) -> dict[str, object]:
        """Return what happened to it, of these kinds."""
        return timeline(self.viewer, self.pull, item_types, last)


@dataclass(frozen=True)
class RepositoryNode:
    viewer: Viewer
    repo: Repository
    kind: str = "Repository"

    def ref(self, qualified_name: str) -> RefNode | None:
        bare = self.viewer.service.forge.bare(self.repo)
        for name in (qualified_name, HEADS + qualified_name):
            sha = bare.ref(name) if name.startswith("refs/") else None
            if sha is not None:
                return RefNode(self.viewer, self.repo, name)
        return None

    def issue(self, number: int) -> IssueNode:
        found = self._numbered(number, "Issue")
        return IssueNode(self.viewer, found)

    def pull_request(self, number: int) -> PullNode:
        found = self._numbered(number, "PullRequest")
        pull = self.viewer.service.forge.store.pulls.get(found.id)
        assert pull is not None
        return PullNode(self.viewer, self.repo, pull)

    def _numbered(self, number: int, kind: str) -> Issue:
        for one in self.viewer.service.forge.store.issues.of(self.repo.id):
            if one.number == number and one.pull == (kind == "PullRequest"):
                return one
        article = "an" if kind == "Issue" else "a"
        said = f"Could not resolve to {article} {kind} with the number of {number}."
        raise Failed("NOT_FOUND", said)
