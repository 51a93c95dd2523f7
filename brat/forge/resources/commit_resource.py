"""Commits as GitHub writes them in runs and pushes, read from git."""

from datetime import UTC, datetime
from typing import Any

import pygit2

from brat.forge.wire.timestamps import iso


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
