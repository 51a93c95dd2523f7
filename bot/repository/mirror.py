"""The bot's bare clone: the remote's refs, the folded log, the one push; its upkeep.

The clone is a cache: if it is deleted, the next look builds it again. All writes go to
the remote in one atomic push and count here only after that. A log that was rewound or
replaced is not believed: it is put back. What no allowed key signed counts for nothing.

Git does not collect a mirror by itself (`grite/remote.py` forbids it), for a collection
beside a running loop could remove what the loop has just written. So it is done before
the loop opens the mirror.
"""

import logging
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

import pygit2

from bot.repository.clone import Clone
from bot.repository.strangers_commits import NoBundle, take_in_bundle
from convoy.log import record as states
from convoy.log.record import NOTHING_READ, Reading, fold, packed
from convoy.model.ids import HEADS
from convoy.model.state import State
from grite import checkpoint, git
from grite.errors import BratError, GitFailed, Missing
from grite.event import Event
from grite.remote import PARTS, RefUpdate
from grite.wal import WAL_REF

FLOOR_BYTES: Final = 256_000_000
"""A smaller mirror is never collected. A task leaves dozens of loose objects."""
GROWTH: Final = 2
"""How many times what the last collection left a mirror may grow to."""
RECENT: Final = "1.hour.ago"
"""Younger objects stay: a git call of a loop that was cut off may be writing them."""
COLLECTION_S: Final = 3_600.0
INTAKE: Final = "refs/intake/"
"""Local refs that keep an attempt's commits while they are examined."""
_SIZE: Final = "brat-size"

_log: Final = logging.getLogger(__name__)


def on_disk(folder: Path) -> int:
    """Return how many bytes of the disk the files in a folder take; 0: none is there.

    Each takes whole blocks: many small ones count for more than they hold.
    """
    blocks = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            with suppress(FileNotFoundError):  # git has just moved it
                blocks += (Path(parent) / name).stat().st_blocks
    return blocks * 512  # POSIX's unit, whatever the file system's own is


def has_grown(mirror: Path) -> bool:
    left = 0
    with suppress(OSError, ValueError):  # else it was never collected
        left = int((mirror / _SIZE).read_text())
    return on_disk(mirror) > max(FLOOR_BYTES, GROWTH * left)


def collect_mirror(mirror: Path) -> None:
    """Collect a mirror that has grown; blocking. A failure is only logged."""
    if not has_grown(mirror):
        return
    before = on_disk(mirror)
    try:
        prune = f"--prune={RECENT}"
        # No attempt is examined while no loop has the mirror.
        listed = ["for-each-ref", "--format=delete %(refname)", INTAKE]
        attempts = git.run(listed, cwd=mirror).stdout
        git.run(["update-ref", "--stdin"], cwd=mirror, stdin=attempts)
        git.run(["gc", "--quiet", prune], cwd=mirror, deadline_s=COLLECTION_S)
    except BratError as error:
        _log.warning("git gc failed in %s: %s", mirror, error)
    else:
        sizes = before, on_disk(mirror)
        _log.info("git gc in %s: %d bytes before, %d bytes after", mirror, *sizes)
    (mirror / _SIZE).write_text(str(on_disk(mirror)))


