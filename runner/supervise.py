"""One program under supervision: output pumped, time bounded, the whole tree ended.

An agent's tools start programs in sessions of their own, ignore SIGTERM, and keep pipes
open after their parent has gone; so the end is when no descendant is left, not when a
pipe closes, and nothing here waits without a deadline.
"""

import math
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Literal, Protocol

from msgspec import Struct

from runner import descent
from runner.mouth import Mouth, Talk
from runner.stop import Stop

GRACE_S = 2.0
"""Between SIGTERM and SIGKILL; a cancelled job has 7.5 s for all."""
KILL_S = 3.0
"""How long SIGKILL is repeated; only a process stuck in the kernel outlasts it."""
DRAIN_S = 1.0
"""For what is left in the pipes; a process that is not ours may hold them open."""
SWEEP_S = 0.05
CHUNK_BYTES = 65_536

Stream = Literal["out", "err"]
Sink = Callable[[Stream, bytes], None]


class Aside(Protocol):
    """Something to be heard while the program runs, that can call it off."""

    over: bool
    """Whether the program must end."""

    def fileno(self) -> int:
        """Return what becomes readable when there is something to hear."""

    def take(self) -> bool:
        """Hear it; False: there will be nothing more."""


class Beside(Protocol):
    """Something done now and then while the program runs, by a process of its own."""

    def due_s(self) -> float:
        """Return in how many seconds it is to be begun."""

    def begin(self) -> None:
        """Begin it, as a child of this process; nobody waits for it."""

    def ended(self, statuses: Mapping[int, int]) -> None:
        """Hear which children have ended, by id, and their wait statuses."""


class Order(Struct, frozen=True):
    """What to start."""

    argv: tuple[str, ...]
    folder: Path
    env: Mapping[str, str]
    """All of it: nothing is inherited."""
    timeout_s: float
    stdin: Path | None = None
    """A file for its standard input; None: nothing."""
    silence_s: float = math.inf
    """How long it may write nothing."""
    aside: Aside | None = None
    talk: Talk | None = None
    """Who says something on its standard input while it runs; then `stdin` is None."""
    fds: tuple[int, ...] = ()
    """Descriptors that it gets beside the standard ones."""
    beside: Beside | None = None


class Ending(Struct, frozen=True):
    """How it ended."""

    exit_code: int | None = None
    signal: int | None = None
    timed_out: bool = False
    silent: bool = False
    """Ended by us, because it had written nothing for too long."""
    cancelled: bool = False
    called_off: bool = False
    """Ended by us, because what is heard aside said so."""
    seconds: float = 0.0
    fault: str = ""
    """Why it could not be started, a sentence; empty: it was."""
    survivors: int = 0
    """Processes that SIGKILL did not end."""

    @property
    def cut_off(self) -> bool:
        """Whether it was ended by us."""
        return self.timed_out or self.silent or self.cancelled or self.called_off


def supervise(order: Order, sink: Sink, stop: Stop) -> Ending:
    """Run a program to its end, by itself, by its deadline or because of `stop`.

    However it ends, all it started is gone when this returns; what ran before is left
    alone. It buries every child of this process, so nobody else here may be waiting for
    one. Only the main thread may call it.
    """
    descent.adopt_orphans()
    spared = frozenset(descent.descendants())
    started = time.monotonic()
    try:
        process = _started(order)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        return Ending(fault=f"Cannot start {order.argv[0]!r}: {reason}.")
    with selectors.DefaultSelector() as selector:
        watch = _Watch(process, selector, sink, stop, spared, order.beside)
        watch.hear(order.aside)
        watch.speak(order.talk)
        return watch.until_the_end(started, order)


def _started(order: Order) -> subprocess.Popen[bytes]:
    # A pipe only for who is talked to: some engines wait for it to close.
    with open(order.stdin or os.devnull, "rb") as stdin:  # noqa: PTH123  nor a Path
        return subprocess.Popen(
            order.argv,
            cwd=order.folder,
            env=order.env,
            stdin=subprocess.PIPE if order.talk else stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=order.fds,
            bufsize=0,
            start_new_session=True,
        )


