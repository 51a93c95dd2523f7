"""Sends the newest saved work while a session runs, in a thread of its own."""

import threading
from http import HTTPStatus

from runner.feed.feed_client import FeedClient, FeedError
from runner.inputs.feed_address import FeedRoute

PATIENCE_S = 30.0
AGAIN_S = 1.0
AGAIN_MOST_S = 30.0
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
