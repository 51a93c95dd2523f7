"""What waits to be sent: numbered pieces, so many; the oldest go when more comes."""

import threading
from collections import deque
from typing import NamedTuple

WAITING_CHARS = 500_000
"""What a feed that is away may still be sent later."""
PIECE_CHARS = 8_000
BATCH_CHARS = 64_000


class Batch(NamedTuple):
    """Pieces in a row."""

    first: int
    """The number of the first one."""
    pieces: tuple[str, ...]


class Outbox:
    """For the thread that puts in and the one that takes out."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._filled = threading.Event()
        self._waiting: deque[str] = deque()
        self._first = 0
        self._chars = 0

    def put(self, text: str) -> None:
        """Add some output; never waits for anybody but for a moment."""
        with self._lock:
            for start in range(0, len(text), PIECE_CHARS):
                self._waiting.append(text[start : start + PIECE_CHARS])
            self._chars += len(text)
            while self._chars > WAITING_CHARS and len(self._waiting) > 1:
                self._drop()
        self._filled.set()

    def batch(self) -> Batch:
        """Return what is to be sent next; it stays until it has arrived."""
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
        """Forget the pieces below a number; one that makes no sense forgets nothing."""
        with self._lock:
            while self._waiting and self._first < upto:
                self._drop()
            if not self._waiting:
                self._filled.clear()

    def wait(self, most_s: float) -> bool:
        """Wait until something is to be sent; return whether there is."""
        return self._filled.wait(most_s)

    def wake(self) -> None:
        """Let nobody wait for output any more."""
        self._filled.set()

    def _drop(self) -> None:
        self._chars -= len(self._waiting.popleft())
        self._first += 1
