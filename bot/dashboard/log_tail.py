"""Keeps the log's last lines, so that each look reads only new ones."""

from collections import deque
from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import Final

from convoy.views import history
from convoy.views.history import LogLine
from grite.errors import Missing, Rewritten
from grite.wal import Log

MOST: Final = 500
"""The most lines kept."""


class LogTail:
    """The end of the log in one repository; for any thread."""

    def __init__(
        self, path: Path, newest: Callable[[], str | None] | None = None
    ) -> None:
        """Prepare to read a log; nothing is read yet.

        Args:
            path: the repository with the log.
            newest: returns the log's head; None: the repository's own ref is used.
        """
        self._path = path
        self._newest = newest
        self._head: str | None = None
        self._lines: deque[LogLine] = deque(maxlen=MOST)
        self._turn = Lock()

    def last(self, number: int) -> tuple[LogLine, ...]:
        """Return at most `number` lines, oldest first; a shallow clone has fewer."""
        with self._turn:
            self._read_on()
            return tuple(self._lines)[-number:]

    def _read_on(self) -> None:
        log = Log(self._path)
        head = self._newest() if self._newest else log.head()
        if head is None or head == self._head:
            return
        if not (self._head and self._added(log, head, self._head)):
            self._lines.clear()
            self._lines.extend(history.last_lines(log.newest(head), MOST))
        self._head = head

    def _added(self, log: Log, head: str, known: str) -> bool:
        """Add the new lines; return False if the log does not continue from `known`."""
        try:
            news = log.entries(head, since=known)
        except (Missing, Rewritten):
            return False
        self._lines.extend(history.log_lines(news))
        return True
