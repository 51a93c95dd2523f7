"""The chain of the log's commits: from a head back to its beginning, by first parents.

Only the commits themselves are read here, not what they hold. libgit2's own
`parent_ids` would end at the edge of a shallow clone.
"""

from collections.abc import Iterator
from itertools import zip_longest
from typing import Final

import pygit2
from msgspec import Struct

from grite.errors import Corrupt, Missing, Rewritten
from grite.log_authority import ENTRY, Authority, foreign_in
from grite.objects import commit_bytes

MOST_FOREIGN: Final = 1000
"""How many foreign commits a signed one lists; above more of them nothing is added."""
_NAMED: Final = 3
_PARENT: Final = b"\nparent "


class Chain(Struct, frozen=True):
    """A stretch of the log."""

    commits: list[str]
    """Newest first."""
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
            f"come from this repository's bot ({self.fault}); they count for nothing. "
            "Whoever pushed them may push to this repository: see who that is"
        )


def trusted_head(
    repo: pygit2.Repository, head: str, authority: Authority
) -> TrustedHead:
    """Return the newest commit of the log that an allowed key signed.

    What stands below it counts without another look, but for the foreign commits that
    the log itself lists: it vouches for them. Commits that are not here end the search.

    Args:
        repo: holds the log.
        head: the newest commit.
        authority: says whose signature counts.

    Raises:
        Unavailable: the repository is gone.
    """
    above: list[str] = []
    why = ""
    try:
        for commit in walk(repo, head):
            fault = authority.fault(commit_bytes(repo, commit), ENTRY)
            if not fault:
                return TrustedHead(commit, tuple(above), why)
            why = why or fault
            above.append(commit)
    except Corrupt as error:  # not all of it is here, or it ends in another object
        why = why or str(error)
    return TrustedHead(None, tuple(above), why)


def chain(repo: pygit2.Repository, head: str, since: str | None) -> Chain:
    """Return the commits after `since` up to `head`.

    Raises:
        Rewritten: `head` does not descend from `since`, or lists it as foreign.
    """
    commits: list[str] = []
    foreign: set[str] = set()
    at: str | None = head
    while at is not None and at != since:
        commits.append(at)
        try:
            data = commit_bytes(repo, at)
        except Missing:
            return Chain(commits, foreign, at)
        except Corrupt:  # the ref was pointed at something else
            at = None
            break
        if at not in foreign:
            foreign.update(foreign_in(data))
        at = _parent(data)
    if since is not None and (at != since or since in foreign):
        raise Rewritten(since, head)
    return Chain(commits, foreign, None)


def walk(repo: pygit2.Repository, head: str) -> Iterator[str]:
    """Yield `head` and its ancestors, up to an object that is not a commit.

    Raises:
        Missing: a commit is not here.
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


def before(repo: pygit2.Repository, head: str) -> str | None:
    """Return the commit before `head` that it does not list as foreign, None: no such.

    Raises:
        Missing: `head` or a foreign commit is not here.
        Corrupt: the log's ref was pointed at something else.
    """
    data = commit_bytes(repo, head)
    foreign = foreign_in(data)
    at = _parent(data)
    while at is not None and at in foreign:
        at = _parent(commit_bytes(repo, at))
    return at


def fork(repo: pygit2.Repository, ours: str, theirs: str) -> str | None:
    """Return the newest commit that two chains share; None when there is none.

    Raises:
        Missing: a commit of theirs or ours is not here.
    """
    seen: tuple[set[str], set[str]] = (set(), set())
    for pair in zip_longest(walk(repo, ours), walk(repo, theirs)):
        for side, commit in enumerate(pair):
            if commit is None:
                continue
            if commit in seen[1 - side]:
                return commit
            seen[side].add(commit)
    return None


def _parent(data: bytes) -> str | None:
    head = data[: data.find(b"\n\n")]
    at = head.find(_PARENT)
    if at < 0:
        return None
    start = at + len(_PARENT)
    return head[start : head.find(b"\n", start)].decode()
