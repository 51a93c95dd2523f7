"""The log: the state of a repository, without a bot or a forge, and its lines.

The log lies in the repository itself, or on its local forge. The folded state is cached
beside the repository, so that the next reading reads only new events. The cache, like
the log's checkpoints, can be deleted at any time. Lines come one by one, as they are
written, or as one of two forms of export.

No forge is asked whose signatures count. The log of a local forge: this machine's bot,
whose public key lies in its folder. Any other: what `.brat/allowed_signers` says on the
default branch as it was last fetched.
"""

import contextlib
import itertools
import json
import os
import shlex
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import msgspec
import pygit2

from brat.repository.registration import BOT_FOLDER, FORGE_FOLDER, NO_REPOSITORY
from convoy.events import Claim, Event as Fact
from convoy.log import record as states
from convoy.log.record import NOTHING_READ, Reading, fact_of, follow
from convoy.model.state import State
from convoy.text import clean
from convoy.views import history
from convoy.views.history import LogLine
from grite import checkpoint, objects, signatures
from grite.entry import Entry, foreign
from grite.errors import BratError, Corrupt, Rewritten
from grite.event import CommentAdded, Event
from grite.signatures import Authority
from grite.wal import WAL_REF, Log, TrustedHead

FETCH: Final = "git fetch origin 'refs/grite/*:refs/grite/*'"


def log_repository(path: Path) -> Path:
    """Return the repository that holds the log of the repository `path` lies in.

    A clone that has fetched refs/grite/* holds the log itself; the log of a repository
    that `brat init` registered is on its local forge.
    """
    found = pygit2.discover_repository(str(path))
    if found is None:
        raise BratError(NO_REPOSITORY.format(path.resolve()))
    repository = pygit2.Repository(found)
    if WAL_REF in repository.references:
        return Path(repository.path)
    if repository.is_bare:
        raise BratError(f"{path} has no log; fetch it with: {FETCH}")
    # Slow to load, and clones do not need these modules.
    from brat.repository import checkout as checkouts, registration as registrations

    folder = checkouts.find(path).folder
    known = registrations.known(folder)
    if known is None:
        raise BratError(
            f"{path.resolve()} has no log: `brat run` starts one here; in a clone of a "
            f"repository that has one, fetch it with: {FETCH}"
        )
    return registrations.bare_path(folder, known)


_DEFAULT: Final = ("refs/remotes/origin/HEAD", "HEAD")
_REPOSITORIES: Final = "repos"


def authority_of(path: Path) -> Authority | None:
    """Return whose signatures count for the log in a repository; None: nobody says.

    The repository's id is the forge's, so it is not known here, and any is taken.
    """
    above = path.resolve().parents
    if [each.name for each in above[1:3]] == [_REPOSITORIES, FORGE_FOLDER]:
        file = above[3] / BOT_FOLDER / signatures.BOT_SIGNERS_FILE
        try:
            text: str | None = file.read_text()
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise BratError(f"{file} cannot be read: {error}") from error
    else:
        text = _committed(path)
    return None if text is None else Authority("", signatures.parse_signers(text))


def _committed(path: Path) -> str | None:
    repo = pygit2.Repository(str(path))
    for name in _DEFAULT:
        try:
            commit = str(repo.references[name].peel(pygit2.Commit).id)
            data = objects.file_in(repo, commit, signatures.SIGNERS_FILE)
        except (Corrupt, *objects.UNREADABLE):
            continue  # there is no such branch, or no such file on it
        return data[: signatures.MOST_SIGNERS_BYTES].decode(errors="replace")
    return None


CACHE: Final = "brat-cache"
"""The cache's folder, in the repository's git folder."""
WORTH: Final = 200
"""From this many new events on, writing the cache saves time."""
_FILE: Final = "state.json"


