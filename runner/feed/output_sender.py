"""Sends a session's output while it runs, in a thread of its own, at its own pace."""

import json
import threading
import time
from types import TracebackType
from typing import Self

from runner.feed.feed_client import FeedClient, FeedError, bounded
from runner.feed.output_queue import OutputQueue
from runner.inputs.feed_address import FeedRoute

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
