"""The bot's bare clone as a cache, and the log in it as far as it counts.

A commit in the clone may lack its files: git may have been killed during a fetch, or
the commit came in a bundle. A commit is whole if one of our own refs points at it: git
moves a ref only once everything that the commit needs is there.

A log that was rewound, replaced or deleted on the remote is put back. The known chain
stays as it is; events only in the other chain are appended for people to see: they were
decided on another state and change nothing here. Whoever may push can put every ref
back, but not what the forge keeps elsewhere: each task run names, in its title, the
signed commit that handed the task off. One that the log does not pass through any more
proves that the log was put back.

What no allowed key signed counts for nothing, and is listed as foreign or taken off
again, unless a person has looked at the log and names the newest commit that counts: a
signed commit vouches for it then, and lists what lies above it.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Final

import pygit2
from msgspec.structs import replace

from bot.repository.near_server import remote_at
from convoy.log import record as states
from convoy.log.record import Reading, follow
from convoy.model import ids
from convoy.text import counted
from grite import checkpoint, lease, objects, signatures
from grite.errors import (
    BratError,
    Conflict,
    Corrupt,
    GitFailed,
    Missing,
    Rewritten,
    Unsigned,
)
from grite.event import ID_BYTES, CommentAdded, Event
from grite.lease import Lock
from grite.objects import writing
from grite.remote import WHOLE, RefUpdate, ensure_mirror
from grite.signatures import ENTRY, AllowedSigners, Authority, Sign, Writer
from grite.wal import (
    MOST_FOREIGN,
    WAL_REF,
    Chain,
    Log,
    TrustedHead,
    chain_since,
    log_union,
)

SEEN: Final = "refs/seen/"
"""Local copies of the remote's refs: they tell git what not to fetch again."""
KNOWN: Final = SEEN + "grite/wal"
"""The newest believed commit of the log; it only moves to descendants."""
FOUND: Final = "refs/found/grite/wal"
"""The log as it was fetched, believed or not."""
MOST_FETCHED: Final = 20
"""How many unknown commits are fetched: titles can be made up."""
UNION: Final = blake2b(b"brat:union", digest_size=ID_BYTES).digest()
"""The actor of the appended chunks: it is no bot, so none of their events counts."""
ADOPTER: Final = blake2b(b"brat:adopt", digest_size=ID_BYTES).digest()
"""The actor of the commit that takes a log over; it is no bot."""


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

    def read_signers(self, commit: str | None) -> None:
        """Let a commit's keys count, if they may; a new fault of its file is noted."""
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
        if fault and fault != known:
            self.notices.append(fault)

    @property
    def known(self) -> str | None:
        """The last believed head of the log, perhaps from an earlier process."""
        return self.log.head(KNOWN)

    @property
    def is_new(self) -> bool:
        """Whether the clone holds no part of the log."""
        return self.log.head(FOUND) is None and self.known is None

    def write_lock(self, lock: Lock, parent: str | None, at_ms: int) -> str:
        """Return a commit that holds a signed lock after an earlier one of its own."""
        return lease.write(
            self.objects, lock, parent=parent, at_ms=at_ms, writer=self.writer
        )

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
        self.open()  # an open repository goes on to believe that it is shallow

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

    def trusted_end(self, tip: str) -> TrustedHead:
        """Return how far the log counts; its head is never None.

        Raises:
            Unsigned: none of it counts.
        """
        found = self.log.trusted_head(tip, self.authority)
        if found.head is None:
            try:
                objects.commit_in(self.objects, tip)
            except Corrupt as error:
                raise Corrupt(
                    f"{WAL_REF} does not contain a log ({error}); if brat never ran "
                    f"here, remove the ref with: git push REMOTE :{WAL_REF}"
                ) from error
            self.bring_log_again()  # a shallow clone may lack the one that counts
            found = self.log.trusted_head(tip, self.authority)
        if found.head is None:
            raise Unsigned(tip, found.fault)
        return found

    def read_log(self, head: str, known: Reading, refs: Mapping[str, str]) -> Reading:
        """Return what the log says at `head`, which counts."""
        if known.head is not None:
            with suppress(Rewritten):  # it was taken over at an older commit
                return follow(self.log, head, known)
        notices: list[str] = []
        for ref, kept in self.kept(refs):
            try:
                if isinstance(kept, Reading):
                    found = follow(self.log, head, kept)
                    break
                fault = kept
            except Corrupt as error:
                fault = str(error)
            said = f"{ref} cannot be used, so brat reads the log instead: {fault}"
            notices.append(said)
        else:
            try:
                found = follow(self.log, head)
            except Missing:
                self.bring_log_again()
                found = follow(self.log, head)
        self.notices += notices
        return found

    def lost_commit(self, tip: str | None) -> str | None:
        """Return the newest known commit that counts and that the log lost."""
        log = (
            Chain({}, set(), None)
            if tip is None
            else chain_since(self.objects, tip, None)
        )
        here = [*log.commits][: -1 if log.missing else None]
        # The history of a shallow clone ends: what is older is not lost.
        oldest = self._date(here[-1]) if log.missing and here else -1
        lost = [commit for commit in self.witnesses if commit not in set(here)]
        found = []
        for commit in lost[:MOST_FETCHED]:
            with suppress(Corrupt, GitFailed):  # made up, or the forge has forgotten it
                self.remote.fetch([commit])
                data = objects.commit_bytes(self.objects, commit)
                is_ours = not self.authority.fault(data, ENTRY)
                if is_ours and self._date(commit) > oldest:
                    found.append(commit)
        return max(found, key=self._date, default=None)

    def _date(self, commit: str) -> int:
        try:
            return objects.commit_in(self.objects, commit).commit_time
        except Corrupt:
            return 0

    def believed_tip(self, known: str, found: str | None) -> str:
        """Return the head up to which to read the log.

        It is `found` if that descends from `known`, the newest commit that was ever
        believed, else the commit pushed instead.

        Raises:
            Rewritten: the remote forbids the push, or the clone lacks a commit, too.
        """
        if found is not None:
            with suppress(Rewritten):
                if self.log.missing(found, since=known) is not None:
                    self.bring_log_again()
                    self.log.missing(found, since=known)
                return found
        try:
            head = known if found is None else self._union(known, found)
            self.confirm()  # else another repository with that name would get it
            self.remote.push((RefUpdate(WAL_REF, head, found),))
        except (Missing, GitFailed) as error:
            said = (
                f"it cannot be restored: {error}. If you intended the change, stop the "
                f"bot and delete {self.path}"
            )
            raise Rewritten(known, found, said) from error
        was = (
            f"was at {found}, not at a descendant of {known}"
            if found
            else "was missing"
        )
        said = (
            f"{WAL_REF} {was}. brat restored it to {head}. If you intended the change, "
            f"stop the bot, delete {self.path}, and make the change again"
        )
        self.notices.append(said)
        return head

    def _union(self, known: str, found: str) -> str:
        """Return a commit after `known` with what only `found` holds; deterministic."""
        at_ms = objects.commit_in(self.objects, known).commit_time * 1000
        # An event by the writer of the signed chunk would count as written there.
        union = partial(log_union, self.log, found, known, actor=UNION, but=UNION)
        try:
            return union(at_ms=at_ms)
        except Missing:
            try:
                self.bring_log_again(known)
            except GitFailed:  # the remote has lost it
                self.bring_log_again()
            return union(at_ms=at_ms)

    def adopted_tip(self, tip: str) -> str:
        """Return the log's newest commit, after it was taken over as `self.adopt` says.

        Safe to call again: what counts already is not taken over once more.

        Raises:
            BratError: too many commits lie above the named one.
        """
        if not self.adopt:
            return tip
        found = self.log.trusted_head(tip, self.authority)
        if self.adopt not in found.foreign:
            return tip
        above = found.foreign[: found.foreign.index(self.adopt)]
        if len(above) > MOST_FOREIGN:
            raise BratError(
                f"{counted(len(above), 'commit')} come after {self.adopt}; the limit "
                f"is {MOST_FOREIGN}: name a later commit, or reset {WAL_REF} to an "
                "earlier one"
            )
        at_ms = objects.commit_in(self.objects, tip).commit_time * 1000
        said = f"The log was taken over at {self.adopt}."
        event = Event(ids.repository_issue(), ADOPTER, at_ms, CommentAdded(said))
        new = self.log.write(
            [event], parent=tip, actor=ADOPTER, at_ms=at_ms, foreign=above
        )
        self.confirm()
        self.remote.push((RefUpdate(WAL_REF, new, tip),))
        return new

    def without_excess(
        self, tip: str, found: TrustedHead
    ) -> tuple[str, tuple[str, ...]]:
        """Return the tip, and its foreign commits: no more than one may list."""
        if found.head is None or len(found.foreign) <= MOST_FOREIGN:
            return tip, found.foreign
        self.confirm()
        self.remote.push((RefUpdate(WAL_REF, found.head, tip),))
        return found.head, ()


def _is_kept(ref: str) -> bool:
    """Whether the clone follows a ref: branches and the log."""
    return ref.startswith(ids.HEADS) or ref == WAL_REF


def _seen(ref: str) -> str:
    return SEEN + ref.removeprefix("refs/")


def _spec(ref: str) -> str:
    return f"+{ref}:{FOUND if ref == WAL_REF else _seen(ref)}"
