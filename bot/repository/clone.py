"""The bot's bare clone as a cache: its contents, and how it fetches the rest.

A commit in the clone may lack its files: git may have been killed during a fetch, or
the commit came in a bundle. A commit is whole if one of our own refs points at it: git
moves a ref only once everything that the commit needs is there.
"""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

import pygit2
from msgspec.structs import replace

from bot.repository.near_server import remote_at
from convoy.log import record as states
from convoy.log.record import Reading
from convoy.model import ids
from grite import checkpoint, objects, signatures
from grite.errors import BratError, Conflict, Corrupt, GitFailed
from grite.objects import writing
from grite.remote import WHOLE, ensure_mirror
from grite.signatures import AllowedSigners, Authority, Sign, Writer
from grite.wal import WAL_REF, Log

SEEN: Final = "refs/seen/"
"""Local copies of the remote's refs: they tell git what not to fetch again."""
KNOWN: Final = SEEN + "grite/wal"
"""The newest believed commit of the log; it only moves to descendants."""
FOUND: Final = "refs/found/grite/wal"
"""The log as it was fetched, believed or not."""


class Clone:
    """The bare repository at `path`; created whenever it is missing."""

    def __init__(
        self,
        path: Path,
        url: str,
        token: str | None,
        *,
        authority: Authority,
        sign: Sign,
        confirm: Callable[[], None] = lambda: None,
    ) -> None:
        """Open the clone at `path`; `token` lets git read and write at `url`.

        `authority` says whose log, checkpoints and locks count. `confirm` raises if the
        remote's name now stands for another repository; it is called before each push
        that no lease on a ref would stop there.
        """
        self.path = path
        self.remote = remote_at(url, path, token)
        self.authority = authority
        self.writer = Writer(authority.repository, sign)
        self.confirm = confirm
        self.adopt = ""
        """The commit at which a person takes the log over; empty: nobody does."""
        self.witnesses: tuple[str, ...] = ()
        """Commits that a new clone looks for in the log: the forge names them."""
        self._own, self._fault = authority, ""
        self.committed: AllowedSigners | None = None
        """The keys that the default branch allows; None: it names none."""
        self.believes_branch: bool | None = None
        """Whether these count; None: nobody has asked yet."""
        self._anchored: tuple[str, Reading | None] = ("", None)
        self.refs: dict[str, str] = {}
        """The remote's refs as last seen or pushed."""
        self.notices: list[str] = []
        """Lines that a person should read; the code that shows one removes it."""
        self.open()

    def open(self) -> None:
        ensure_mirror(self.path)
        self.log = Log(self.path, self.writer)
        self.objects = pygit2.Repository(str(self.path))
        self._whole = {
            str(ref.target)
            for ref in self.objects.references.iterator()
            if ref.name.startswith((SEEN, FOUND))
        }

    def read_signers(self, commit: str | None) -> list[str]:
        """Let a commit's keys count, if they may; return a new fault of its file."""
        fault, known = "", self._fault
        if commit is not None:
            self.committed = None
            try:
                data = objects.file_in(self.objects, commit, signatures.SIGNERS_FILE)
                text = data[: signatures.MOST_SIGNERS_BYTES].decode(errors="replace")
                self.committed = signatures.parse_signers(text)
            except (Corrupt, *objects.UNREADABLE):
                pass  # there is no such file
            except BratError as error:
                fault = f"{signatures.SIGNERS_FILE} is ignored: {error}"
        self.authority = self._own
        if self.believes_branch and self.committed is not None:
            signers = self._own.signers | self.committed
            self.authority = replace(self._own, signers=signers)
        self._fault = fault
        return [fault] if fault and fault != known else []

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
        # A new ref may need the path of a deleted one's copy as a folder.
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
        self.remote.fetch([_spec(ref) for ref in sorted(new)])
        for ref, commit in new.items():
            if commit not in self.objects:
                raise Conflict(f"{ref} moved while it was being fetched")
            self._whole.add(commit)

    def bring_log_again(self, *also: str) -> None:
        """Fetch the whole log, even parts already here; mends a shallow clone."""
        self.remote.fetch([_spec(WAL_REF), *also], WHOLE, again=True)
        # An open repository goes on to believe that it is shallow.
        self.log = Log(self.path, self.writer)
        self.objects = pygit2.Repository(str(self.path))

    def anchor_at_kept(self, refs: Mapping[str, str]) -> str | None:
        """Let the log's history end at the newest checkpoint that counts.

        Return the commit that it was made at: the log has to pass through it, whatever
        its ref says. Where the log was rewound, this commit is put back.
        """
        for ref, reading in self.kept(refs):
            if isinstance(reading, Reading):
                self._anchored = (ref, reading)
                return reading.head
        return None

    def kept(self, refs: Mapping[str, str]) -> Iterator[tuple[str, Reading | str]]:
        """Give the checkpoints, newest first: each with its content or its fault."""
        anchored, self._anchored = self._anchored, ("", None)
        for ref in checkpoint.newest_first(refs)[: checkpoint.KEPT]:
            known, commit = anchored[1] if ref == anchored[0] else None, refs[ref]
            try:
                if known is None and commit not in self._whole:
                    depth = checkpoint.DEPTH if self.is_new else None
                    self.remote.fetch([f"+{ref}:{_seen(ref)}"], depth)
                    self._whole.add(commit)
                load = states.load_checkpoint
                yield ref, known or load(self.objects, commit, self.authority)
            except (Corrupt, GitFailed) as error:
                yield ref, str(error)


def _is_kept(ref: str) -> bool:
    """Whether the clone follows a ref: branches and the log."""
    return ref.startswith(ids.HEADS) or ref == WAL_REF


def _seen(ref: str) -> str:
    return SEEN + ref.removeprefix("refs/")


def _spec(ref: str) -> str:
    return f"+{ref}:{FOUND if ref == WAL_REF else _seen(ref)}"
