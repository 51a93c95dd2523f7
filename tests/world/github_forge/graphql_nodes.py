"""GraphQL: repositories, issues, pull requests and what people say at them.

https://docs.github.com/graphql/reference/objects
https://docs.github.com/graphql/reference/unions#pullrequesttimelineitems
"""

from pathlib import Path
from typing import Any, Final

from brat.forge.resources.forge_records import Issue, Pull, Repository, User
from tests.world.github_forge.graphql_git import Failed, Viewer, ref
from tests.world.github_forge.merge_queues import ADDED, REMOVED
from tests.world.github_forge.rest_pulls import review_decision
from tests.world.github_forge.review_comments import LineComment, threads_of
from tests.world.github_forge.shapes import dressed, node_id

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
        return dressed(service).mergeable(repo, pull)[1].upper()

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
                "reason": viewer.queues.reason(one),
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
        article = "an" if kind == "Issue" else "a"
        said = f"Could not resolve to {article} {kind} with the number of {number}."
        raise Failed("NOT_FOUND", said)

    def issue(number: int) -> Node:
        return {"last_edited_at": viewer.edits.last(numbered(number, "Issue").id)}

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
