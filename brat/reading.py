"""Reading the log: the state of a repository, without a bot or a forge.

What was read is kept beside the repository, so that the next reading costs only what is
new. That file, like the log's checkpoints, can be deleted at any time.
"""

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import pygit2

from convoy import checkpoint as states
from convoy.following import NOTHING, Reading, follow
from convoy.state import State
from grite import checkpoint
from grite.errors import Corrupt, Rewritten
from grite.wal import WAL_REF, Log

__all__ = ["WAL_REF", "Reader", "verify", "wrong_checkpoints"]

CACHE: Final = "brat-cache"
WORTH: Final = 200
"""Events that take longer to read again than to keep."""
_FILE: Final = "state.json"


@dataclass
class Reader:
    """Follows the log in one repository; each read costs only the new tail."""

    path: Path
    """A repository, bare or not."""
    cache: Path | None = None
    """A folder to keep what was read in; None: `brat-cache` in the repository's own."""
    reading: Reading = NOTHING
    notices: tuple[str, ...] = ()
    """What was kept earlier and is of no use now, and why."""

    @property
    def state(self) -> State:
        """The state as last read."""
        return self.reading.state

    @property
    def faults(self) -> tuple[str, ...]:
        """What could not be read in the log, by commit."""
        return self.reading.faults

    def read(self) -> State:
        """Return the state the log stands at now; safe to call any time.

        Raises:
            Rewritten: the log does not descend from what this reader read before.
            Missing: the log is not all here, and no checkpoint helps.
        """
        log = Log(self.path)
        head = log.head()
        if head == self.reading.head:
            return self.state
        if head is None:
            raise Rewritten(str(self.reading.head), None)
        if self.reading.head is None:
            self.reading = self._begun(log, head)
        else:
            self.reading = follow(log, head, self.reading)
        if self.reading.events >= WORTH:
            self._keep()
        return self.state

    def _begun(self, log: Log, head: str) -> Reading:
        """Read for the first time, from the nearest place that is of use."""
        for name, reading in self._kept():
            try:
                return follow(log, head, reading)
            except Corrupt as error:
                self._note(name, error)
        return follow(log, head)

    def _kept(self) -> Iterator[tuple[str, Reading]]:
        """Give what this reader or a bot kept, what is probably nearest first."""
        file = self._folder / _FILE
        try:
            yield str(file), states.decode(file.read_bytes())
        except OSError:
            pass  # nothing was kept, or nobody may read it
        except Corrupt as error:
            self._note(str(file), error)
        repo = pygit2.Repository(str(self.path))
        for ref in checkpoint.newest_first(repo.listall_references()):
            try:
                reading = states.load(repo, str(repo.references[ref].target))
            except Corrupt as error:
                self._note(ref, error)
            else:
                yield ref, replace(reading, events=WORTH)  # worth keeping here, too

    def _keep(self) -> None:
        """Keep what was read; where that cannot be, the next reading takes longer."""
        self.reading = replace(self.reading, events=0)
        beside = self._folder / f".{_FILE}.{os.getpid()}"
        with contextlib.suppress(OSError):
            self._folder.mkdir(exist_ok=True)
            beside.write_bytes(states.encode(self.reading))
            beside.replace(self._folder / _FILE)

    def _note(self, name: str, error: Corrupt) -> None:
        self.notices += (f"{name} is of no use: {error}",)

    @property
    def _folder(self) -> Path:
        own = Path(pygit2.Repository(str(self.path)).path)
        return self.cache or own / CACHE


def wrong_checkpoints(path: Path) -> dict[str, str]:
    """Hold each checkpoint of a repository against the log itself.

    Returns:
        What is wrong with each that is not what the log folds to, by ref; nobody uses
        it, or nobody should. It may be deleted.
    """
    log, repo = Log(path), pygit2.Repository(str(path))
    found: dict[str, str] = {}
    folded = NOTHING
    for ref in reversed(checkpoint.newest_first(repo.listall_references())):
        try:
            kept = states.load(repo, str(repo.references[ref].target))
            folded = _folded(log, str(kept.head), folded)
        except Corrupt as error:
            found[ref] = f"it is of no use: {error}"
        else:
            if not _same(kept.state, folded.state):
                said = "the log says something else at the commit it was made at"
                found[ref] = f"it is wrong: {said}"
    return found


def verify(path: Path) -> tuple[str, ...]:
    """Return the same as one sentence each."""
    wrong = wrong_checkpoints(path)
    return tuple(f"{ref}: {why}" for ref, why in wrong.items())


def _folded(log: Log, commit: str, nearest: Reading) -> Reading:
    """Return what the log itself says at one of its commits.

    Raises:
        Rewritten: the log does not pass through it.
        Missing: not all of the log is here.
    """
    head = log.head()
    if head is None:
        raise Rewritten(commit, None)
    log.missing(head, since=commit)
    try:
        return follow(log, commit, nearest)
    except Rewritten:  # the checkpoints' names are not in the log's order
        return follow(log, commit)


def _same(one: State, other: State) -> bool:
    return one == other and [*one.convoys] == [*other.convoys]
