"""Holds numbered pieces of output to be sent; when full, it drops the oldest."""

import threading
from collections import deque
from typing import NamedTuple

WAITING_CHARS = 500_000
"""How much output is kept while the feed cannot be reached."""
PIECE_CHARS = 8_000
BATCH_CHARS = 64_000


class Batch(NamedTuple):
    """Pieces in a row."""

    first: int
    """The number of the first piece."""
    pieces: tuple[str, ...]


class OutputQueue:
    """A queue for one thread that adds and one that sends."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._filled = threading.Event()
        self._waiting: deque[str] = deque()
        self._first = 0
        self._chars = 0

    def put(self, text: str) -> None:
        """Add some output; waits for a moment at most."""
        with self._lock:
            for start in range(0, len(text), PIECE_CHARS):
                self._waiting.append(text[start : start + PIECE_CHARS])
            self._chars += len(text)
            while self._chars > WAITING_CHARS and len(self._waiting) > 1:
                self._drop()
        self._filled.set()

    def batch(self) -> Batch:
        """Return the next batch to send; it stays in the queue until it has arrived."""
        with self._lock:
            found: list[str] = []
            room = BATCH_CHARS
            for piece in self._waiting:
                room -= len(piece)
                if found and room < 0:
                    break
                found.append(piece)
            return Batch(self._first, tuple(found))

    def arrived(self, upto: int) -> None:
        """Forget the pieces below a number, if the number makes sense."""
        with self._lock:
            while self._waiting and self._first < upto:
                self._drop()
            if not self._waiting:
                self._filled.clear()

    def wait(self, most_s: float) -> bool:
        """Wait until there is output to send; return whether there is any."""
        return self._filled.wait(most_s)

    def wake(self) -> None:
        """End the waiting for output."""
        self._filled.set()

    def _drop(self) -> None:
        self._chars -= len(self._waiting.popleft())
        self._first += 1
