"""Runs one program: passes its output on, bounds its time, ends its whole tree.

An agent's tools start sessions of their own, ignore SIGTERM, and keep pipes open after
their parent has gone. So a program has ended when none of its descendants is left, not
when its pipe closes; and nothing here waits without a deadline.

A cancelled job gets SIGINT, and SIGTERM 7.5 s later. Both mean: end the agent, keep its
work, say so. The first part of a job has nothing to keep, and is left at once.
https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-cancellation
"""

import contextlib
import math
import os
import selectors
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import IO, Literal, Protocol, Self

from msgspec import Struct

from runner.box import processes
from runner.box.processes import ASKING, KILL_S, SWEEP_S

CHUNK_BYTES = 65_536


Source = Callable[[], bytes | None]
"""Returns the next bytes of a program's input; empty: none yet; None: the end.

It is called again only when all bytes it returned before have been written.
"""


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
        self._before = {each: signal.signal(each, self._note) for each in ASKING}
        # An ignored SIGCHLD would not reach the descriptor.
        self._before[signal.SIGCHLD] = signal.signal(signal.SIGCHLD, lambda *_: None)
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

    def _note(self, _number: int, _frame: FrameType | None) -> None:
        self.wanted = True
        if self._leaves_at_once:
            self._leaves_at_once = False
            raise Cancelled


GRACE_S = 2.0
"""The time between SIGTERM and SIGKILL; a cancelled job has 7.5 s in all."""
DRAIN_S = 1.0
"""The time to empty the pipes; a process that is not ours may hold them open."""

Stream = Literal["out", "err"]
Sink = Callable[[Stream, bytes], None]


class Watcher(Protocol):
    """A source to read while the program runs; it can end the program."""

    over: bool

    def fileno(self) -> int: ...

    def take(self) -> bool:
        """Read the news; False: there will be no more."""


class Order(Struct, frozen=True):
    argv: tuple[str, ...]
    folder: Path
    env: Mapping[str, str]
    """The whole environment: nothing is inherited."""
    timeout_s: float
    stdin: Path | None = None
    """A file for its standard input; None: the input is empty."""
    silence_s: float = math.inf
    watcher: Watcher | None = None
    source: Source | None = None
    """The writer of its standard input while it runs; then `stdin` is None."""
    fds: tuple[int, ...] = ()
    side_task: Callable[[], float] = lambda: math.inf
    """Does what else is due, and returns in how many seconds more is. It is called
    again when a child has ended, and may start one, which nobody waits for."""


class Ending(Struct, frozen=True):
    exit_code: int | None = None
    signal: int | None = None
    timed_out: bool = False
    silent: bool = False
    """Ended by us, because it had written nothing for too long."""
    cancelled: bool = False
    called_off: bool = False
    """Ended by us, because the watcher said so."""
    seconds: float = 0.0
    fault: str = ""
    """A sentence on why the program could not be started; empty: it was started."""
    survivors: int = 0
    """Processes that SIGKILL did not end."""

    @property
    def cut_off(self) -> bool:
        return self.timed_out or self.silent or self.cancelled or self.called_off

    @property
    def is_killed(self) -> bool:
        """Whether the program was ended from outside, by us or by a signal."""
        return self.cut_off or self.signal is not None


class Program(Protocol):
    """A child of this process; its end sets the status."""

    pid: int
    returncode: int | None
    stdin: IO[bytes] | None
    stdout: IO[bytes] | None
    stderr: IO[bytes] | None


first_box: Callable[[Order, IO[bytes]], Program | None] | None = None
"""Starts the first box where a process is at hand that has loaded it; None: it is not.
Returning None, it has started nothing."""


def supervise(order: Order, sink: Sink, stop: Stop) -> Ending:
    """Run a program until it ends, its deadline passes, or `stop` asks for its end.

    When this returns, everything that the program started is gone; processes that ran
    before are left alone. Every child of this process is reaped here, so nobody else in
    it may wait for one. Only the main thread may call it.
    """
    with processes.adopting_orphans(), selectors.DefaultSelector() as selector:
        spared = frozenset(processes.descendants())
        started = time.monotonic()
        try:
            # No pipe where nothing is written: some engines wait for it to close.
            with open(order.stdin or os.devnull, "rb") as stdin:  # noqa: PTH123  nor a Path
                process = first_box(order, stdin) if first_box else None
                process = process or subprocess.Popen(
                    order.argv,
                    cwd=order.folder,
                    env=order.env,
                    stdin=subprocess.PIPE if order.source else stdin,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    pass_fds=order.fds,
                    bufsize=0,
                    start_new_session=True,
                )
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            return Ending(fault=f"Cannot start {order.argv[0]!r}: {reason}.")
        return _Supervision(process, selector, sink, stop, spared, order).run(started)


