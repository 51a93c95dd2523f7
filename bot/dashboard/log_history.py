"""A repository's changes and sessions, read on from where the last look ended."""

from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import Any

from convoy.log.following import Reading
from convoy.views import timeline
from convoy.views.analytics import Analytics, analytics, rows
from convoy.views.change_history import ChangeHistory
from convoy.views.session_history import Past, SessionHistory
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
        self._history, self._sessions = ChangeHistory(), SessionHistory()
        self._turn = Lock()

    def figures(self) -> Analytics:
        """Return the figures of all changes; the first time reads the whole log.

        Raises:
            Missing: the log is not all here, as in a shallow clone.
        """
        with self._turn:
            self._read_on()
            return analytics(self._history)

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each change that has ended; raises as `figures` does."""
        with self._turn:
            self._read_on()
            return rows(self._history)

    def sessions(self, convoy: str) -> tuple[Past, ...]:
        """Return a convoy's sessions; raises as `figures` does."""
        with self._turn:
            self._read_on()
            return self._sessions.of(convoy)

    def _read_on(self) -> None:
        reading = self._reading()
        if reading.head is None or reading.head == self._head:
            return
        log = Log(self._path)
        try:
            entries = log.read(reading.head, since=self._head, whole=True)
        except Rewritten:  # what was read is of another log
            self._history, self._sessions = ChangeHistory(), SessionHistory()
            entries = log.read(reading.head, whole=True)
        for fact in timeline.facts(entries, reading.state.bots):
            self._history.read((fact,))
            self._sessions.read((fact,))
        self._head = reading.head
