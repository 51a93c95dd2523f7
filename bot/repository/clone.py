"""The bot's bare clone as a cache: its contents, and how it fetches the rest.

A commit in the clone may lack its files: git may have been killed during a fetch, or
the commit came in a bundle. A commit is whole if one of our own refs points at it: git
moves a ref only once everything that the commit needs is there.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import pygit2

from convoy.log import state_codec as states
from convoy.log.following import Reading
from convoy.model import ids
from grite import checkpoint
from grite.errors import Conflict, Corrupt, GitFailed
from grite.objects import writing
from grite.remote import PARTS, WHOLE, Remote, ensure_mirror
from grite.wal import WAL_REF, Log

SEEN: Final = "refs/seen/"
"""Local copies of the remote's refs: they tell git what not to fetch again."""
KNOWN: Final = SEEN + "grite/wal"
"""The newest believed commit of the log; it only moves to descendants."""
FOUND: Final = "refs/found/grite/wal"
"""The log as it was fetched, believed or not."""


class Clone:
    """The bare repository at `path`; created whenever it is missing."""

    def __init__(self, path: Path, remote: Remote) -> None:
        self.path = path
        self.remote = remote
        self._anchored: tuple[str, Reading | None] = ("", None)
        self._open()

    def _open(self) -> None:
        ensure_mirror(self.path)
        self.log = Log(self.path)
        self.objects = pygit2.Repository(str(self.path))
        self._whole = {
            str(ref.target)
            for ref in self.objects.references.iterator()
            if ref.name.startswith((SEEN, FOUND))
        }

    def stand(self) -> None:
        """Create the clone again if somebody deleted it."""
        if not all((self.path / part).exists() for part in PARTS):
            self._open()

    @property
    def known(self) -> str | None:
        """The last believed head of the log, perhaps from an earlier process."""
        return self.log.head(KNOWN)

    @property
    def is_new(self) -> bool:
        """Whether the clone holds no part of the log."""
        return self.log.head(FOUND) is None and self.known is None

    def saw(self, ref: str, commit: str) -> None:
        """Note that a ref of the remote points at a commit that is whole here."""
        if _is_kept(ref):
            with writing(self.path):
                self.objects.references.create(_seen(ref), commit, force=True)
            self._whole.add(commit)

    def bring(self, refs: Mapping[str, str]) -> None:
        """Fetch the missing parts of every branch and of the log.

        Raises:
            Conflict: a ref moved during the fetch.
        """
        kept = {ref: commit for ref, commit in refs.items() if _is_kept(ref)}
        new = {ref: at for ref, at in kept.items() if at not in self._whole}
        self._forget(refs)
        self.remote.fetch([_spec(ref) for ref in sorted(new)])
        for ref, commit in new.items():
            if commit not in self.objects:
                raise Conflict(f"{ref} moved while it was fetched")
            self._whole.add(commit)

    def bring_log_again(self) -> None:
        """Fetch the whole log, even parts already here; mends a shallow clone."""
        self.remote.fetch([_spec(WAL_REF)], WHOLE, again=True)
        # An open repository goes on to believe that it is shallow.
        self.log = Log(self.path)
        self.objects = pygit2.Repository(str(self.path))

    def anchor(self, commit: str) -> None:
        """Let the clone's history of the log end at a commit, if the remote has it."""
        try:
            self.remote.fetch([commit], 1)
        except GitFailed:
            return  # the remote lacks or refuses the commit: the whole log is fetched

    def anchor_at_kept(self, refs: Mapping[str, str]) -> None:
        """Let the log's history end at the newest readable checkpoint."""
        for ref, reading in self.kept(refs):
            if isinstance(reading, Reading):
                self._anchored = (ref, reading)
                return

    def kept(self, refs: Mapping[str, str]) -> Iterator[tuple[str, Reading | str]]:
        """Give the checkpoints, newest first: each with its content or its fault."""
        anchored, self._anchored = self._anchored, ("", None)
        for ref in checkpoint.newest_first(refs)[: checkpoint.KEPT]:
            try:
                known = anchored[1] if ref == anchored[0] else None
                yield ref, known or self._load(ref, refs[ref])
            except (Corrupt, GitFailed) as error:
                yield ref, str(error)

    def _load(self, ref: str, commit: str) -> Reading:
        """Return a checkpoint's content.

        Raises:
            Corrupt: the checkpoint cannot be used.
            GitFailed: the checkpoint is gone.
        """
        if commit not in self._whole:
            depth = checkpoint.DEPTH if self.is_new else None
            self.remote.fetch([f"+{ref}:{_seen(ref)}"], depth)
            self._whole.add(commit)
        return states.load(self.objects, commit)

    def _forget(self, refs: Mapping[str, str]) -> None:
        """Delete copies of deleted refs: a new ref may need the path as a folder."""
        stale = [
            name
            for name in self.objects.references
            if name.startswith(SEEN)
            and name != KNOWN
            and "refs/" + name.removeprefix(SEEN) not in refs
        ]
        with writing(self.path):
            for name in stale:
                self.objects.references.delete(name)


def _is_kept(ref: str) -> bool:
    """Whether the clone follows a ref: branches and the log."""
    return ref.startswith(ids.HEADS) or ref == WAL_REF


def _seen(ref: str) -> str:
    return SEEN + ref.removeprefix("refs/")


def _spec(ref: str) -> str:
    return f"+{ref}:{FOUND if ref == WAL_REF else _seen(ref)}"