class _Supervision(Struct):
    _process: Program
    _selector: selectors.BaseSelector
    _sink: Sink
    _stop: Stop
    _spared: frozenset[int]
    _order: Order
    _unsaid: bytes | None = b""
    _open: dict[int, tuple[Stream, IO[bytes]]] = {}
    _last_output: float = 0.0

    def run(self, started: float) -> Ending:
        process, order = self._process, self._order
        pipes: dict[Stream, IO[bytes] | None]
        pipes = {"out": process.stdout, "err": process.stderr}
        self._open = {e.fileno(): (name, e) for name, e in pipes.items() if e}
        for each in (*self._open, self._stop.fileno()):
            self._selector.register(each, selectors.EVENT_READ)
        if order.watcher is not None:
            self._selector.register(order.watcher, selectors.EVENT_READ, order.watcher)
        if process.stdin is not None:
            os.set_blocking(process.stdin.fileno(), False)
        self._last_output = time.monotonic()
        deadline = started + order.timeout_s
        self._reap()
        while process.returncode is None and not (
            self._stop.wanted or self._is_called_off()
        ):
            self._write()
            silent_at = self._last_output + order.silence_s
            left = min(deadline, silent_at) - time.monotonic()
            if left <= 0:
                break
            self._pump(min(left, order.side_task()))
            self._reap()
        cut_off = process.returncode is None
        cancelled = cut_off and self._stop.wanted
        called_off = cut_off and not cancelled and self._is_called_off()
        is_late = time.monotonic() >= deadline
        by_time = cut_off and not cancelled and not called_off
        seconds = time.monotonic() - started
        self._close_stdin()
        survivors = self._end_tree()
        limit = time.monotonic() + DRAIN_S
        while self._open and (left := limit - time.monotonic()) > 0:
            self._pump(left)
        for fd in tuple(self._open):
            self._close(fd)
        code = process.returncode
        return Ending(
            exit_code=code if code is not None and code >= 0 else None,
            signal=-code if code is not None and code < 0 else None,
            timed_out=by_time and is_late,
            silent=by_time and not is_late,
            cancelled=cancelled,
            called_off=called_off,
            seconds=round(seconds, 3),
            survivors=survivors,
        )

    def _write(self) -> None:
        """Write what the program's input takes; the rest waits until it reads."""
        pipe, source, is_full = self._process.stdin, self._order.source, False
        if pipe is None or source is None:
            return
        while not (pipe.closed or is_full):
            self._unsaid = self._unsaid or source()
            if self._unsaid is None:
                self._close_stdin()
            if not self._unsaid:
                break
            try:
                count = os.write(pipe.fileno(), self._unsaid[:CHUNK_BYTES])
                self._unsaid = self._unsaid[count:]
            except BlockingIOError:
                is_full = True
            except OSError:  # the program no longer reads
                self._close_stdin()
        if not pipe.closed and is_full != (pipe in self._selector.get_map()):
            if is_full:
                self._selector.register(pipe, selectors.EVENT_WRITE)
            else:
                self._selector.unregister(pipe)

    def _close_stdin(self) -> None:
        """Close the program's input; safe to call twice."""
        pipe = self._process.stdin
        if pipe and not pipe.closed:
            if pipe in self._selector.get_map():
                self._selector.unregister(pipe)
            with contextlib.suppress(OSError):
                pipe.close()

    def _is_called_off(self) -> bool:
        return self._order.watcher is not None and self._order.watcher.over

    def _has_children(self) -> bool:
        return self._reap() and (not self._spared or bool(self._ours()))

    def _reap(self) -> bool:
        """Reap ended children; return whether any child of this process is left."""
        ended, left = processes.reap_children()
        if (status := ended.get(self._process.pid)) is not None:
            # Popen would wait for it again, and take a child it cannot find for a 0.
            self._process.returncode = os.waitstatus_to_exitcode(status)
        return left

    def _ours(self) -> list[int]:
        """Return the processes below this one that were not there before."""
        return [pid for pid in processes.descendants() if pid not in self._spared]

    def _end_tree(self) -> int:
        """End every process that was started; return how many outlive SIGKILL."""
        for number, patience_s in ((signal.SIGTERM, GRACE_S), (signal.SIGKILL, KILL_S)):
            limit = time.monotonic() + patience_s
            asked = False
            while (left := limit - time.monotonic()) > 0:
                if not self._has_children():
                    return 0
                if number == signal.SIGKILL or not asked:
                    asked = True
                    gone = contextlib.suppress(ProcessLookupError, PermissionError)
                    if sys.platform != "linux":
                        with gone:
                            os.killpg(self._process.pid, number)
                    for pid in self._ours():
                        with gone:
                            os.kill(pid, number)
                self._pump(min(left, SWEEP_S))
        return len(self._ours()) if self._has_children() else 0

    def _pump(self, patience_s: float) -> None:
        for key, _ in self._selector.select(patience_s):
            if key.fileobj is self._process.stdin:
                continue  # it is written to before the next wait
            if key.data is not None:
                if not key.data.take():
                    self._selector.unregister(key.fileobj)
            elif key.fd not in self._open:
                with contextlib.suppress(BlockingIOError):
                    while os.read(key.fd, CHUNK_BYTES):
                        pass
            elif chunk := os.read(key.fd, CHUNK_BYTES):
                self._last_output = time.monotonic()
                self._sink(self._open[key.fd][0], chunk)
            else:
                self._close(key.fd)

    def _close(self, fd: int) -> None:
        self._selector.unregister(fd)
        self._open.pop(fd)[1].close()