class _Watch:
    def __init__(
        self,
        process: subprocess.Popen[bytes],
        selector: selectors.BaseSelector,
        sink: Sink,
        stop: Stop,
        spared: frozenset[int],
        beside: Beside | None,
    ) -> None:
        self._process = process
        self._beside = beside
        self._spared = spared
        self._selector = selector
        self._sink = sink
        self._stop = stop
        self._open: dict[int, tuple[Stream, IO[bytes]]] = {}
        self._heard = time.monotonic()
        self._mouth: Mouth | None = None
        self._waits_to_say = False
        pipes: tuple[tuple[Stream, IO[bytes] | None], ...]
        pipes = ("out", process.stdout), ("err", process.stderr)
        for name, pipe in pipes:
            if pipe is not None:
                self._open[pipe.fileno()] = name, pipe
                selector.register(pipe, selectors.EVENT_READ)
        selector.register(stop, selectors.EVENT_READ)

    def hear(self, aside: Aside | None) -> None:
        """Hear what comes aside, too."""
        if aside is not None:
            self._selector.register(aside, selectors.EVENT_READ, aside)

    def speak(self, talk: Talk | None) -> None:
        """Let somebody talk to the program."""
        if talk is not None and self._process.stdin is not None:
            self._mouth = Mouth(self._process.stdin, talk)

    def until_the_end(self, started: float, order: Order) -> Ending:
        deadline = started + order.timeout_s
        aside = order.aside
        while self._is_running() and not self._stop.wanted:
            if aside is not None and aside.over:
                break
            self._say()
            left = min(_left(deadline), _left(self._heard + order.silence_s))
            if left == 0:
                break
            self._pump(min(left, self._wait_s()))
        cut_off, cancelled = self._process.returncode is None, self._stop.wanted
        called_off = aside is not None and aside.over
        is_late = _left(deadline) == 0
        by_time = cut_off and not cancelled and not called_off
        seconds = time.monotonic() - started
        self._fall_silent()
        survivors = self._end_tree()
        self._drain()
        code = self._process.returncode
        return Ending(
            exit_code=code if code is not None and code >= 0 else None,
            signal=-code if code is not None and code < 0 else None,
            timed_out=by_time and is_late,
            silent=by_time and not is_late,
            cancelled=cut_off and cancelled,
            called_off=cut_off and called_off and not cancelled,
            seconds=round(seconds, 3),
            survivors=survivors,
        )

    def _wait_s(self) -> float:
        """Begin what is due beside the program; return when it is due again."""
        if self._beside is None:
            return math.inf
        if self._beside.due_s() == 0:
            self._beside.begin()
        return self._beside.due_s()

    def _say(self) -> None:
        """Say what there is to say, and wait for who does not listen yet."""
        mouth = self._mouth
        if mouth is None:
            return
        waits = mouth.turn()
        if waits and not self._waits_to_say:
            self._selector.register(mouth, selectors.EVENT_WRITE)
        elif self._waits_to_say and not waits:
            self._selector.unregister(mouth)
        self._waits_to_say = waits

    def _fall_silent(self) -> None:
        if self._mouth is not None:
            if self._waits_to_say:
                self._selector.unregister(self._mouth)
            self._mouth.close()

    def _is_running(self) -> bool:
        self._bury()
        return self._process.returncode is None

    def _has_children(self) -> bool:
        return self._bury() and (not self._spared or bool(self._ours()))

    def _bury(self) -> bool:
        """Bury what has ended; return whether any child of this process is left."""
        ended, left = descent.reap()
        if self._beside is not None and ended:
            self._beside.ended(ended)
        if (status := ended.get(self._process.pid)) is not None:
            # Popen would wait for it again, and take a child it cannot find for a 0.
            self._process.returncode = os.waitstatus_to_exitcode(status)
        return left

    def _ours(self) -> list[int]:
        """Return the processes below ours that were not there before."""
        return [pid for pid in descent.descendants() if pid not in self._spared]

    def _end_tree(self) -> int:
        for number, patience_s in ((signal.SIGTERM, GRACE_S), (signal.SIGKILL, KILL_S)):
            limit = time.monotonic() + patience_s
            asked = False
            while _left(limit) > 0:
                if not self._has_children():
                    return 0
                if number == signal.SIGKILL or not asked:
                    descent.send(number, self._process.pid, self._spared)
                    asked = True
                self._pump(min(_left(limit), SWEEP_S))
        return len(self._ours()) if self._has_children() else 0

    def _drain(self) -> None:
        limit = time.monotonic() + DRAIN_S
        while self._open and _left(limit) > 0:
            self._pump(_left(limit))
        for fd in tuple(self._open):
            self._close(fd)

    def _pump(self, patience_s: float) -> None:
        for key, _ in self._selector.select(patience_s):
            if key.fileobj is self._mouth:
                continue  # it is asked again before the next wait
            if key.data is not None:
                if not key.data.take():
                    self._selector.unregister(key.fileobj)
            elif key.fd not in self._open:
                self._stop.drain()
            elif chunk := os.read(key.fd, CHUNK_BYTES):
                self._heard = time.monotonic()
                self._sink(self._open[key.fd][0], chunk)
            else:
                self._close(key.fd)

    def _close(self, fd: int) -> None:
        self._selector.unregister(fd)
        self._open.pop(fd)[1].close()


def _left(deadline: float) -> float:
    return max(0.0, deadline - time.monotonic())
