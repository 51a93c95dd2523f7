"""A repository's changes, sessions and decisions, read on from the last look's end."""

from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import Any

from convoy.log.record import Reading
from convoy.views import history
from convoy.views.analytics import (
    Analytics,
    EngineCost,
    analytics,
    change_rows,
    engine_costs,
)
from convoy.views.history import (
    ChangeHistory,
    Decision,
    DecisionHistory,
    PastSession,
    SessionHistory,
)
from grite.errors import Rewritten
from grite.wal import Log


class LogHistory:
    """What became of changes and sessions in one repository's log; for any thread."""

    def __init__(self, path: Path, reading: Callable[[], Reading]) -> None:
        """Prepare to read a log; nothing is read yet.

        Args:
            path: the repository with the log.
            reading: returns what the log says now.
        """
        self._path = path
        self._reading = reading
        self._head: str | None = None
        self._begin()
        self._turn = Lock()

    def figures(self) -> Analytics:
        """Return the figures of all changes; the first time reads the whole log.

        Raises:
            Missing: the log is not all here, as in a shallow clone.
        """
        with self._turn:
            self._read_on()
            return analytics(self._history)

    def costs(self, since: int) -> tuple[EngineCost, ...]:
        """Return what engines used since a time (unix ms); raises as `figures` does."""
        with self._turn:
            self._read_on()
            return engine_costs(self._history, since)

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each change that has ended; raises as `figures` does."""
        with self._turn:
            self._read_on()
            return change_rows(self._history)

    def sessions(self, convoy: str) -> tuple[PastSession, ...]:
        """Return a convoy's sessions; raises as `figures` does."""
        with self._turn:
            self._read_on()
            return self._sessions.of(convoy)

    def decisions(self, convoy: str) -> tuple[Decision, ...]:
        """Return what people decided in a convoy; raises as `figures` does."""
        with self._turn:
            self._read_on()
            return self._decisions.of(convoy)

    def _begin(self) -> None:
        self._history, self._sessions = ChangeHistory(), SessionHistory()
        self._decisions = DecisionHistory()

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
        for fact in history.bot_facts(entries, reading.state.bots):
            self._history.read((fact,))
            self._sessions.read((fact,))
            self._decisions.read((fact,))
        self._head = reading.head