@dataclass
class Reader:
    """Follows the log in one repository; each read costs only the new tail."""

    path: Path
    """A repository, bare or not."""
    reading: Reading = NOTHING_READ
    notices: tuple[str, ...] = ()
    """A sentence for each cache or checkpoint that is of no use, with the reason."""
    authority: Authority | None = None
    """Says whose log counts; None: what the repository itself says."""
    trusted: TrustedHead | None = None
    """How far the log counts; None: nobody says who may sign it, so all of it does."""
    _tip: str | None = None

    @property
    def state(self) -> State:
        """The state as last read."""
        return self.reading.state

    @property
    def faults(self) -> tuple[str, ...]:
        """The parts of the log that could not be read, by commit, and foreign ones."""
        above = self.trusted.warning if self.trusted else ""
        return (*self.reading.faults, *filter(None, (above,)))

    def read(self) -> State:
        """Return the log's present state; safe to call at any time.

        Raises:
            Rewritten: the log does not descend from what this reader read before.
            BratError: a line of the allowed signers is wrong.
            Missing: the log is not all here, and no checkpoint helps.
            Corrupt: the log's ref holds no log.
        """
        log = Log(self.path)
        tip = log.head()
        if tip == self._tip:
            return self.state
        if tip is None:
            raise Rewritten(str(self.reading.head), None)
        self.authority = self.authority or authority_of(self.path)
        if self.authority is not None:
            self.trusted = log.trusted_head(tip, self.authority)
        # All counts of a log that was never signed.
        head = (self.trusted and self.trusted.head) or tip
        if self.reading.head is None:
            kind = log.kind(head)
            if kind not in ("", "commit"):
                raise Corrupt(
                    f"{WAL_REF} in {log.folder} points at a {kind} ({head[:10]}), so "
                    "it is not a log; if this repository has never had a log, remove "
                    "it with: git -C "
                    f"{shlex.quote(str(log.folder))} update-ref -d {WAL_REF}"
                )
            for name, kept in self._kept():  # from the nearest that can be used
                try:
                    self.reading = follow(log, head, kept)
                    break
                except Corrupt as error:
                    self._note(name, error)
            else:
                self.reading = follow(log, head)
        else:
            self.reading = follow(log, head, self.reading)
        self._tip = tip
        if self.reading.events >= WORTH:
            self._keep()
        return self.state

    def _kept(self) -> Iterator[tuple[str, Reading]]:
        """Yield this reader's cache and a bot's checkpoints, probably nearest first."""
        file = self._folder / _FILE
        try:
            yield str(file), states.decode_reading(file.read_bytes())
        except OSError:
            pass  # there is no cache, or it may not be read
        except Corrupt as error:
            self._note(str(file), error)
        repo = pygit2.Repository(str(self.path))
        for ref in checkpoint.newest_first(repo.listall_references()):
            try:
                target = str(repo.references[ref].target)
                reading = states.load_checkpoint(repo, target, self.authority)
            except Corrupt as error:
                self._note(ref, error)
            else:
                yield ref, replace(reading, events=WORTH)  # worth keeping here, too

    def _keep(self) -> None:
        """Write the cache; if that fails, the next reading only takes longer."""
        self.reading = replace(self.reading, events=0)
        beside = self._folder / f".{_FILE}.{os.getpid()}"
        with contextlib.suppress(OSError):
            self._folder.mkdir(exist_ok=True)
            beside.write_bytes(states.encode_reading(self.reading))
            beside.replace(self._folder / _FILE)

    def _note(self, name: str, error: Corrupt) -> None:
        self.notices += (f"{name} cannot be used: {error}",)

    @property
    def _folder(self) -> Path:
        return Path(pygit2.Repository(str(self.path)).path) / CACHE


def wrong_checkpoints(path: Path) -> dict[str, str]:
    """Return the fault of each checkpoint that differs from the folded log, by ref.

    Such a checkpoint should not be used and may be deleted.
    """
    log, repo = Log(path), pygit2.Repository(str(path))
    authority = authority_of(path)
    found: dict[str, str] = {}
    folded = NOTHING_READ
    for ref in reversed(checkpoint.newest_first(repo.listall_references())):
        try:
            kept = states.load_checkpoint(
                repo, str(repo.references[ref].target), authority
            )
            folded = _folded(log, str(kept.head), folded)
        except Corrupt as error:
            found[ref] = f"it cannot be used: {error}"
        else:
            one, other = kept.state, folded.state
            if one != other or [*one.convoys] != [*other.convoys]:
                found[ref] = "it does not match the log at its own commit"
    return found


