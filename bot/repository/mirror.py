"""The bot's bare clone: the remote's refs, the folded log, and the one push.

The clone is a cache: if it is deleted, the next look builds it again. All writes go to
the remote in one atomic push and count here only after that. A log that was rewound or
replaced is not believed: it is put back.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

import pygit2

from bot.repository.bundle import NoBundle, take_in
from bot.repository.clone import Clone
from bot.repository.rewritten_log import believed
from convoy.log import state_codec as states
from convoy.log.following import NOTHING, Reading, follow
from convoy.log.record import fold
from convoy.model.state import State
from grite import checkpoint, objects
from grite.errors import Corrupt, Missing
from grite.event import Event
from grite.remote import RefUpdate, Remote
from grite.wal import WAL_REF, Log

_INTAKE: Final = "refs/intake/"
"""Local refs that keep an attempt's commits while they are examined."""


@dataclass(kw_only=True)
class Mirror:
    """The local clone of one repository, and the state its log folds to."""

    clone: Clone
    refs: dict[str, str] = field(default_factory=dict)
    """The remote's refs as last seen or pushed."""
    default_branch: str = "main"
    reading: Reading = NOTHING
    """The log's content when it was last seen or pushed."""
    notices: list[str] = field(default_factory=list)
    """Lines that a person should read; the code that shows one removes it."""

    @classmethod
    def open(cls, path: Path, url: str, token: str | None) -> "Mirror":
        """Open the mirror at `path`, creating it if it is missing."""
        return cls(clone=Clone(path, Remote(url, path, token)))

    # --- what is known ----------------------------------------------------------------

    @property
    def path(self) -> Path:
        """The clone's folder."""
        return self.clone.path

    @property
    def remote(self) -> Remote:
        """The repository that was cloned."""
        return self.clone.remote

    @remote.setter
    def remote(self, remote: Remote) -> None:
        self.clone.remote = remote

    @property
    def log(self) -> Log:
        """The log over the clone's objects; the remote's ref counts, not the log's."""
        return self.clone.log

    @property
    def objects(self) -> pygit2.Repository:
        """The clone's objects; a new value after the clone was created again."""
        return self.clone.objects

    @property
    def state(self) -> State:
        """The state folded from the log."""
        return self.reading.state

    @property
    def faults(self) -> tuple[str, ...]:
        """The faults in unreadable parts of the log, by commit."""
        return self.reading.faults

    @property
    def head(self) -> str | None:
        """The newest commit folded into the state."""
        return self.reading.head

    @property
    def since_checkpoint(self) -> int:
        """How many events the log has after the newest usable checkpoint."""
        return self.reading.events

    # --- looking ----------------------------------------------------------------------

    def look(self) -> None:
        """Read the remote's refs, fetch new commits, fold the log's new tail.

        A log that does not descend from the known head is put back; `notices` reports
        it.

        Raises:
            Conflict: somebody is moving refs right now; look again.
            Unavailable: the remote did not answer.
            Rewritten: the log could not be put back.
            Missing: the remote itself lacks a commit of the log.
            Corrupt: the log's ref holds no log.
        """
        self.clone.stand()
        seen = self.remote.advertised()
        self.default_branch = seen.default_branch or self.default_branch
        refs = dict(seen.refs)
        known = self.head or self.clone.known
        if self.clone.is_new:
            self._anchor(refs)
        self.clone.bring(refs)
        found = refs.get(WAL_REF)
        head = found
        if known is not None:
            head, said = believed(self.clone, known, found)
            self.notices += said
        if head is not None:
            self.reading = self._read(head, refs)
            self.clone.saw(WAL_REF, head)
            refs[WAL_REF] = head
        self.refs = refs

    def _anchor(self, refs: Mapping[str, str]) -> None:
        """Fetch the commit at which a new clone's history of the log ends."""
        if self.head is not None:
            self.clone.anchor(self.head)
        elif WAL_REF in refs:
            self.clone.anchor_at_kept(refs)

    def _read(self, head: str, refs: Mapping[str, str]) -> Reading:
        """Return the reading of the log at `head`, a descendant of the known head."""
        if head == self.head:
            return self.reading
        if self.head is not None:
            return follow(self.log, head, self.reading)
        for ref, kept in self.clone.kept(refs):
            try:
                if isinstance(kept, Reading):
                    return follow(self.log, head, kept)
                fault = kept
            except Corrupt as error:
                fault = str(error)
            self.notices.append(f"{ref} is of no use, the log is read: {fault}")
        try:
            return self._whole(head)
        except Missing:
            self.clone.bring_log_again()
            return self._whole(head)

    def _whole(self, head: str) -> Reading:
        """Return the reading of the whole log.

        Raises:
            Missing: a part of the log is not here.
            Corrupt: the log's ref does not point to a commit.
        """
        try:
            objects.commit_in(self.objects, head)
        except Corrupt as error:
            raise Corrupt(
                f"{WAL_REF} holds no log ({error}); if there was none, remove it with: "
                f"git push REMOTE :{WAL_REF}"
            ) from error
        return follow(self.log, head)

    # --- writing ----------------------------------------------------------------------

    def push(
        self, events: Sequence[Event], updates: Mapping[str, RefUpdate], *, actor: bytes
    ) -> None:
        """Write `events` as one commit of the log and push it with `updates`.

        All or nothing; when this returns, refs and state here include the push.

        Raises:
            Conflict: a ref was not where it was last seen; look again.
            Unavailable: no answer, or no room to write; look again, the push may have
                arrived.
        """
        moves = dict(updates)
        commit = None
        if events:
            # A session's own times come from its machine's clock and may be wrong.
            ours = (event.ts for event in events if event.actor == actor)
            at_ms = max(ours, default=self.state.moment.at)
            commit = self.log.write(events, parent=self.head, actor=actor, at_ms=at_ms)
            moves[WAL_REF] = RefUpdate(WAL_REF, commit, self.head)
        self.remote.push(tuple(moves.values()))
        for ref, update in moves.items():
            if update.new is None:
                self.refs.pop(ref, None)
            else:
                self.refs[ref] = update.new
                self.clone.saw(ref, update.new)
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

        Args:
            now: unix ms.

        Raises:
            Unavailable: the checkpoint cannot be written.
        """
        if self.head is None:
            return ()
        ref = checkpoint.ref_of(now)
        data = states.encode(self.reading)
        commit = checkpoint.write(self.objects, data, self.head, now)
        refs = {**self.refs, ref: commit}
        gone = checkpoint.outdated(refs, now)
        return (
            RefUpdate(ref, commit, self.refs.get(ref)),
            *(RefUpdate(old, None, at) for old, at in gone.items()),
        )

    # --- objects ----------------------------------------------------------------------

    def take_in(self, bundle: Path, session: str) -> str:
        """Take in the objects of an attempt's bundle, checked as a stranger's.

        Returns:
            The commit of the bundle's HEAD.

        Raises:
            NoBundle: the file is no bundle.
            GitFailed: the bundle holds malformed objects, or lacks some.
        """
        head = take_in(bundle, self.path)
        if not self.has(head):
            raise NoBundle("it does not hold the commit it names")
        self.objects.references.create(_INTAKE + session, head, force=True)
        return head

    def has(self, commit: str) -> bool:
        """Whether the mirror holds a commit."""
        return isinstance(self.objects.get(commit), pygit2.Commit)

    def ensure(self, commits: Sequence[str]) -> None:
        """Fetch those of the commits that are missing here."""
        missing = [commit for commit in commits if not self.has(commit)]
        self.remote.fetch(missing)
