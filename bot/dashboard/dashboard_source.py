"""Where a dashboard reads its repository, and where its buttons' requests go."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from msgspec import Struct

from bot.dashboard.changed_lines import Changes, unknown_changes
from bot.dashboard.log_history import LogHistory
from bot.dashboard.log_past import LogPast
from bot.dashboard.state_watcher import Here, nothing_here
from bot.text.replies import Reply
from bot.verbs.request_context import Asker
from bot.verbs.verb import Request
from convoy.log.record import Reading
from convoy.model import ids
from convoy.model.state import Convoy, Task
from convoy.rules.verdict import Checks
from convoy.views.history import Decision, LogLine, PastSession
from grite.errors import BratError

_Row = TypeVar("_Row")
CarryOut = Callable[[Asker, Request], Awaitable[Reply]]
Start = Callable[[str, bool], Awaitable[int]]
"""Opens an issue with a text and asks for its convoy, which waits for approval if the
second is true; returns the issue's number. May raise `BratError`."""


class Session(Struct, frozen=True, kw_only=True):
    """A session whose output somebody wants to read."""

    name: str
    run: int
    """The workflow run; 0: it is not known."""
    running: bool


Output = Callable[[Session], str]
"""Returns the end of a session's output so far; may block."""


@dataclass(frozen=True, kw_only=True)
class DashboardSource:
    """One repository, as the dashboard sees it."""

    repository: str
    """The repository's full name, or what people call it."""
    read: Callable[[], Reading]
    """Returns the current reading of the log; may block."""
    log: Callable[[int], tuple[LogLine, ...]]
    """Returns the given number of the log's last lines; may block."""
    past: LogPast | None = None
    """What the log said earlier; None: pages show only what it says now."""
    history: LogHistory | None = None
    """What became of all changes; None: this dashboard shows no analytics."""
    clock: Callable[[], int]
    """Returns the time, unix ms."""
    here: Here = nothing_here
    """Returns the interventions that the log does not hold."""
    output: Output | None = None
    """Returns sessions' output; None: only the forge's own page shows it."""
    output_is_here: bool = False
    """Whether the output is in files here, so that all of it can be searched."""
    checks: Callable[[], Mapping[str, Checks]] = dict
    """Returns what CI was seen to say last, by commit; none where nobody looks."""
    changes: Callable[[str, str], Changes | None] = unknown_changes
    """Returns what a commit changes since another one; may block."""
    web: str = ""
    """The repository's address on the forge for people; empty: none."""
    carry_out: CarryOut | None = None
    """Carries out a person's request; None: this dashboard has no buttons."""
    start: Start | None = None
    """Begins a convoy; None: people begin them on the forge."""
    base: str = ""
    """The prefix of each path; empty: this is the only repository."""
    token: str = ""
    """The token that a person must show to press a button."""

    async def sessions(self, convoy: Convoy) -> tuple[PastSession, ...]:
        """Return all sessions of a convoy; none where the log is not all here."""
        return await self._told(lambda log: log.sessions(convoy.name))

    async def decisions(self, convoy: Convoy) -> tuple[Decision, ...]:
        """Return what people decided in a convoy; none where the log is not all here.

        The newest is the first.
        """
        return await self._told(lambda log: log.decisions(convoy.name))

    async def _told(
        self, ask: Callable[[LogHistory], tuple[_Row, ...]]
    ) -> tuple[_Row, ...]:
        if self.history is None:
            return ()
        try:
            return await asyncio.to_thread(ask, self.history)
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


def newest_session(convoy: Convoy, task: Task) -> Session:
    """Return a task's newest session."""
    return Session(
        name=ids.session_name(convoy.name, task.number, task.started),
        run=task.newest_run or 0,
        running=task.attempt is not None,
    )
