"""What webhooks are told of a ref that moved, came or went.

https://docs.github.com/en/webhooks/webhook-events-and-payloads#push
"""

from typing import Any

import pygit2
from pygit2.enums import DeltaStatus

from brat.forge.resources.account_resource import User
from brat.forge.resources.commit_resource import simple_commit
from brat.forge.resources.repository_resource import Repository
from brat.forge.service.merge_methods import signature
from brat.forge.storage.git_storage import Bare, Move
from brat.forge.wire.urls import Site

NO_COMMIT = "0" * 40
MOST_COMMITS = 2048
MOST_WITH_FILES = 100
"""Of how many commits, the newest, the files are told: each takes a millisecond."""
_KINDS = {"refs/heads/": "branch", "refs/tags/": "tag"}
_LISTS = {DeltaStatus.ADDED: "added", DeltaStatus.DELETED: "removed"}


def told(ref: str) -> bool:
    """Say whether webhooks hear of a ref: only branches and tags, as on GitHub."""
    return ref.startswith(tuple(_KINDS))


def push(
    site: Site, found: tuple[Repository, Bare], actor: User, move: Move
) -> dict[str, Any]:
    """A push, for one of the refs that it moved."""
    repo, bare = found
    before, after = move.before, move.after
    head = bare.commit(after) if after else None
    news = bare.news(move.ref, str(head.id)) if head is not None else []
    pushed = news
    if head is not None and before and bare.commit(before):
        pushed = bare.between(before, str(head.id))
    distinct = {one.id for one in news}
    with_files = {one.id for one in pushed[-MOST_WITH_FILES:]}

    def shown(one: pygit2.Commit) -> dict[str, Any]:
        where = site.page(repo.full_name, "commit", one.id)
        face = simple_commit(one) | {"url": where, "distinct": one.id in distinct}
        return face | (_files(one) if one.id in with_files else {})

    span = f"{before[:12]}...{after[:12]}" if before and after else str(after)
    return {
        "ref": move.ref,
        "before": before or NO_COMMIT,
        "after": after or NO_COMMIT,
        "created": before is None,
        "deleted": after is None,
        "forced": bool(before and after and not bare.reaches(after, before)),
        "base_ref": None,
        "compare": site.page(repo.full_name, "compare", span),
        "commits": [shown(one) for one in pushed[-MOST_COMMITS:]],
        "head_commit": shown(head) | _files(head) if head is not None else None,
        "pusher": {"name": actor.login, "email": signature(actor).email},
    }


def _files(one: pygit2.Commit) -> dict[str, list[str]]:
    """Return the files that a commit touches, beside its first parent."""
    lists: dict[str, list[str]] = {"added": [], "removed": [], "modified": []}
    if one.parents:
        change = one.parents[0].tree.diff_to_tree(one.tree)
    else:
        change = one.tree.diff_to_tree(swap=True)
    for delta in change.deltas:
        lists[_LISTS.get(delta.status, "modified")].append(delta.new_file.path)
    return lists


def coming_or_going(repo: Repository, move: Move) -> tuple[str, dict[str, Any]] | None:
    """The event `create` or `delete` of a branch or tag; None: it only moved."""
    for folder, kind in _KINDS.items():
        if move.ref.startswith(folder) and None in {move.before, move.after}:
            name = move.ref.removeprefix(folder)
            body = {"ref": name, "ref_type": kind, "pusher_type": "user"}
            if move.after is None:
                return "delete", body
            default, said = repo.default_branch, repo.description
            return "create", body | {"master_branch": default, "description": said}
    return None
