"""Asks the feed for people's messages to the session, in a thread of its own.

Each request also says how many messages the engine was given, so that a bot that has
forgotten this number learns it again.
"""

import threading
from collections.abc import Callable
from typing import Any

from runner.feed.feed_client import DEADLINE_S, FeedClient, FeedError
from runner.feed.message_inbox import Message
from runner.inputs.feed_address import FeedRoute

WAIT_S = 20.0
GIVEN_S = 10.0
"""How long the engine has to read its messages before the feed is asked again."""
AGAIN_S = 1.0
AGAIN_MOST_S = 30.0
LAST_S = 0.5


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
