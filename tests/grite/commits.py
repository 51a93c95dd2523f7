"""Commits made by git itself, and short ways to write to a log."""

from collections.abc import Mapping
from pathlib import Path

from grite import git
from grite.event import CommentAdded, Event
from grite.wal import Log
from tests.grite.vectors import ACTOR, ISSUE, T0
from tests.world.local_log import appended

WHO = {
    "GIT_AUTHOR_NAME": "somebody",
    "GIT_AUTHOR_EMAIL": "somebody@example.org",
    "GIT_COMMITTER_NAME": "somebody",
    "GIT_COMMITTER_EMAIL": "somebody@example.org",
}


def said(repo: Path, *args: str, stdin: bytes | None = None) -> str:
    done = git.run(args, cwd=repo, env=WHO, stdin=stdin)
    return done.stdout.decode().strip()


def commit(repo: Path, files: Mapping[str, bytes], parent: str | None = None) -> str:
    """Commit `files` and nothing else; moves no ref."""
    said(repo, "read-tree", "--empty")
    for name, data in files.items():
        blob = said(repo, "hash-object", "-w", "--stdin", stdin=data)
        said(repo, "update-index", "--add", "--cacheinfo", f"100644,{blob},{name}")
    parents = [] if parent is None else ["-p", parent]
    tree = said(repo, "write-tree")
    return said(repo, "commit-tree", "-m", "by hand", *parents, tree)


def lose(repo: Path, oid: str) -> None:
    (repo / "objects" / oid[:2] / oid[2:]).unlink()


def two(mirror: Path) -> tuple[str, str]:
    first = commit(mirror, {"a": b"1"})
    return first, commit(mirror, {"a": b"2"}, first)


def hook(repo: Path, name: str, text: str) -> None:
    path = repo / "hooks" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def comment(text: str, ts: int = T0) -> Event:
    return Event(ISSUE, ACTOR, ts, CommentAdded(text))


def append(log: Log, *some: Event, at_ms: int = T0) -> str:
    return appended(log, some, after=log.head(), actor=ACTOR, at_ms=at_ms)
