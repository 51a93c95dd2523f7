"""Where a dashboard reads its repository, and where its buttons' requests go.

The newest state is read in the background; the log's last lines and what became of all
changes are read on from the last look's end.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from threading import Lock
from typing import Final, TypeVar

import pygit2
from msgspec import Struct

from bot.requests.verb import Asker, Request
from bot.text.replies import Reply
from convoy.log.record import NOTHING_READ, Reading
from convoy.model import ids
from convoy.model.state import Convoy, State, Task
from convoy.rules.starting import Moment, moment
from convoy.rules.verdict import Checks
from convoy.text import clean, cut
from convoy.views import history as past
from convoy.views.interventions import Intervention, interventions
from grite.errors import BratError, Rewritten
from grite.wal import Log

LOOK_S: Final = 0.1
"""How often the log's head is read: one reader serves all watchers."""
HERE_S: Final = 2.0
"""How often interventions outside of the log are looked for."""

Here = Callable[[], tuple[Intervention, ...]]
"""Returns the interventions that the log does not hold; may block."""


class RepositoryView:
    """Keeps the last reading of a repository's log; for one event loop."""

    def __init__(self, source: "DashboardSource") -> None:
        self.source = source
        self._verdicts: frozenset[tuple[object, ...]] = frozenset()
        self._looked = -HERE_S
        self.here: tuple[Intervention, ...] = ()
        self.reading = NOTHING_READ
        self.trouble = ""
        """Why the last read of the log failed; empty: it succeeded."""
        self._changed = asyncio.Condition()
        self._waits: tuple[object, tuple[Intervention, ...]] = (None, ())

    @property
    def state(self) -> State:
        return self.reading.state

    @property
    def now(self) -> int:
        """The time, unix ms."""
        return self.source.clock()

    @property
    def moment(self) -> Moment:
        return moment(self.state, self.now)

    @property
    def waits(self) -> tuple[Intervention, ...]:
        """What waits for people, found anew each second."""
        now = self.now
        key = (self.reading.head, self.here, now // 1000)
        if self._waits[0] != key:
            found = interventions(self.reading.state, now, self.reading.faults)
            self._waits = (key, (*self.here, *found))
        return self._waits[1]

    @property
    def mark(self) -> str:
        """The name of the last reading: a page with another mark is outdated."""
        others = (self.here, sorted(map(repr, self._verdicts)))
        digest = blake2b(repr(others).encode(), digest_size=4)
        beside = f"+{digest.hexdigest()}" if self.here or self._verdicts else ""
        return f"{self.reading.head or ''}{'!' if self.trouble else ''}{beside}"

    async def look(self) -> None:
        """Read once, and wake waiters if something is new. Safe to call twice."""
        try:
            reading, trouble = await asyncio.to_thread(self.source.read), ""
        except BratError as error:
            reading, trouble = self.reading, str(error)
        here, now = self.here, time.monotonic()
        if now - self._looked >= HERE_S:
            self._looked = now
            here = await asyncio.to_thread(self.source.here)
        verdicts = frozenset(
            (commit, one.verdict, one.names, one.failed)
            for commit, one in self.source.checks().items()
        )
        known = (self.reading.head, self.trouble, self.here, self._verdicts)
        if (reading.head, trouble, here, verdicts) == known:
            return
        async with self._changed:
            self.reading, self.trouble, self.here = reading, trouble, here
            self._verdicts = verdicts
            self._changed.notify_all()

    async def keep_looking(self) -> None:
        while True:
            await self.look()
            await asyncio.sleep(LOOK_S)

    async def after(self, mark: str) -> str:
        async with self._changed:
            await self._changed.wait_for(lambda: self.mark != mark)
            return self.mark


_Told = TypeVar("_Told")


class LogHistory:
    """What became of changes and sessions in one repository's log; for any thread."""

    def __init__(self, path: Path, reading: Callable[[], Reading]) -> None:
        """Read nothing yet; `reading` returns what the log says now."""
        self._path = path
        self._reading = reading
        self._head: str | None = None
        self._begin()
        self._turn = Lock()

    def told(self, ask: Callable[["LogHistory"], _Told]) -> _Told:
        """Return what somebody reads from it; the first time reads the whole log."""
        with self._turn:
            self._read_on()
            return ask(self)

    def _begin(self) -> None:
        self.changes, self.sessions = past.ChangeHistory(), past.SessionHistory()
        self.decisions = past.DecisionHistory()

    def _read_on(self) -> None:
        reading = self._reading()
        if reading.head is None or reading.head == self._head:
            return
        log = Log(self._path)
        try:
            entries = log.read(reading.head, since=self._head, whole=True)
        except Rewritten:  # what was read is of another log
            self._begin()
            entries = log.read(reading.head, whole=True)
        for at, fact in past.bot_facts(entries, reading.state.bots):
            for one in (self.changes, self.sessions, self.decisions):
                one.read(at, fact)
        self._head = reading.head


class FileChange(Struct, frozen=True, kw_only=True):
    path: str
    was: str
    """Its path before; empty: the same."""
    added: int
    removed: int
    lines: tuple[tuple[str, int, str], ...]
    """Each line that is shown: `+`, `-`, a blank, or `@` where lines are left out; its
    number in the file as it is, or was; and its text. None of a file that is no text.
    """


class Changes(Struct, frozen=True):
    files: tuple[FileChange, ...]
    count: int
    """How many files change, of which some may not be shown."""
    added: int
    removed: int


MOST_FILES: Final = 300
MOST_DIFF_LINES: Final = 5000
"""So much of a change is shown: `brat diff` prints all of it."""
_LONGEST_LINE: Final = 500


def changes_in(path: Path) -> Callable[[str, str], Changes | None]:
    """Return what tells the changes between two commits; None: one is not there."""

    @lru_cache(maxsize=8)
    def known(base: str, commit: str) -> Changes:
        repository = pygit2.Repository(str(path))
        tree = repository.revparse_single(base).peel(pygit2.Tree)
        found = tree.diff_to_tree(repository[commit].peel(pygit2.Tree))
        found.find_similar()
        stats = found.stats
        shown = tuple(_shown_files(found))
        return Changes(shown, stats.files_changed, stats.insertions, stats.deletions)

    def changes(base: str, commit: str) -> Changes | None:
        try:
            return known(base, commit)
        except (KeyError, ValueError, pygit2.GitError):
            return None

    return changes


def _shown_files(diff: pygit2.Diff) -> Iterator[FileChange]:
    room = MOST_DIFF_LINES
    for patch in islice(filter(None, diff), MOST_FILES):
        lines = tuple(islice(_lines_of(patch), room))
        room -= len(lines)
        old, new = patch.delta.old_file.path, patch.delta.new_file.path
        _, added, removed = patch.line_stats
        yield FileChange(
            path=clean(new),
            was=clean(old) if old != new else "",
            added=added,
            removed=removed,
            lines=lines,
        )


def _lines_of(patch: pygit2.Patch) -> Iterator[tuple[str, int, str]]:
    for hunk in patch.hunks:
        yield "@", 0, clean(hunk.header).strip()
        for line in hunk.lines:
            if line.origin in "+- ":
                at = line.old_lineno if line.origin == "-" else line.new_lineno
                yield line.origin, at, cut(clean(line.content).rstrip(), _LONGEST_LINE)


CarryOut = Callable[[Asker, Request], Awaitable[Reply]]


class Session(Struct, frozen=True, kw_only=True):
    name: str
    run: int
    """The workflow run; 0: it is not known."""
    running: bool
    brief: bool = False
    """Whether its last lines are enough: a list asks for those of many sessions."""


Output = Callable[[Session], str]
"""Returns the end of a session's output so far, cleaned, with colours; may block."""


@dataclass(frozen=True, kw_only=True)
class DashboardSource:
    repository: str
    read: Callable[[], Reading]
    """Returns the current reading of the log; may block."""
    log: Callable[[], tuple[past.LogLine, ...]]
    """Returns the log's last lines; may block."""
    history: LogHistory
    """What became of all changes."""
    clock: Callable[[], int]
    """Returns the time, unix ms."""
    here: Here = tuple
    output: Output | None = None
    """Returns sessions' output, from files here; None: only the forge's own page shows
    it."""
    checks: Callable[[], Mapping[str, Checks]] = dict
    """Returns what CI was seen to say last, by commit; none where nobody looks."""
    changes: Callable[[str, str], Changes | None] = lambda _base, _commit: None
    """Returns what changes from one commit to another; may block."""
    web: str = ""
    """The repository's address on the forge for people; empty: none."""
    carry_out: CarryOut | None = None
    """Carries out a person's request; None: this dashboard has no buttons."""
    base: str = ""
    """The prefix of each path; empty: this is the only repository."""
    token: str = ""

    async def sessions(self, convoy: Convoy) -> tuple[past.PastSession, ...]:
        """Return all sessions of a convoy; none where the log is not all here."""
        return await self._told(lambda log: log.sessions.of(convoy.name))

    async def decisions(self, convoy: Convoy) -> tuple[past.PersonDecision, ...]:
        """Return what people decided, the newest first; none without the log."""
        return await self._told(lambda log: log.decisions.of(convoy.name))

    async def _told(
        self, ask: Callable[[LogHistory], tuple[_Told, ...]]
    ) -> tuple[_Told, ...]:
        try:
            return await asyncio.to_thread(self.history.told, ask)
        except BratError:
            return ()

    async def printed(self, convoy: Convoy, task: Task) -> str:
        """Return the end of the newest session's output; empty: there is none."""
        if task.newest_run is None:
            return ""
        return await self.output_of(newest_session(convoy, task))

    async def output_of(self, session: Session) -> str:
        """Return the end of one session's output; empty: there is none."""
        if self.output is None:
            return ""
        return await asyncio.to_thread(self.output, session)


def newest_session(convoy: Convoy, task: Task, *, brief: bool = False) -> Session:
    return Session(
        brief=brief,
        name=ids.session_name(convoy.name, task.number, task.started),
        run=task.newest_run or 0,
        running=task.attempt is not None,
    )


def past_session(convoy: Convoy, one: past.PastSession) -> Session:
    name = ids.session_name(convoy.name, one.task, one.attempt)
    return Session(name=name, run=one.run, running=not one.ended)


MOST_LINES: Final = 500


def log_tail(
    path: Path, newest: Callable[[], str | None]
) -> Callable[[], tuple[past.LogLine, ...]]:
    """Return what gives at most `MOST_LINES` last lines of the log up to `newest`.

    They are the oldest first; a shallow clone has fewer. For any thread.
    """

    @lru_cache(maxsize=1)
    def lines(head: str) -> tuple[past.LogLine, ...]:
        return past.last_lines(Log(path).newest(head), MOST_LINES)

    return lambda: lines(head) if (head := newest()) is not None else ()
