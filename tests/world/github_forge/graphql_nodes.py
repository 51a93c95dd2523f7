"""GraphQL: who looks, and what they see of repositories, pull requests and git.

https://docs.github.com/graphql/reference/objects
https://docs.github.com/graphql/reference/objects#refupdaterule
https://docs.github.com/graphql/reference/unions#pullrequesttimelineitems
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

from brat.forge.resources.forge_records import (
    Issue,
    Owned,
    Pull,
    Repository,
    Role,
    User,
)
from brat.forge.resources.wire import Refused, not_found
from brat.forge.rest.rest_call import NOT_ACCESSIBLE, found, visible
from brat.forge.service.announcements import Kind
from brat.forge.service.running_forge import Service
from brat.forge.storage.forge_state import Caller
from brat.forge.storage.record_store import Table
from tests.world.github_forge.merge_queues import ADDED, REMOVED, MergeQueues
from tests.world.github_forge.rest_pulls import review_decision
from tests.world.github_forge.review_comments import LineComment, threads_of
from tests.world.github_forge.rules.rule_bindings import protection_of
from tests.world.github_forge.shapes import dressed, node_id

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


@dataclass(frozen=True)
class Viewer:
    """A caller, and the forge as they see it."""

    service: Service
    caller: Caller
    edits: TextEdits
    queues: MergeQueues

    def repository(self, full_name: str) -> Repository:
        return visible(self.service, self.caller, full_name)

    def node(self, table: Table[Own], node: str) -> tuple[Repository, Own]:
        """Return a record by its global id, and where it is."""
        one = found(table.get(number_of(node)))
        repo = found(self.service.forge.store.repositories.get(one.repo))
        return self.repository(repo.full_name), one

    def need(self, repo: Repository, role: Role, *permissions: str) -> None:
        """Check that the viewer may write, else raise `Refused`.

        A person has to be in `role`; an installation's token needs the permissions.
        """
        token = self.caller.token
        if token.access is not None:
            has = dict(token.access.permissions)
            if any(has.get(each) != "write" for each in permissions):
                raise Refused(403, NOT_ACCESSIBLE)
        elif token.scope == "read" or not self.service.forge.may(
            repo, self.caller.user, role
        ):
            raise Refused(403, "This needs other permissions.")


def number_of(node: str) -> int:
    """Return the id in a global one: it is unique over all kinds."""
    return int(node.rpartition(":")[2])


Node = dict[str, Any]
"""Fields by Python's names, or functions that return them; `kind` names the type."""
_KINDS: Final = {ADDED: "AddedToMergeQueueEvent", REMOVED: "RemovedFromMergeQueueEvent"}


def _account(who: User) -> Node:
    return {"kind": who.kind, "login": who.login}


class MailedTexts:
    """Marks beside a forge, so that a test can set them while it is served."""

    def __init__(self, forge: Path) -> None:
        self._folder = forge / "mailed"

    def mark(self, number: int) -> None:
        self._folder.mkdir(exist_ok=True)
        (self._folder / str(number)).touch()

    def holds(self, number: int) -> bool:
        return (self._folder / str(number)).exists()


def text(viewer: Viewer, number: int, kind: str, node: str = "") -> Node:
    is_mailed = MailedTexts(viewer.service.forge.folder).holds(number)
    known = {"kind": kind, "id": node, "full_database_id": str(number)}
    return known | {"created_via_email": is_mailed}


def _line_comment(viewer: Viewer, said: LineComment) -> Node:
    author = _account(viewer.service.renderer.who(said.user))
    return {
        **text(viewer, said.id, "PullRequestReviewComment"),
        "body": said.body,
        "diff_hunk": said.hunk,
        # of a bot the name is without `[bot]`
        "author": author | {"login": author["login"].removesuffix("[bot]")},
        "pull_request_review": text(viewer, said.review, "PullRequestReview"),
    }


def thread_id(said: list[LineComment]) -> str:
    return node_id("PullRequestReviewThread", said[0].id)


def _thread(viewer: Viewer, said: list[LineComment]) -> Node:
    return {
        "id": thread_id(said),
        "is_resolved": said[0].is_resolved,
        "path": said[0].path,
        "line": said[0].line,
        "original_line": said[0].line,
        "comments": lambda first=None: {
            "nodes": [_line_comment(viewer, each) for each in said[:first]]
        },
    }


def _pull(viewer: Viewer, repo: Repository, pull: Pull) -> Node:
    service = viewer.service

    def merge_state() -> str:
        return dressed(service).mergeable_state(repo, pull).upper()

    def threads(last: int) -> Node:
        found = threads_of(service.forge.store, pull)
        return {"nodes": [_thread(viewer, said) for said in found[-last:]]}

    def timeline(item_types: list[str], last: int) -> Node:
        wanted = [kind.removesuffix("_EVENT").lower() for kind in item_types]
        found = service.forge.store.issue_events.of(pull.id)
        shown = [
            {
                "kind": _KINDS[one.event],
                "actor": _account(service.renderer.who(one.actor)),
                "before_commit": one.commit and {"oid": one.commit},
                "reason": viewer.queues.reasons.get(pull.id),
            }
            for one in found
            if one.event in wanted
        ]
        return {"nodes": shown[-last:]}

    return {
        "id": node_id("PullRequest", pull.id),
        "head_ref_oid": pull.head_sha,
        "merged": pull.merged_at is not None,
        "merge_commit": pull.merge_commit and {"oid": pull.merge_commit},
        "merge_state_status": merge_state,
        "review_decision": lambda: review_decision(service.forge, repo, pull),
        "review_threads": threads,
        "is_in_merge_queue": lambda: viewer.queues.entry(pull) is not None,
        "timeline_items": timeline,
    }


def repository(viewer: Viewer, repo: Repository) -> Node:
    def numbered(number: int, kind: str) -> Issue:
        for one in viewer.service.forge.store.issues.of(repo.id):
            if one.number == number and one.pull == (kind == "PullRequest"):
                return one
        raise not_found()

    def issue(number: int) -> Node:
        return {"last_edited_at": viewer.edits.last.get(numbered(number, "Issue").id)}

    def pull_request(number: int) -> Node:
        found = numbered(number, "PullRequest")
        pull = viewer.service.forge.store.pulls.get(found.id)
        assert pull is not None
        return _pull(viewer, repo, pull)

    return {
        "issue": issue,
        "pull_request": pull_request,
        "ref": lambda qualified_name: ref(viewer, repo, qualified_name),
    }


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
