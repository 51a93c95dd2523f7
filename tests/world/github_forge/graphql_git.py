"""GraphQL: who looks, and what git and its rules look like.

https://docs.github.com/graphql/reference/objects#refupdaterule
https://docs.github.com/graphql/reference/objects
"""

from dataclasses import dataclass
from typing import Any, TypeVar

from brat.forge.resources.forge_records import Owned, Repository, Role, User
from brat.forge.resources.wire import Refused
from brat.forge.rest.rest_call import NOT_ACCESSIBLE, visible
from brat.forge.service.announcements import Kind
from brat.forge.service.running_forge import Service
from brat.forge.storage.forge_state import Caller
from brat.forge.storage.record_store import Table
from tests.world.github_forge.merge_queues import MergeQueues
from tests.world.github_forge.rules.rule_bindings import protection_of

Own = TypeVar("Own", bound=Owned)


class TextEdits:
    """When the texts of issues were last edited, by the issues' ids."""

    def __init__(self, service: Service) -> None:
        self._forge = service.forge
        self.last: dict[int, str] = {}
        service.events.heard_by.append(self._hear)

    def _hear(self, _: Repository, __: User, kind: Kind, body: dict[str, Any]) -> None:
        if kind == ("issues", "edited") and "body" in body["changes"]:
            self.last[body["issue"]["id"]] = self._forge.now()


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

    def node(self, table: Table[Own], node: str) -> tuple[Repository, Own]:
        """Return a record by its global id, and where it is."""
        store = self.service.forge.store
        found = table.get(number_of(node))
        repo = store.repositories.get(found.repo) if found is not None else None
        if found is None or repo is None:
            said = f"Could not resolve to a node with the global id of '{node}'."
            raise Failed("NOT_FOUND", said)
        return self.repository(repo.full_name), found

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


def number_of(node: str) -> int:
    """Return the id in a global one: it is unique over all kinds."""
    return int(node.rpartition(":")[2])


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
