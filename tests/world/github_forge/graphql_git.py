"""GraphQL: who looks, and what git and its rules look like.

https://docs.github.com/graphql/reference/objects#refupdaterule
https://docs.github.com/graphql/reference/objects
"""

from dataclasses import dataclass
from typing import Any, TypeVar

from brat.forge.resources.forge_records import (
    Comment,
    Issue,
    Pull,
    Record,
    Repository,
    Role,
    User,
)
from brat.forge.resources.wire import Refused
from brat.forge.rest.rest_call import NOT_ACCESSIBLE, visible
from brat.forge.service.announcements import Kind
from brat.forge.service.running_forge import Service
from brat.forge.storage.forge_state import Caller
from brat.forge.storage.record_store import Table
from tests.world.github_forge.merge_queues import MergeQueues
from tests.world.github_forge.rules.rule_bindings import protection_of
from tests.world.github_forge.shapes import Review, said_in

R = TypeVar("R", bound=Record)


class TextEdit(Record, frozen=True, kw_only=True):
    """The last edit of a text; its id is the issue's."""

    at: str


class TextEdits:
    def __init__(self, service: Service) -> None:
        self._forge = service.forge
        self._table = Table(service.forge.store, TextEdit, lambda _: 0)
        service.events.heard_by.append(self._hear)

    def last(self, issue: int) -> str | None:
        """Return when the text of an issue was last edited; None: never."""
        found = self._table.get(issue)
        return found.at if found is not None else None

    def _hear(self, _: Repository, __: User, kind: Kind, body: dict[str, Any]) -> None:
        if kind == ("issues", "edited") and "body" in body["changes"]:
            edited = TextEdit(id=body["issue"]["id"], at=self._forge.now())
            self._table.put(edited)


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

        Raises `Failed`: there is none, or the viewer may not know of it.
        """
        try:
            return visible(self.service, self.caller, full_name)
        except Refused:
            said = f"Could not resolve to a Repository with the name '{full_name}'."
            raise Failed("NOT_FOUND", said) from None

    def repository_node(self, node: str) -> Repository:
        found = self._one(node, "Repository", self.service.forge.store.repositories)
        return self.repository(found.full_name)

    def issue_node(self, node: str) -> tuple[Repository, Issue]:
        """Return an issue by its global id, and where it is."""
        found = self._one(node, "Issue", self.service.forge.store.issues)
        return self._home(found.repo, node), found

    def pull_node(self, node: str) -> tuple[Repository, Pull]:
        """Return a pull request by its global id, and where it is."""
        found = self._one(node, "PullRequest", self.service.forge.store.pulls)
        return self._home(found.repo, node), found

    def comment_node(self, node: str) -> Comment:
        found = self._one(node, "IssueComment", self.service.forge.store.comments)
        self._home(found.repo, node)
        return found

    def review_node(self, node: str) -> Review:
        store = self.service.forge.store
        found = self._one(node, "PullRequestReview", said_in(store).reviews)
        pull = store.pulls.get(found.pull)
        assert pull is not None
        self._home(pull.repo, node)
        return found

    def _one(self, node: str, kind: str, table: Table[R]) -> R:
        found = table.get(_number(node, kind))
        if found is None:
            raise _unknown(node)
        return found

    def need(self, repo: Repository, role: Role, *permissions: str) -> None:
        """Check that the viewer may write, else raise `Failed`.

        A person has to be in `role`; an installation's token needs the permissions.
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
    name, _, number = node.partition(":")
    if name != kind or not number.isdigit():
        raise _unknown(node)
    return int(number)


def _unknown(node: str) -> Failed:
    said = f"Could not resolve to a node with the global id of '{node}'."
    return Failed("NOT_FOUND", said)


def ref(viewer: Viewer, repo: Repository, name: str) -> dict[str, Any] | None:
    """Return a ref by its full name, with a branch's own protection as it binds."""
    forge = viewer.service.forge
    if forge.bare(repo).ref(name) is None:
        return None
    kept = protection_of(forge, repo, name)
    if kept is None:
        return {"ref_update_rule": None}
    others = ("code_owner_reviews", "conversation_resolution", "linear_history")
    rule = {
        "required_approving_review_count": 0,
        "required_status_check_contexts": kept.contexts,
        **{f"requires_{each}": False for each in (*others, "signatures")},
        "viewer_can_push": forge.may(repo, viewer.caller.user, "write"),
    }
    return {"ref_update_rule": rule}
