"""The log: a chain of commits in a local bare repository, in grite's own form.

Nothing here talks to another machine; `grite.remote` pushes what was written. The order
of the log is the chain's: commit by commit, then the order inside the chunk.
https://github.com/neul-labs/grite/blob/main/docs/git-wal.md
"""

import json
import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import pygit2

from grite import chunk, entry, git
from grite.entry import Entry
from grite.errors import BratError, Conflict, Corrupt, GitFailed
from grite.event import Event

__all__ = ["WAL_REF", "Entry", "Log"]

WAL_REF: Final = "refs/grite/wal"
_LOST_RACE: Final = re.compile(
    r"does not match|lock(ed)? file(?!.*(denied|Read-only|No space))"
)
_NOWHERE: Final = "0" * 40
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_LAST_DAY_MS: Final = 253_402_300_799_999  # of the year 9999, the last with four digits


class Log:
    """The log in the bare repository at `path`. Not for several threads at once."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._repo = pygit2.Repository(str(path))
        except pygit2.GitError as error:
            raise BratError(f"there is no repository at {path}: {error}") from error

    def head(self) -> str | None:
        """Return the newest commit of the log, None when there is no log yet."""
        try:
            return str(self._repo.lookup_reference(WAL_REF).target)
        except KeyError:
            return None

    def write(
        self, events: Sequence[Event], *, parent: str | None, actor: bytes, at_ms: int
    ) -> str:
        """Write `events` as one commit after `parent` and return it; no ref moves.

        The same arguments give the same commit, so it is safe to call again.

        Args:
            events: at least one; kept in this order.
            parent: the entry before it; None for the first.
            actor: 16 bytes.
            at_ms: the time in unix ms. The commit's date is never before its parent's,
                as dates that go back make each push and fetch cost the whole history.

        Raises:
            ValueError: no event, or text that is not valid Unicode.
            Corrupt: there is no such parent.
        """
        if not events:
            raise ValueError("an entry of the log holds at least one event")
        date = at_ms // 1000
        if parent is not None:
            date = max(date, self._commit(parent).commit_time)
        # grit: so it is written in grite's source.
        who = pygit2.Signature("grite", "grit@local", date, 0)
        message = f"WAL: {len(events)} events from {actor.hex()[:8]}"
        tree = self._tree(events, parent, actor)
        parents = [] if parent is None else [parent]
        return str(self._repo.create_commit(None, who, who, message, tree, parents))

    def append(
        self, events: Sequence[Event], *, after: str | None, actor: bytes, at_ms: int
    ) -> str:
        """Write `events` after the head `after`, move the ref, return the new head.

        Raises:
            Conflict: the head is no longer `after`; read and decide again.
            ValueError: as `write`.
            Corrupt: as `write`.
        """
        if self.head() != after:
            raise Conflict(f"the log stands at {self.head()}, not at {after}")
        new = self.write(events, parent=after, actor=actor, at_ms=at_ms)
        self.set_head(new, after)
        return new

    def set_head(self, new: str, old: str | None) -> None:
        """Move the log's ref from `old` to `new`; None: it must not exist.

        Raises:
            Conflict: it does not stand at `old`, or somebody is moving it right now.
            Corrupt: `new` is no commit here.
            BratError: the folder cannot be written.
        """
        self._commit(new)
        if old is None:
            self._create(new)
            return
        try:
            ref = self._repo.lookup_reference(WAL_REF)
            if str(ref.target) != old:
                raise Conflict(f"the log stands at {ref.target}, not at {old}")
            ref.set_target(new)  # compares with what `ref` was read as, under a lock
        except KeyError as error:
            raise Conflict(f"there is no log, it should stand at {old}") from error
        except (pygit2.GitError, OSError) as error:
            if _LOST_RACE.search(str(error)) is None:
                raise BratError(f"the log's ref cannot move: {error}") from error
            raise Conflict(f"somebody else moves the log: {error}") from error

    def entries(self, head: str, *, since: str | None = None) -> list[Entry]:
        """Return what was logged after `since` up to `head`, oldest first.

        What cannot be read or does not verify is a fault of its entry. If a commit in
        the chain is missing, its entry says so and is the first.

        Args:
            head: the newest commit to read.
            since: a commit of the log, not read itself; None: from the beginning.

        Raises:
            Corrupt: `head` does not descend from `since`.
        """
        chain = self._chain(head, since)
        return [entry.read(self._repo, commit) for commit in reversed(chain)]

    def _chain(self, head: str, since: str | None) -> list[str]:
        chain: list[str] = []
        at: str | None = head
        while at is not None and at != since:
            chain.append(at)
            try:
                parents = self._commit(at).parent_ids
            except Corrupt:
                break
            at = str(parents[0]) if parents else None
        if since is not None and at != since:
            raise Corrupt(f"the log's head {head} does not descend from {since}")
        return chain

    def _commit(self, commit_id: str) -> pygit2.Commit:
        try:
            found: object = self._repo[commit_id]
        except (KeyError, ValueError, OSError, pygit2.GitError) as error:
            raise Corrupt(f"{commit_id} is not in {self._path}: {error}") from error
        if not isinstance(found, pygit2.Commit):
            raise Corrupt(f"{commit_id} is no commit")
        return found

    def _create(self, new: str) -> None:
        # libgit2 can lose one of two that create a ref at once; git itself cannot.
        try:
            git.run(["update-ref", WAL_REF, new, _NOWHERE], cwd=self._path)
        except GitFailed as error:
            if re.search("already exists|File exists", error.stderr) is None:
                raise
            raise Conflict(f"somebody else began the log: {error.stderr}") from error

    def _tree(
        self, events: Sequence[Event], parent: str | None, actor: bytes
    ) -> pygit2.Oid:
        data = chunk.encode(events)
        day = _EPOCH + timedelta(milliseconds=min(events[0].ts, _LAST_DAY_MS))
        # The same bytes as Rust's pretty printer makes: key order, two spaces, no end.
        meta = {
            "schema_version": entry.SCHEMA_VERSION,
            "actor_id": actor.hex(),
            "chunk_hash": chunk.chunk_hash(data).hex(),
            "prev_wal": parent,
        }
        oid = self._repo.create_blob(data)
        mode = pygit2.enums.FileMode.BLOB
        for name in (chunk.file_name(data), *reversed(f"{day:%Y/%m/%d}".split("/"))):
            oid = self._folder((name, oid, mode))
            mode = pygit2.enums.FileMode.TREE
        text = json.dumps(meta, indent=2).encode()
        blob = (entry.META, self._repo.create_blob(text), pygit2.enums.FileMode.BLOB)
        return self._folder((entry.EVENTS, oid, mode), blob)

    def _folder(self, *items: tuple[str, pygit2.Oid, int]) -> pygit2.Oid:
        builder = self._repo.TreeBuilder()
        for name, oid, mode in items:
            builder.insert(name, oid, mode)
        return builder.write()