def verify(path: Path) -> tuple[str, ...]:
    """Return the checkpoints' faults, one sentence each."""
    wrong = wrong_checkpoints(path)
    return tuple(f"{ref}: {why}" for ref, why in wrong.items())


def _folded(log: Log, commit: str, nearest: Reading) -> Reading:
    """Return the state that the log itself folds to at one of its commits.

    Raises:
        Rewritten: the log does not contain the commit.
        Missing: not all of the log is here.
    """
    head = log.head()
    if head is None:
        raise Rewritten(commit, None)
    log.missing(head, since=commit)
    try:
        return follow(log, commit, nearest)
    except Rewritten:  # the checkpoints' names do not follow the log's order
        return follow(log, commit)


FOLLOW_S: Final = 0.5
SCHEMA_VERSION: Final = 1


def log_entries(path: Path, *, since: str | None = None) -> list[Entry]:
    """Return the log's entries after `since`, oldest first; none when there is no log.

    Raises `Corrupt`: the log does not descend from `since`.
    """
    log, head, above = _counting(path)
    if head is None:
        return []
    found = [] if head == since else log.entries(head, since=since)
    return [*found, *map(foreign, reversed(above))]


def newest_lines(path: Path, number: int) -> tuple[LogLine, ...]:
    """Return the last `number` lines, oldest first, without reading all of the log."""
    log, head, above = _counting(path)
    if head is None:
        return ()
    newest_first = itertools.chain(map(foreign, above), log.newest(head))
    return history.last_lines(newest_first, number)


def _counting(path: Path) -> tuple[Log, str | None, tuple[str, ...]]:
    """Return the log, its newest commit that counts, and those above, newest first.

    None: there is no log. All of it counts where nobody says who may sign it, or no
    commit is signed.
    """
    log = Log(path)
    tip = log.head()
    authority = authority_of(path) if tip else None
    found = log.trusted_head(tip, authority) if tip and authority else None
    return (log, found.head, found.foreign) if found and found.head else (log, tip, ())


def lines_of(some: list[Entry]) -> Iterator[str]:
    return map(shown_line, history.log_lines(some))


def shown_line(line: LogLine) -> str:
    at = datetime.fromtimestamp(line.at / 1000, UTC)
    who = line.actor[:8] or "--------"
    return f"{at:%Y-%m-%d %H:%M:%S} {who} {clean(line.text)}"


def follow_lines(path: Path) -> Iterator[str]:
    """Yield a line for each event that is logged from now on, without end."""
    _, since, above = _counting(path)
    told = set(above)
    while True:
        new = [
            each for each in log_entries(path, since=since) if each.commit not in told
        ]
        yield from lines_of(new)
        told |= {each.commit for each in new if each.is_foreign}
        since = next((e.commit for e in reversed(new) if not e.is_foreign), since)
        time.sleep(FOLLOW_S)


def as_markdown(some: list[Entry]) -> str:
    return "\n".join(("# Log", "", *(f"- {line}" for line in lines_of(some)), ""))


def as_json(some: list[Entry]) -> str:
    """Return the log as one JSON object: every event of every kind, and the faults."""
    events = [
        _document(event, entry.commit) for entry in some for event in entry.events
    ]
    faults = [
        {"commit": entry.commit, "fault": fault}
        for entry in some
        for fault in entry.faults
    ]
    meta = {
        "schema_version": SCHEMA_VERSION,
        "wal_head": some[-1].commit if some else None,
        "event_count": len(events),
        "foreign": [entry.commit for entry in some if entry.is_foreign],
    }
    return json.dumps({"meta": meta, "events": events, "faults": faults}, indent=1)


def _document(event: Event, commit: str) -> dict[str, Any]:
    kind = msgspec.to_builtins(event.kind)  # bytes become base64
    document: dict[str, Any] = {
        "event_id": event.id.hex(),
        "issue_id": event.issue.hex(),
        "actor": event.actor.hex(),
        "ts_unix_ms": event.ts,
        "commit": commit,
        "kind": {type(event.kind).__name__: kind},
    }
    if isinstance(event.kind, CommentAdded):
        fact = fact_of(event.kind.body)
        if isinstance(fact, Fact | Claim):
            document["brat"] = msgspec.to_builtins(fact)
    return document
