"""The bot's bare clone: what the remote's refs are, what the log says, and one push.

A cache: delete it and the next look builds it again. Everything written goes to the
remote in one atomic push, and only then is believed here. A log that was rewound or
replaced is not believed: it is put back.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

import pygit2

from bot.repository.bundle import NoBundle, take_in
from bot.repository.clone import HEADS, Clone
from bot.repository.foreseen import foreseen
from bot.repository.rewritten import believed
from bot.repository.survey import surveyed
from bot.repository.templates import template_at
from convoy import checkpoint as states
from convoy.events import Overlap, TaskSpec
from convoy.following import NOTHING, Reading, follow
from convoy.patterns.template import Template
from convoy.planner.survey import Survey
from convoy.record import fold
from convoy.state import State
from grite import checkpoint, git, objects
from grite.errors import Corrupt, GitFailed, Missing, Unavailable
from grite.event import Event
from grite.remote import RefUpdate, Remote
from grite.wal import WAL_REF, Log

__all__ = ["HEADS", "Mirror"]

_INTAKE: Final = "refs/intake/"
"""Local refs that keep an attempt's commits while they are looked at."""


@dataclass(kw_only=True)
class Mirror:
    """The local clone of one repository, and the state its log folds to."""

    clone: Clone
    refs: dict[str, str] = field(default_factory=dict)
    """The remote's refs as last seen or pushed."""
    default_branch: str = "main"
    reading: Reading = NOTHING
    """What the log said when it was last seen or pushed."""
    notices: list[str] = field(default_factory=list)
    """What a person should hear of; who tells it takes it off the list."""

    @classmethod
    def open(cls, path: Path, url: str, token: str | None) -> "Mirror":
        """Open the mirror at `path`, making it if it is not there."""
        return cls(clone=Clone(path, Remote(url, path, token)))

    # --- what is known ----------------------------------------------------------------

    @property
    def path(self) -> Path:
        """Where the clone lies."""
        return self.clone.path

    @property
    def remote(self) -> Remote:
        """The repository it is a clone of."""
        return self.clone.remote

    @remote.setter
    def remote(self, remote: Remote) -> None:
        self.clone.remote = remote

    @property
    def log(self) -> Log:
        """Over the clone's objects; its own ref is not used, the remote's counts."""
        return self.clone.log

    @property
    def objects(self) -> pygit2.Repository:
        """The clone's objects; another value after the clone was made again."""
        return self.clone.objects

    @property
    def state(self) -> State:
        """What the log folds to."""
        return self.reading.state

    @property
    def faults(self) -> tuple[str, ...]:
        """What could not be read in the log, by commit."""
        return self.reading.faults

    @property
    def head(self) -> str | None:
        """The commit the state was folded up to."""
        return self.reading.head

    @property
    def since_checkpoint(self) -> int:
        """How many events the log has after the newest checkpoint that is of use."""
        return self.reading.events

    # --- looking ----------------------------------------------------------------------

    def look(self) -> None:
        """See the remote's refs, bring what is new, fold the log's new tail.

        A log that does not descend from what was read before is put back; `notices`
        says so.

        Raises:
            Conflict: somebody moves refs right now; look again.
            Unavailable: the remote did not answer.
            Rewritten: the log could not be put back.
            Missing: the remote itself lacks a commit of the log.
            Corrupt: its ref holds no log.
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
        """Bring the place where a new clone's history of the log is to end."""
        if self.head is not None:
            self.clone.anchor(self.head)
        elif WAL_REF in refs:
            self.clone.anchor_at_kept(refs)

    def _read(self, head: str, refs: Mapping[str, str]) -> Reading:
        """Return what the log says at `head`, which descends from what is known."""
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
        """Return what the whole log says.

        Raises:
            Missing: it is not all here.
            Corrupt: its ref does not point to a commit.
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

        All or nothing; when this returns, refs and state here are what was pushed.

        Raises:
            Conflict: a ref was not where it was last seen; look again.
            Unavailable: no answer, or no room to write; look again, it may have
                arrived.
        """
        moves = dict(updates)
        commit = None
        if events:
            # A session's own times are its machine's, and anything.
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
        """Write what was read as a checkpoint; return the moves that show it.

        They also delete the oldest, so that three are left. Push them with any others;
        nothing is lost when they are never pushed. Without a log there are none.

        Args:
            now: unix ms.

        Raises:
            Unavailable: it cannot be written.
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
        """Bring the objects of an attempt's bundle, checked as a stranger's.

        Returns:
            The commit of its HEAD.

        Raises:
            NoBundle: it is no bundle.
            GitFailed: it holds malformed objects, or lacks some.
        """
        head = take_in(bundle, self.path)
        if not self.has(head):
            raise NoBundle("it does not hold the commit it names")
        self.objects.references.create(_INTAKE + session, head, force=True)
        return head

    def has(self, commit: str) -> bool:
        """Whether the mirror holds a commit."""
        return isinstance(self.objects.get(commit), pygit2.Commit)

    def foreseen(self, commit: str, tasks: tuple[TaskSpec, ...]) -> tuple[Overlap, ...]:
        """Return which of a plan's tasks, started at a commit, may collide.

        It is a guess, and no plan waits for it: where git fails there is none.
        """
        try:
            return foreseen(self.path, commit, tasks)
        except (GitFailed, Unavailable) as error:
            self.notices.append(f"Which tasks may collide is not known: {error}")
            return ()

    def template(self, commit: str, name: str) -> Template:
        """Return a pattern as a commit has it, as `template_at`; blocking."""
        self.ensure([commit])
        return template_at(self.path, commit, name)

    def diff(self, base: str, commit: str, room: int) -> str:
        """Return what a commit changes against another, as a patch, cut; blocking.

        It is more than `room` characters only where there is more.
        """
        self.ensure([base, commit])
        options = ("--no-color", "--no-ext-diff", "--no-textconv", "--stat", "--patch")
        found = git.run(["diff", *options, base, commit, "--"], cwd=self.path)
        return found.stdout[: 4 * room].decode(errors="replace")[: room + 1]

    def surveyed(self, commit: str) -> Survey:
        """Return what is known of the repository at a commit; blocking."""
        self.ensure([commit])
        return surveyed(self.path, commit)

    def lines(self, base: str, commit: str) -> int:
        """Return how many lines a commit adds and takes away; blocking."""
        self.ensure([base, commit])
        options = ("--no-ext-diff", "--no-textconv", "--numstat")
        found = git.run(["diff", *options, base, commit, "--"], cwd=self.path)
        rows = (row.split(b"\t")[:2] for row in found.stdout.splitlines())
        return sum(int(count) for row in rows for count in row if count.isdigit())

    def ensure(self, commits: Sequence[str]) -> None:
        """Bring the commits that are missing here."""
        missing = [commit for commit in commits if not self.has(commit)]
        self.remote.fetch(missing)
