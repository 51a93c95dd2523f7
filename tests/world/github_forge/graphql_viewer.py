"""Whoever asks by GraphQL: what they may see, and what they may change."""

from base64 import b64decode
from binascii import Error
from dataclasses import dataclass

from brat.forge.resources.account_resource import Repository, Role
from brat.forge.resources.issue_resource import Comment, Issue, Pull, Review
from brat.forge.resources.wire import Refused
from brat.forge.rest.rest_call import NOT_ACCESSIBLE, visible
from brat.forge.service.running_forge import Service
from brat.forge.storage.forge_state import Caller
from tests.world.github_forge.merge_queues import MergeQueues
from tests.world.github_forge.text_edits import TextEdits


class Failed(Exception):
    """What GraphQL answers with status 200: a type and a sentence."""

    def __init__(self, kind: str, said: str) -> None:
        """Say `said`; `kind` is GitHub's word."""
        super().__init__(said)
        self.kind = kind


@dataclass(frozen=True)
class Viewer:
    """A caller, and the forge as they see it."""

    service: Service
    caller: Caller
    edits: TextEdits
    queues: MergeQueues

    def repository(self, full_name: str) -> Repository:
        """Return a repository.

        Raises:
            Failed: there is none, or the viewer may not know of it.
        """
        try:
            return visible(self.service, self.caller, full_name)
        except Refused:
            said = f"Could not resolve to a Repository with the name '{full_name}'."
            raise Failed("NOT_FOUND", said) from None

    def repository_node(self, node: str) -> Repository:
        """Return a repository by its global id."""
        found = self.service.forge.store.repositories.get(_number(node, "Repository"))
        if found is None:
            raise _unknown(node)
        return self.repository(found.full_name)

    def issue_node(self, node: str) -> tuple[Repository, Issue]:
        """Return an issue by its global id, and where it is."""
        found = self.service.forge.store.issues.get(_number(node, "Issue"))
        if found is None or found.pull:
            raise _unknown(node)
        return self._home(found.repo, node), found

    def pull_node(self, node: str) -> tuple[Repository, Pull]:
        """Return a pull request by its global id, and where it is."""
        found = self.service.forge.store.pulls.get(_number(node, "PullRequest"))
        if found is None:
            raise _unknown(node)
        return self._home(found.repo, node), found

    def comment_node(self, node: str) -> Comment:
        """Return a comment by its global id."""
        found = self.service.forge.store.comments.get(_number(node, "IssueComment"))
        if found is None:
            raise _unknown(node)
        self._home(found.repo, node)
        return found

    def review_node(self, node: str) -> Review:
        """Return a review by its global id."""
        store = self.service.forge.store
        found = store.reviews.get(_number(node, "PullRequestReview"))
        pull = store.pulls.get(found.pull) if found is not None else None
        if found is None or pull is None:
            raise _unknown(node)
        self._home(pull.repo, node)
        return found

    def need(self, repo: Repository, role: Role, *permissions: str) -> None:
        """Check that the viewer may write.

        Args:
            repo: where.
            role: what a person has to be.
            permissions: what the token of an installation must be able to write.

        Raises:
            Failed: they may not.
        """
        token = self.caller.token
        if token.access is not None:
            has = dict(token.access.permissions)
            if any(has.get(each) != "write" for each in permissions):
                raise Failed("FORBIDDEN", NOT_ACCESSIBLE)
        elif token.scope == "read" or not self.service.forge.may(
            repo, self.caller.user, role
        ):
            who = self.caller.user.login
            said = f"{who} does not have the correct permissions to execute this."
            raise Failed("FORBIDDEN", said)

    def _home(self, number: int, node: str) -> Repository:
        repo = self.service.forge.store.repositories.get(number)
        if repo is None:
            raise _unknown(node)
        return self.repository(repo.full_name)


def _number(node: str, kind: str) -> int:
    """Return the number behind a global id of a kind."""
    try:
        name, _, number = (
            b64decode(node + "=" * (-len(node) % 4)).decode().partition(":")
        )
    except (Error, ValueError):
        raise _unknown(node) from None
    if name != kind or not number.isdigit():
        raise _unknown(node)
    return int(number)


def _unknown(node: str) -> Failed:
    said = f"Could not resolve to a node with the global id of '{node}'."
    return Failed("NOT_FOUND", said)
