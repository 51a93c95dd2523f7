"""The bot's bare clone: what the remote's refs are, what the log says, and one push.

A cache: delete it and the next look builds it again. Everything written goes to the
remote in one atomic push, and only then is believed here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pygit2

from bot.bundle import NoBundle, take_in
from convoy.record import fold
from convoy.state import State
from grite.errors import Corrupt
from grite.event import Event
from grite.remote import RefUpdate, Remote, ensure_mirror
from grite.wal import WAL_REF, Log

HEADS: Final = "refs/heads/"
_INTAKE: Final = "refs/intake/"
"""Local refs that keep an attempt's commits while they are looked at."""
_SEEN: Final = "refs/seen/"
"""Local refs that say what is here already: git asks them what not to fetch again."""


@dataclass(kw_only=True)
class Mirror:
    """The local clone of one repository, and the state its log folds to."""

    path: Path
    remote: Remote
    log: Log
    """Over the mirror's objects; its own ref is not used, the remote's counts."""
    objects: pygit2.Repository
    refs: dict[str, str] = field(default_factory=dict)
    """The remote's refs as last seen or pushed."""
    default_branch: str = "main"
    state: State = field(default_factory=State)
    faults: tuple[str, ...] = ()
    """What could not be read in the log, by commit."""

    @classmethod
    def open(cls, path: Path, url: str, token: str | None) -> "Mirror":
        """Open the mirror at `path`, making it if it is not there."""
        ensure_mirror(path)
        return cls(
            path=path,
            remote=Remote(url, path, token),
            log=Log(path),
            objects=pygit2.Repository(str(path)),
        )

    @property
    def head(self) -> str | None:
        """The commit the state was folded up to."""
        return self.state.moment.commit or None

    def look(self) -> None:
        """See the remote's refs, bring what is new, fold the log's new tail.

        Raises:
            Unavailable: the remote did not answer.
            Corrupt: the remote's log does not descend from the head that was read.
        """
        seen = self.remote.advertised()
        self.default_branch = seen.default_branch or self.default_branch
        self._bring(seen.refs)
        self.refs = dict(seen.refs)
        self._read_log(seen.refs.get(WAL_REF))

    def push(
        self, events: Sequence[Event], updates: Mapping[str, RefUpdate], *, actor: bytes
    ) -> None:
        """Write `events` as one commit of the log and push it with `updates`.

        All or nothing; when this returns, refs and state here are what was pushed.

        Raises:
            Conflict: a ref was not where it was last seen; look again.
            Unavailable: the remote did not answer; look again, it may have arrived.
        """
        moves = dict(updates)
        commit = None
        if events:
            commit = self.log.write(
                events, parent=self.head, actor=actor, at_ms=events[-1].ts
            )
            moves[WAL_REF] = RefUpdate(WAL_REF, commit, self.head)
        self.remote.push(tuple(moves.values()))
        for ref, update in moves.items():
            if update.new is None:
                self.refs.pop(ref, None)
            else:
                self.refs[ref] = update.new
                self._saw(ref, update.new)
        if commit:
            self.state = fold(self.state, commit, events)

    def take_in(self, bundle: Path, session: str) -> None:
        """Bring the objects of an attempt's bundle, checked as a stranger's.

        Raises:
            NoBundle: it is no bundle.
            GitFailed: it holds malformed objects, or lacks some.
        """
        head = take_in(bundle, self.path)
        if not self.has(head):
            raise NoBundle("it does not hold the commit it names")
        self.objects.references.create(_INTAKE + session, head, force=True)

    def has(self, commit: str) -> bool:
        """Whether the mirror holds a commit."""
        return isinstance(self.objects.get(commit), pygit2.Commit)

    def ensure(self, commits: Sequence[str]) -> None:
        """Bring the commits that are missing here."""
        missing = [commit for commit in commits if not self.has(commit)]
        self.remote.fetch(missing)

    def _bring(self, refs: Mapping[str, str]) -> None:
        """Fetch every branch and log commit that is not here yet."""
        missing = [
            f"+{ref}:{_seen(ref)}"
            for ref, commit in sorted(refs.items())
            if _is_kept(ref) and not self.has(commit)
        ]
        self.remote.fetch(missing)

    def _saw(self, ref: str, commit: str) -> None:
        if _is_kept(ref):
            self.objects.references.create(_seen(ref), commit, force=True)

    def _read_log(self, head: str | None) -> None:
        if head == self.head:
            return
        if head is None:
            raise Corrupt(
                f"the log was deleted on the remote; it stood at {self.head}. Push it "
                f"back with: git push REMOTE {self.head}:{WAL_REF}"
            )
        for entry in self.log.entries(head, since=self.head):
            self.state = fold(self.state, entry.commit, entry.events)
            self.faults += tuple(f"{entry.commit}: {f}" for f in entry.faults)


def _is_kept(ref: str) -> bool:
    """Whether the mirror follows a ref: branches and the log."""
    return ref.startswith(HEADS) or ref == WAL_REF


def _seen(ref: str) -> str:
    return _SEEN + ref.removeprefix("refs/")