class Mirror(Clone):
    """The local clone of one repository, and the state its log folds to."""

    default_branch: str = "main"
    reading: Reading = NOTHING_READ
    """The log's content when it was last seen or pushed."""
    foreign: tuple[str, ...] = ()
    """The commits above the newest that counts; the next push lists them as foreign."""
    warning: str = ""
    """A sentence about them; empty: there are none."""

    @property
    def state(self) -> State:
        return self.reading.state

    @property
    def faults(self) -> tuple[str, ...]:
        """The faults in unreadable parts of the log, by commit, and foreign ones."""
        return (*self.reading.faults, *filter(None, (self.warning,)))

    @property
    def head(self) -> str | None:
        """The newest commit folded into the state."""
        return self.reading.head

    def newest_heads(self) -> tuple[str | None, ...]:
        """Return the newest commit of the log that counts, and the one before."""
        if self.head is None:
            return (None,)
        with suppress(Missing):  # the history of a shallow clone may end here
            return self.head, self.log.before(self.head)
        return (self.head,)

    def look(self) -> None:
        """Read the remote's refs, fetch new commits, fold the log's new tail.

        A log that does not descend from the known head is put back; `notices` reports
        it.

        Raises:
            Conflict: somebody is moving refs right now; look again.
            Rewritten: the log could not be put back.
            Unsigned: no commit of the log counts.
        """
        if not all((self.path / part).exists() for part in PARTS):
            self.open()  # somebody has deleted it
        seen = self.remote.advertised()
        self.default_branch = seen.default_branch or self.default_branch
        refs = dict(seen.refs)
        known = self.head or self.known
        is_new = self.is_new
        if is_new and self.head is None:
            known = self.anchor_at_kept(refs) or known
        elif is_new and known is not None:
            with suppress(GitFailed):  # else the whole log is fetched
                self.remote.fetch([known], 1)
        self.bring(refs)
        self.read_signers(refs.get(HEADS + self.default_branch))
        tip = refs.get(WAL_REF)
        if is_new and self.head is None:
            known = self.lost_commit(tip) or known
        if known is not None:
            tip = self.believed_tip(known, tip)
        if tip is not None:  # the log is read up to the newest commit that counts
            tip = self.adopted_tip(tip)
            trusted = self.trusted_end(tip)
            if trusted.foreign and trusted.foreign != self.foreign:
                self.notices.append(trusted.warning)
            self.warning = trusted.warning
            refs[WAL_REF], self.foreign = self.without_excess(tip, trusted)
            head = str(trusted.head)
            if head != self.head:
                self.reading = self.read_log(head, self.reading, refs)
            self.saw(WAL_REF, head)
        self.refs = refs

    def push(
        self, events: Sequence[Event], updates: Mapping[str, RefUpdate], *, actor: bytes
    ) -> None:
        """Write `events` as one commit of the log and push it with `updates`.

        All or nothing; when this returns, refs and state here include the push.

        Raises:
            Conflict: a ref was not where it was last seen; look again.
        """
        moves = dict(updates)
        commit = None
        if events:
            # A session's own times come from its machine's clock and may be wrong.
            ours = (event.ts for event in events if event.actor == actor)
            at_ms = max(ours, default=self.state.moment.at)
            tip = self.refs.get(WAL_REF)
            commit = self.log.write(
                events, parent=tip, actor=actor, at_ms=at_ms, foreign=self.foreign
            )
            moves[WAL_REF] = RefUpdate(WAL_REF, commit, tip)
        if not any(update.old for update in moves.values()):
            self.confirm()  # no lease on a ref that is there guards this push
        self.remote.push(tuple(moves.values()))
        if commit:
            self.foreign, self.warning = (), ""
        for ref, update in moves.items():
            if update.new is None:
                self.refs.pop(ref, None)
            else:
                self.refs[ref] = update.new
                self.saw(ref, update.new)
        if any(ref in moves for ref in checkpoint.newest_first(self.refs)):
            self.reading = replace(self.reading, events=0)
        if commit:
            state = fold(self.state, commit, events, actor)
            read = self.reading.events + len(events)
            self.reading = replace(self.reading, state=state, events=read)

    def checkpoint(self, now: int) -> tuple[RefUpdate, ...]:
        """Write the reading as a checkpoint; return the ref updates that publish it.

        They also delete old checkpoints, so that three are left. They may go with any
        push, and nothing is lost without them. Without a log there are none.
        """
        if self.head is None:
            return ()
        ref = checkpoint.ref_of(now)
        self.reading = replace(self.reading, state=packed(self.state))
        data = states.encode_reading(self.reading)
        commit = checkpoint.write(self.objects, data, self.head, now, self.writer)
        refs = {**self.refs, ref: commit}
        gone = checkpoint.outdated(refs, now)
        return (
            RefUpdate(ref, commit, self.refs.get(ref)),
            *(RefUpdate(old, None, at) for old, at in gone.items()),
        )

    def take_in(self, bundle: Path, session: str, ref: str = "HEAD") -> str:
        """Take in an attempt's bundle, checked as a stranger's; return its ref.

        Raises:
            NoBundle: the file is no bundle.
        """
        head = take_in_bundle(bundle, self.path, ref)
        if not self.has(head):
            raise NoBundle("it does not contain the commit that it names")
        self.objects.references.create(INTAKE + session, head, force=True)
        return head

    def has(self, commit: str) -> bool:
        return isinstance(self.objects.get(commit), pygit2.Commit)

    def ensure(self, commits: Sequence[str]) -> None:
        """Fetch those of the commits that are missing here."""
        missing = [commit for commit in commits if not self.has(commit)]
        self.remote.fetch(missing)
