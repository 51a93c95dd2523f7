"""Sends a running session's output and saved work, and asks for people's messages.

Each has a thread of its own. Whatever goes wrong is tried again later or dropped.
Nothing is raised, and nobody waits for the feed longer than the few seconds named here.
"""

import json
import threading
import time
from collections import deque
from collections.abc import Callable
from http import HTTPStatus
from types import TracebackType
from typing import Any, NamedTuple, Self

from runner.inputs.job_inputs import FeedRoute, Message
from runner.session.feed_client import DEADLINE_S, FeedClient, FeedError, bounded

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


PACE_S = 0.5
AGAIN_S = 1.0
AGAIN_MOST_S = 30.0
LAST_WORDS_S = 2.0
"""How long the end of the session waits for its last output to arrive."""


class OutputSender:
    """A context manager; its exit waits a moment for the last output to be sent."""

    def __init__(self, way: FeedRoute) -> None:
        self._way = way
        self._outbox = OutputQueue()
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._send, name="feed", daemon=True)
        self._again_s = AGAIN_S

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self._ending.set()
        self._outbox.wake()
        self._thread.join(LAST_WORDS_S)

    def show(self, text: str) -> None:
        """Take a piece of output, redacted; returns at once."""
        self._outbox.put(text)

    def _send(self) -> None:
        wire = FeedClient(self._way)
        try:
            while not self._is_over():
                self._outbox.wait(AGAIN_MOST_S)
                self._pause(self._sent(wire))
        finally:
            wire.close()

    def _is_over(self) -> bool:
        return self._ending.is_set() and not self._outbox.batch().pieces

    def _sent(self, wire: FeedClient) -> float:
        """Send a batch; return how long to wait before the next."""
        batch = self._outbox.batch()
        if not batch.pieces:
            return 0.0
        body = json.dumps({"first": batch.first, "pieces": batch.pieces}).encode()
        try:
            told = wire.ask("POST", "output", body)
        except FeedError as missed:
            wait_s = max(self._again_s, missed.wait_s)
            self._again_s = min(self._again_s * 2, AGAIN_MOST_S)
            return wait_s
        self._again_s = AGAIN_S
        next_number = told.get("next")
        if isinstance(next_number, int):
            self._outbox.arrived(next_number)
        return max(PACE_S, bounded(told.get("wait_s")))

    def _pause(self, wait_s: float) -> None:
        """Wait; the end of the session shortens it, so that its last output is sent."""
        until = time.monotonic() + wait_s
        while (left_s := until - time.monotonic()) > 0:
            if self._ending.wait(left_s):
                time.sleep(min(left_s, PACE_S / 2))
                return


PATIENCE_S = 30.0
LAST_S = 0.5
_FOR_GOOD = frozenset(
    {
        HTTPStatus.BAD_REQUEST,
        HTTPStatus.NOT_FOUND,  # a bot that knows of no checkpoints
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    }
)


class WorkSender:
    """A sender; close it when the session ends: the result then holds all work."""

    def __init__(self, way: FeedRoute) -> None:
        self._way = way
        self._lock = threading.Lock()
        self._newest: bytes | None = None
        self._filled = threading.Event()
        self._ending = threading.Event()
        self._thread: threading.Thread | None = None

    def send(self, bundle: bytes) -> None:
        """Send this bundle instead of any that still waits; returns at once."""
        with self._lock:
            self._newest = bundle
        self._filled.set()
        if self._thread is None:
            self._thread = threading.Thread(
                target=self._carry, name="checkpoints", daemon=True
            )
            self._thread.start()

    def close(self) -> None:
        """Stop sending; a bundle that is under way is left alone."""
        self._ending.set()
        self._filled.set()
        if self._thread is not None:
            self._thread.join(LAST_S)

    def _carry(self) -> None:
        wire = FeedClient(self._way)
        again_s = AGAIN_S
        while self._filled.wait() and not self._ending.is_set():
            with self._lock:
                bundle = self._newest
                self._filled.clear()
            if bundle is None:
                continue
            try:
                wire.ask("POST", "checkpoint", bundle, patience_s=PATIENCE_S)
            except FeedError as missed:
                if missed.status in _FOR_GOOD:
                    continue
                self._filled.set()
                self._ending.wait(max(again_s, missed.wait_s))
                again_s = min(again_s * 2, AGAIN_MOST_S)
                continue
            again_s = AGAIN_S
        wire.close()


WAIT_S = 20.0
GIVEN_S = 10.0
"""How long the engine has to read its messages before the feed is asked again."""


class MessagePoller:
    """An inbox; close it when the session ends."""

    def __init__(self, way: FeedRoute) -> None:
        self._way = way
        self._lock = threading.Lock()
        self._new: list[Message] = []
        self._last = 0
        self._heard = 0
        self._stirred = threading.Event()
        self._ending = threading.Event()
        self._thread: threading.Thread | None = None

    def listen(self, wake: Callable[[], None]) -> None:
        """Begin to ask; `wake` is called in the other thread."""
        self._thread = threading.Thread(
            target=self._ask, args=(wake,), name="messages", daemon=True
        )
        self._thread.start()

    def take(self) -> tuple[Message, ...]:
        """Return the messages that are new, each once."""
        with self._lock:
            new, self._new = tuple(self._new), []
        return new

    def heard(self, number: int) -> None:
        """Record that the engine was given the messages up to this one."""
        self._heard = number
        self._stirred.set()

    def close(self) -> None:
        """Stop asking; a request that is under way is left alone."""
        self._ending.set()
        self._stirred.set()
        if self._thread is not None:
            self._thread.join(LAST_S)

    def _ask(self, wake: Callable[[], None]) -> None:
        wire = FeedClient(self._way)
        again_s = AGAIN_S
        while not self._ending.is_set():
            self._stirred.clear()
            what = f"messages?after={self._last}&heard={self._heard}&wait_s={WAIT_S:g}"
            try:
                told = wire.ask("GET", what, patience_s=WAIT_S + DEADLINE_S)
            except FeedError as missed:
                self._ending.wait(max(again_s, missed.wait_s))
                again_s = min(again_s * 2, AGAIN_MOST_S)
                continue
            again_s = AGAIN_S
            if not self._ending.is_set() and self._take_in(told.get("messages")):
                wake()
                self._stirred.wait(GIVEN_S)
        wire.close()

    def _take_in(self, messages: Any) -> bool:  # noqa: ANN401  whatever came
        """Keep the new messages; return whether there are any."""
        new = [
            Message(self._last + number, str(each.get("by")), str(each.get("text")))
            for number, each in enumerate(messages or (), 1)
            if isinstance(each, dict)
        ]
        with self._lock:
            self._new += new
        self._last += len(new)
        return bool(new)
