"""A command that is typed and stays until the test has seen enough."""

import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Thread
from typing import Final, TypeVar

from tests.world.given_secrets import given_in
from tests.world.patience import patient
from tests.world.terminal import Terminal

SEEN_S: Final = patient(120)
LOOK_S: Final = 0.1
T = TypeVar("T")


@contextmanager
def typed(
    terminal: Terminal, *words: str, **variables: str
) -> Iterator[subprocess.Popen[str]]:
    """Type a command that stays, in a shell with these variables, too."""
    given_in(variables)
    process = subprocess.Popen(
        ["brat", *words],
        cwd=terminal.cwd,
        env=terminal.environment() | variables,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    with process:
        try:
            yield process
        finally:
            process.terminate()


class Staying:
    """A command that stays, and what it has said so far."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process = process
        self.lines: list[str] = []
        self._reader = Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line.rstrip("\n"))

    def says(self, part: str) -> str:
        """Wait for a line that holds `part`, and return it."""
        return until(lambda: next((one for one in self.lines if part in one), ""))

    def ended(self) -> int:
        """Wait for its end, and return its exit status."""
        status = self.process.wait(SEEN_S)
        self._reader.join(SEEN_S)
        return status


@contextmanager
def staying(terminal: Terminal, *words: str, **variables: str) -> Iterator[Staying]:
    """Type a command that stays, and read what it says."""
    with typed(terminal, *words, **variables) as process:
        one = Staying(process)
        try:
            yield one
        finally:
            process.terminate()
            one.ended()  # its output is read to the end, and closed then


def until(look: Callable[[], T]) -> T:
    end = time.monotonic() + SEEN_S
    while not (found := look()):
        assert time.monotonic() < end, "it was not to be seen in time"
        time.sleep(LOOK_S)
    return found
