"""A process that has the runner loaded, and forks one of its own for each session.

Whoever starts many sessions on a machine starts `python -I -m brat.local.warm_runner`
with a socket as its standard input. A message with a descriptor there is the line of a
new session; one with a number names a session that has ended, whose number may be used
again. What a session is told, its token among it, goes by its own line, which this
process closes unread: it forks each session as it was itself loaded. No other process
of its user can look into it. It ends with its input.

A message with more descriptors starts a program in a box (`runner.box.namespaces`), as
a child of whoever asks: it has a line of its own, too, and the descriptors that the
message numbers. A session has its first box from a process like this one, forked before
it is told anything.
"""

import fcntl
import gc
import json
import os
import signal
import socket
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from importlib import import_module
from typing import IO, Any

from msgspec import Struct

from runner.__main__ import main
from runner.box import kernel, seccomp, supervisor
from runner.box.processes import harden
from runner.box.supervisor import Order, Program

_BYTES, _HANDED_MOST = 262_144, 8
_START_S = 20.0


def next_session() -> tuple[socket.socket, Callable[[], None]]:
    """Wait for sessions for ever; return, in the process of each, its line.

    And what makes a child of that process what the line describes.
    """
    _load_what_is_late()
    gc.freeze()
    control = socket.socket(fileno=os.dup(0))
    os.close(0)
    os.open(os.devnull, os.O_RDONLY)
    harden(os.defpath, {})
    while True:
        said, given, *_ = socket.recv_fds(control, _BYTES, _HANDED_MOST)
        if not said:
            os._exit(0)
        if not given:
            with suppress(ChildProcessError):
                os.waitpid(int(said), os.WNOHANG)
        elif len(given) > 1:
            _start_box(said, given)
            for each in given:
                os.close(each)
        elif os.fork():
            os.close(given[0])
        else:
            control.close()
            os.setsid()
            line = socket.socket(fileno=given[0])
            try:
                line.sendall(b"%d" % os.getpid())
            except OSError:  # whoever asked has gone
                os._exit(1)
            return line, partial(_take_over, line)


def _load_what_is_late() -> None:
    """Load, find and compile once what the runner leaves until it needs it."""
    import_module("encodings.ascii")
    import_module("runner.session.feed_client")
    from convoy.gate import GONE, PathChange, passing
    from convoy.model.records import Gate
    from grite import signatures, trusted_programs
    from runner.box import surroundings

    import_module("runner.box.namespaces")
    surroundings.own_code()
    passing((PathChange("file", GONE, GONE),), Gate())
    signatures.open_signer("")
    trusted_programs.found("git")
    trusted_programs.folders()


_AS_OUR_SIBLING = 0x8000


def _start_box(order: bytes, given: list[int]) -> None:
    """Fork a child of our parent, which becomes the box once it may.

    https://man7.org/linux/man-pages/man2/clone.2.html (CLONE_PARENT)
    """
    calls, how = seccomp.CALLS.get(os.uname().machine), _AS_OUR_SIBLING | signal.SIGCHLD
    if not calls or kernel.libc.syscall(calls["clone"], how, 0, 0, 0, 0):
        return
    status = kernel.CANNOT_START
    try:
        status = _boxed(json.loads(order), given)
    finally:
        os._exit(status)


def _boxed(told: dict[str, Any], given: list[int]) -> int:
    from runner.box.namespaces import main as build

    os.setsid()
    kernel.prctl(kernel.DUMPABLE, 1)  # else only root can set the box's users
    wanted: list[int] = told["fds"]
    above = max(wanted) + 1
    line, *rest = (fcntl.fcntl(e, fcntl.F_DUPFD_CLOEXEC, above) for e in given)
    for each, number in zip(rest, wanted, strict=True):
        os.dup2(each, number)
    kept = {0, *wanted, line}
    for number in map(int, os.listdir("/proc/self/fd")):  # noqa: PTH208  words
        if number not in kept:
            with suppress(OSError):  # the list's own
                os.close(number)
    os.write(line, b"%d" % os.getpid())
    if not os.read(line, 1):  # whoever asked has gone
        return kernel.CANNOT_START
    os.close(line)
    os.chdir(told["folder"])
    _set_environment(told["env"])
    return build(told["argv"])


def _set_environment(wanted: Mapping[str, str]) -> None:
    env = os.environ  # noqa: TID251  the place of what it is told
    env.clear()
    env.update(wanted)


def _take_over(line: socket.socket) -> None:
    """Become the process that a line describes.

    Where no whole order comes, whoever asked has gone and knows of no session.
    """
    first = _forked_for_one_box(line)
    order, handed = bytearray(), list[int]()
    try:
        while True:
            said, given, *_ = socket.recv_fds(line, _BYTES, _HANDED_MOST)
            order += said
            handed += given
            if not said:
                break
        told = json.loads(order)
    except (OSError, ValueError):
        os._exit(1)
    line.close()
    output, *pipes = handed
    for number in (1, 2):
        os.dup2(output, number)
    os.close(output)
    os.chdir(told["folder"])
    numbers = zip(told["handed"], map(str, pipes), strict=True)
    _set_environment({**told["env"], **dict(numbers)})
    supervisor.first_box = partial(_start_first, first)


def _forked_for_one_box(line: socket.socket) -> socket.socket:
    """Fork a process that starts one box, and then ends; return its line."""
    ours, theirs = socket.socketpair(type=socket.SOCK_SEQPACKET)
    parent = os.getpid()
    if os.fork():
        theirs.close()
        return ours
    try:
        kernel.prctl(kernel.DIE_WITH_PARENT, signal.SIGKILL)
        line.close()  # what it holds is for our parent alone
        ours.close()
        if os.getppid() == parent:
            said, given, *_ = socket.recv_fds(theirs, _BYTES, _HANDED_MOST)
            theirs.close()
            if said:
                _start_box(said, given)
    finally:
        os._exit(0)


class _Box(Struct):
    """A box that was forked, for `supervise`."""

    pid: int
    stdin: IO[bytes] | None
    stdout: IO[bytes] | None
    stderr: IO[bytes] | None
    returncode: int | None = None


def _start_first(
    first: socket.socket, order: Order, stdin: IO[bytes]
) -> Program | None:
    """Start the session's first box; None: this is no box, or cannot be forked."""
    from runner.box.agent_box import LAUNCHER

    if order.argv[: len(LAUNCHER)] != LAUNCHER:
        return None
    supervisor.first_box = None
    read, write = os.pipe() if order.source else (os.dup(stdin.fileno()), -1)
    (out, out_end), (err, err_end) = os.pipe(), os.pipe()
    ours, theirs = socket.socketpair()
    told = {
        "argv": order.argv[len(LAUNCHER) :],
        "folder": str(order.folder),
        "env": {**order.env},
        "fds": (0, 1, 2, *order.fds),
    }
    given = theirs.fileno(), read, out_end, err_end, *order.fds
    try:
        socket.send_fds(first, [json.dumps(told).encode()], given)
        theirs.close()
        ours.settimeout(_START_S)
        pid = int(ours.recv(20))
        ours.sendall(b"!")
    except (OSError, ValueError):
        for number in (out, err, *((write,) if order.source else ())):
            os.close(number)
        return None
    finally:
        for each in (first, ours, theirs):
            each.close()
        for number in (read, out_end, err_end):
            os.close(number)
    said = open(out, "rb", 0), open(err, "rb", 0)  # noqa: PTH123, SIM115  descriptors
    into = open(write, "wb", 0) if order.source else None  # noqa: PTH123, SIM115
    return _Box(pid, into, *said)


if __name__ == "__main__":
    main(next_session)
