"""The log: a chain of commits in a local bare repository, in grite's own form.

Nothing here talks to another machine; `grite.remote` pushes what was written. The order
of the log is the chain's, from a head back to its beginning by first parents, then the
order inside the chunk. Of the chain only the commits themselves are read, not what they
hold; libgit2's own `parent_ids` would end at the edge of a shallow clone.
https://github.com/neul-labs/grite/blob/main/docs/git-wal.md

Two chains that were logged apart become one that holds the events of both. Neither is
rewritten: what only one of them holds goes after the other as one chunk, each event
with the id, actor and time that it has.
"""

import contextlib
import re
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Final

import pygit2
from msgspec import Struct

from grite import entry, objects
from grite.entry import Entry
from grite.errors import BratError, Corrupt, Missing, Rewritten
from grite.event import Event
from grite.objects import Note, commit_bytes
from grite.signatures import ENTRY, Authority, Writer, foreign_in, foreign_lines

MOST_FOREIGN: Final = 1000
"""How many foreign commits a signed one lists; above more of them nothing is added."""
_NAMED: Final = 3
_PARENT: Final = b"\nparent "


class Chain(Struct, frozen=True):
    commits: dict[str, re.Match[bytes] | None]
    """Newest first, with `entry.HEAD` in it; None: it begins in another way."""
    foreign: set[str]
    """Those that count for nothing: a commit that is not foreign lists them."""
    missing: str | None
    """The first that is not here, the last of the commits; None: all are here."""


class TrustedHead(Struct, frozen=True):
    """How far a log counts."""

    head: str | None
    """The newest commit that counts; None: no commit does."""
    foreign: tuple[str, ...]
    """The commits above it, newest first."""
    fault: str
    """Why the newest commit does not count; empty: it does."""

    @property
    def warning(self) -> str:
        """A sentence about the commits above the one that counts; empty: none are."""
        if self.head is None or not self.foreign:
            return ""
        named = ", ".join(commit[:10] for commit in self.foreign[:_NAMED])
        more = len(self.foreign) - _NAMED
        return (
            f"refs/grite/wal: {named}{f' and {more} more' if more > 0 else ''} did not "
            f"come from this repository's bot ({self.fault}) and are ignored. Whoever "
            "pushed them has push access to this repository: find out who that is"
        )


def chain_since(repo: pygit2.Repository, head: str, since: str | None) -> Chain:
    """Return the commits after `since` up to `head`.

    Raises `Rewritten`: `head` does not descend from `since`, or lists it as foreign.
    """
    commits: dict[str, re.Match[bytes] | None] = {}
    foreign: set[str] = set()
    at: str | None = head
    while at is not None and at != since:
        commits[at] = None
        try:
            data = commit_bytes(repo, at)
        except Missing:
            return Chain(commits, foreign, at)
        except Corrupt:  # the ref was pointed at something else
            at = None
            break
        if at not in foreign:
            foreign.update(foreign_in(data))
        commits[at] = begun = entry.HEAD.match(data)
        at = begun["parent"].decode() if begun else _parent(data)
    if since is not None and (at != since or since in foreign):
        raise Rewritten(since, head)
    return Chain(commits, foreign, None)


def ancestors(repo: pygit2.Repository, head: str) -> Iterator[str]:
    """Yield `head` and its ancestors, up to an object that is not a commit.

    Raises `Missing`: a commit is not here.
    """
    at: str | None = head
    while at is not None:
        yield at
        try:
            at = _parent(commit_bytes(repo, at))
        except Missing:
            raise
        except Corrupt:
            return


def _parent(data: bytes) -> str | None:
    head = data[: data.find(b"\n\n")]
    at = head.find(_PARENT)
    if at < 0:
        return None
    start = at + len(_PARENT)
    return head[start : head.find(b"\n", start)].decode()


WAL_REF: Final = "refs/grite/wal"


