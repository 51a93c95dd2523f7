"""Turns SIGINT and SIGTERM into something that a selector can wait for.

A cancelled job gets SIGINT, and SIGTERM 7.5 s later. Both mean: end the agent, keep its
work, say so. The first part of a job has nothing to keep, and is left at once.
https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-cancellation
"""

import contextlib
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Self

_ASKING = (signal.SIGINT, signal.SIGTERM)


class Cancelled(Exception):
    """Somebody asked the job to stop while it had nothing to keep."""


class Stop:
    """Knows whether somebody asked the job to end; its descriptor wakes a selector.

    It also wakes the selector when a child has ended. Only the main thread may enter
    it, and only once.
    """

    def __init__(self) -> None:
        self.wanted = False
        self._leaves_at_once = False
        self._reader, self._writer = os.pipe()
        self._lock, self._is_open = threading.Lock(), True
        for end in (self._reader, self._writer):
            os.set_blocking(end, False)

    def __enter__(self) -> Self:
        signal.set_wakeup_fd(self._writer, warn_on_full_buffer=False)
        self._before = {each: signal.signal(each, self._note) for each in _ASKING}
        self._before[signal.SIGCHLD] = signal.signal(signal.SIGCHLD, _wake_up)
        return self

    def __exit__(self, *_: object) -> None:
        for each, before in self._before.items():
            signal.signal(each, before)
        signal.set_wakeup_fd(-1)
        with self._lock:
            self._is_open = False
            os.close(self._reader)
            os.close(self._writer)

    @contextmanager
    def leaving_at_once(self) -> Iterator[None]:
        """Let a signal in this block, or before it, raise Cancelled."""
        self._leaves_at_once = True
        try:
            if self.wanted:
                raise Cancelled
            yield
        finally:
            self._leaves_at_once = False

    def fileno(self) -> int:
        """Return the descriptor that becomes readable when a signal has come."""
        return self._reader

    def nudge(self) -> None:
        """Wake the selector; safe from any thread, also when nobody waits any more."""
        with self._lock:
            if self._is_open:
                with contextlib.suppress(BlockingIOError):
                    os.write(self._writer, b"\0")

    def drain(self) -> None:
        """Forget the wake-ups so far."""
        try:
            while os.read(self._reader, 4096):
                pass
        except BlockingIOError:
            return

    def _note(self, _number: int, _frame: FrameType | None) -> None:
        self.wanted = True
        if self._leaves_at_once:
            self._leaves_at_once = False
            raise Cancelled


def _wake_up(_number: int, _frame: FrameType | None) -> None:
    """Make the wake-up descriptor get SIGCHLD, which an ignored signal would not."""
