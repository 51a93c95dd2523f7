"""Commits as GitHub writes them in runs and pushes, read from git."""

from datetime import UTC, datetime
from typing import Any

import pygit2

from brat.forge.resources.repository_resource import Repository
from brat.forge.wire.timestamps import iso
from brat.forge.wire.urls import Site, node_id

_UNSIGNED = {
    "verified": False,
    "reason": "unsigned",
    "signature": None,
    "payload": None,
    "verified_at": None,
}


def when(who: pygit2.Signature) -> str:
    """When someone signed, in UTC."""
    return iso(datetime.fromtimestamp(who.time, UTC))


def simple_commit(one: pygit2.Commit) -> dict[str, Any]:
    """A commit as workflow runs and pushes show it."""
    return {
        "id": str(one.id),
        "tree_id": str(one.tree_id),
        "message": one.message,
        "timestamp": when(one.committer),
        "author": {"name": one.author.name, "email": one.author.email},
        "committer": {"name": one.committer.name, "email": one.committer.email},
    }


def _who(who: pygit2.Signature) -> dict[str, str]:
    return {"name": who.name, "email": who.email, "date": when(who)}


def _parents(
    site: Site, repo: Repository, one: pygit2.Commit, kind: str
) -> list[dict[str, str]]:
    return [
        {
            "sha": str(sha),
            "url": f"{site.repo(repo.full_name)}/{kind}/{sha}",
            "html_url": site.page(repo.full_name, "commit", sha),
        }
        for sha in one.parent_ids
    ]


def git_commit(site: Site, repo: Repository, one: pygit2.Commit) -> dict[str, Any]:
    """A commit of the git database."""
    api = f"{site.repo(repo.full_name)}/git"
    return {
        "sha": str(one.id),
        "node_id": node_id("Commit", str(one.id)),
        "url": f"{api}/commits/{one.id}",
        "html_url": site.page(repo.full_name, "commit", one.id),
        "author": _who(one.author),
        "committer": _who(one.committer),
        "message": one.message,
        "tree": {"sha": str(one.tree_id), "url": f"{api}/trees/{one.tree_id}"},
        "parents": _parents(site, repo, one, "git/commits"),
        "verification": _UNSIGNED,
    }


def commit(site: Site, repo: Repository, one: pygit2.Commit) -> dict[str, Any]:
    """A commit of the repository; its people are not matched with accounts."""
    api = f"{site.repo(repo.full_name)}/commits/{one.id}"
    inner = git_commit(site, repo, one)
    return {
        "sha": str(one.id),
        "node_id": node_id("Commit", str(one.id)),
        "url": api,
        "html_url": inner["html_url"],
        "comments_url": api + "/comments",
        "commit": {
            key: inner[key]
            for key in ("url", "author", "committer", "message", "tree", "verification")
        }
        | {"comment_count": 0},
        "author": None,
        "committer": None,
        "parents": _parents(site, repo, one, "commits"),
    }
