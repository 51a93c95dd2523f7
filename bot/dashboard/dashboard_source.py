"""Where a dashboard reads its repository, and where its buttons' requests go."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from bot.dashboard.log_history import LogHistory
from bot.dashboard.log_past import LogPast
from bot.dashboard.state_watcher import Here, nothing_here
from bot.messages.replies import Reply
from bot.verbs.request_context import Asker
from bot.verbs.verb import Request
from convoy.log.following import Reading
from convoy.model.state import Convoy, Task
from convoy.views.session_history import Past
from convoy.views.timeline import Line
from grite.errors import BratError

CarryOut = Callable[[Asker, Request], Awaitable[Reply]]
Start = Callable[[str, bool], Awaitable[int]]
"""Opens an issue with a text and asks for its convoy, which waits for approval if the
second is true; returns the issue's number. May raise `BratError`."""
Output = Callable[[Convoy, Task], str]
"""Returns the end of the newest session's output so far; may block."""


@dataclass(frozen=True, kw_only=True)
class DashboardSource:
    """One repository, as the dashboard sees it."""

    repository: str
    """The repository's full name, or what people call it."""
    read: Callable[[], Reading]
    """Returns the current reading of the log; may block."""
    log: Callable[[int], tuple[Line, ...]]
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

    async def sessions(self, convoy: Convoy) -> tuple[Past, ...]:
        """Return all sessions of a convoy; none where the log is not all here."""
        if self.history is None:
            return ()
        try:
            return await asyncio.to_thread(self.history.sessions, convoy.name)
        except BratError:
            return ()

    async def printed(self, convoy: Convoy, task: Task) -> str:
        """Return the end of the newest session's output; empty: there is none."""
        if task.newest_run is None or self.output is None:
            return ""
        return await asyncio.to_thread(self.output, convoy, task)
