"""What a repository's log folded to earlier, for the pages that show it."""

from collections.abc import Callable
from pathlib import Path
from threading import Lock

from convoy.log.record import LogStep, PastStates
from convoy.model.state import State
from grite.wal import Log


class LogPast:
    """The past of the log in one repository; for any thread."""

    def __init__(self, path: Path, newest: Callable[[], str | None]) -> None:
        """Prepare to read a log; nothing is read yet.

        Args:
            path: the repository with the log.
            newest: returns the newest commit that counts; None: there is none yet.
        """
        self._path = path
        self._newest = newest
        self._past: PastStates | None = None
        self._turn = Lock()

    def steps(self, convoy: str) -> tuple[LogStep, ...]:
        """Return the commits that changed a convoy, oldest first.

        Raises:
            Missing: the log is not all here, as in a shallow clone.
        """
        with self._turn:
            head = self._newest()
            return self._states().steps(head, convoy) if head else ()

    def at(self, step: LogStep) -> State:
        """Return what the log folds to at a step.

        Raises:
            Rewritten: the log does not hold it any more.
        """
        with self._turn:
            return self._states().at(step)

    def _states(self) -> PastStates:
        if self._past is None:
            self._past = PastStates(Log(self._path))
        return self._past