class Log:
    """The log in the bare repository at `path`. Not for several threads at once."""

    def __init__(self, path: Path, writer: Writer | None = None) -> None:
        """Open the log of a repository.

        Without a writer what is written stays unsigned, and counts for nobody who knows
        the allowed signers. Raises `BratError`: there is no repository.
        """
        self._path = path
        self._writer = writer
        self._newest = ("", 0)
        """The commit written last, and its date."""
        try:
            self._repo = pygit2.Repository(str(path))
        except pygit2.GitError as error:
            raise BratError(f"there is no repository at {path}: {error}") from error

    @property
    def folder(self) -> Path:
        return Path(self._repo.path)

    def head(self, ref: str = WAL_REF) -> str | None:
        """Return the newest commit of the log, None when there is no log yet."""
        try:
            return str(self._repo.lookup_reference(ref).target)
        except KeyError:
            return None

    def kind(self, target: str) -> str:
        """Return what a ref's target is: commit, tree, blob or tag; empty: not here."""
        try:
            return self._repo[target].type_str
        except objects.UNREADABLE:
            return ""

    def write(
        self,
        events: Sequence[Event],
        *,
        parent: str | None,
        actor: bytes,
        at_ms: int,
        foreign: Sequence[str] = (),
    ) -> str:
        """Write `events` as one commit after `parent` and return it; no ref moves.

        The same arguments give the same commit, so it is safe to call again. The
        commit's date is never before its parent's, as dates that go back make each push
        and fetch cost the whole history. The `foreign` commits up to `parent` count for
        nothing: a reader skips them, once this commit is signed.

        Raises:
            ValueError: no event, or text that is not valid Unicode.
            Corrupt: there is no such parent.
            Unavailable: it cannot be written: a full disk, a folder that is gone.
        """
        if not events:
            raise ValueError("a log entry must contain at least one event")
        subject = f"{ENTRY}{len(events)} events from {actor.hex()[:8]}"
        parents = () if parent is None else (parent,)
        if parent is not None and parent == self._newest[0]:
            date = max(at_ms // 1000, self._newest[1])
        else:
            date = objects.date_after(self._repo, parent, at_ms)
        trailers = foreign_lines(foreign)
        note = Note(subject, date, parents).signed(self._writer, trailers)
        new = objects.write(self._repo, entry.files(events, parent, actor), note)
        self._newest = (new, date)
        return new

    def entries(self, head: str, *, since: str | None = None) -> list[Entry]:
        """Return the entries after `since` (None: all) up to `head`, oldest first.

        Whatever cannot be read or verified is a fault of its entry. If a commit in the
        chain is missing, the first entry says so.

        Raises:
            Rewritten: `head` does not descend from `since`.
            Missing: a commit between them is not here, so that is not known.
        """
        return list(self.read(head, since=since))

    def read(
        self, head: str, *, since: str | None = None, whole: bool = False
    ) -> Iterator[Entry]:
        """Yield the same entries one by one, so that a long log needs little memory.

        Raises as `entries`, before anything is given; with `whole` also `Missing` when
        the log's beginning is not here.
        """
        found = chain_since(self._repo, head, since)
        missing = found.missing
        if since is not None and missing is not None:
            raise Missing(
                f"{missing} is not in {self._path}, so it is not known whether the "
                f"log's head {head} descends from {since}"
            )
        if whole and missing is not None:
            raise Missing(
                f"the log is incomplete: {missing} is missing; fetch it with: "
                "git fetch --unshallow origin '+refs/grite/*:refs/grite/*'"
            )
        packs = pygit2.OdbBackendPack(f"{self._repo.path}objects")
        return (
            entry.foreign(commit)
            if commit in found.foreign
            else entry.read(self._repo, commit, begun and (begun, packs))
            for commit, begun in reversed(found.commits.items())
        )

    def newest(self, head: str) -> Iterator[Entry]:
        """Yield the entries up to `head` one by one, newest first.

        It stops before a commit that is not here, so a shallow clone shows what it has.
        """
        listed: set[str] = set()
        with contextlib.suppress(Missing):
            for commit in ancestors(self._repo, head):
                if commit in listed:
                    yield entry.foreign(commit)
                    continue
                yield entry.read(self._repo, commit)
                with contextlib.suppress(Corrupt):
                    data = objects.commit_bytes(self._repo, commit)
                    listed.update(foreign_in(data))

    def missing(self, head: str, *, since: str | None = None) -> str | None:
        """Return the commit between `since` and `head` that is not here.

        None if all are here; in a shallow clone one is missing. Raises `Rewritten`:
        `head` does not descend from `since`.
        """
        return chain_since(self._repo, head, since).missing

    def fork(self, ours: str, theirs: str) -> str | None:
        """Return the newest commit that two chains share; None when there is none.

        Raises `Missing`: a commit of theirs or ours is not here.
        """
        seen: tuple[set[str], set[str]] = (set(), set())
        for pair in zip_longest(
            *(ancestors(self._repo, each) for each in (ours, theirs))
        ):
            for side, commit in enumerate(pair):
                if commit is None:
                    continue
                if commit in seen[1 - side]:
                    return commit
                seen[side].add(commit)
        return None

    def before(self, head: str) -> str | None:
        """Return the commit before `head` that it does not list as foreign.

        None: it is the first.

        Raises:
            Missing: `head` or a foreign commit is not here.
            Corrupt: the log's ref was pointed at something else.
        """
        data = commit_bytes(self._repo, head)
        foreign = foreign_in(data)
        at = _parent(data)
        while at is not None and at in foreign:
            at = _parent(commit_bytes(self._repo, at))
        return at

    def passes(self, head: str, commit: str) -> bool:
        """Whether a commit counts in the log up to `head`, as far as that is here."""
        try:
            return chain_since(self._repo, head, commit).missing is None
        except Rewritten:
            return False

    def trusted_head(self, head: str, authority: Authority) -> TrustedHead:
        """Return the newest commit of the log that an allowed key signed.

        What stands below it counts without another look, but for the foreign commits
        that the log itself lists: it vouches for them. Commits that are not here end
        the search. Raises `Unavailable`: the repository is gone.
        """
        above: list[str] = []
        why = ""
        try:
            for commit in ancestors(self._repo, head):
                fault = authority.fault(commit_bytes(self._repo, commit), ENTRY)
                if not fault:
                    return TrustedHead(commit, tuple(above), why)
                why = why or fault
                above.append(commit)
        except Corrupt as error:  # not all of it is here, or it ends in another object
            why = why or str(error)
        return TrustedHead(None, tuple(above), why)


def log_union(
    log: Log,
    ours: str,
    theirs: str | None,
    *,
    actor: bytes,
    at_ms: int,
    but: bytes | None = None,
) -> str:
    """Return a commit that holds the events of both chains and descends from theirs.

    That is theirs itself where it holds all of ours, and ours where it comes after
    theirs; else a new commit after theirs, by `actor`. No ref moves. The events of the
    actor `but` are left out.

    Raises:
        Missing: a commit of one of them is not here.
        Unavailable: it cannot be written.
    """
    if theirs is None or theirs == (fork := log.fork(ours, theirs)):
        return ours
    there = {each.id for one in log.read(theirs, since=fork) for each in one.events}
    found: dict[bytes, Event] = {}  # each once, in our order
    for one in log.read(ours, since=fork):
        for each in one.events:
            if each.id not in there and each.actor != but:
                found.setdefault(each.id, each)
    if not found:
        return theirs
    return log.write([*found.values()], parent=theirs, actor=actor, at_ms=at_ms)
