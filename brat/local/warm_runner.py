"""A process that has the runner loaded, and forks one of its own for each session.

Whoever starts many sessions on a machine starts `python -I -m brat.local.warm_runner`
with a socket as its standard input. A message with a descriptor there is the line of a
new session; one with a number names a session that has ended, whose number may be used
again. What a session is told, its token among it, goes by its own line, which this
process closes unread: it forks each session as it was itself loaded. No other process
of its user can look into it. It ends with its input.

A message with more descriptors starts a program in a box (`runner.box.namespaces`), as
a child of whoever asks: it has a line of its own, too, its output, and what its
arguments name by number.
"""

import fcntl
import gc
import json
import os
import signal
import socket
from contextlib import suppress
from importlib import import_module
from typing import Any

from runner.__main__ import main
from runner.box import kernel
from runner.box.processes import harden

_BYTES, _HANDED_MOST = 262_144, 8


def next_session() -> socket.socket:
    """Wait for sessions for ever; return, in the process of each, its line."""
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
            line = socket.socket(fileno=given[0])
            _take_over(line)
            return line


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


_AS_OUR_SIBLING, _MAY_BE_SEEN = 0x8000, 4


def _start_box(order: bytes, given: list[int]) -> None:
    """Fork a child of our parent, which becomes the box once it may.

    https://man7.org/linux/man-pages/man2/clone.2.html (CLONE_PARENT)
    """
    number, flags = kernel.CLONE.get(os.uname().machine), _AS_OUR_SIBLING
    if not number or kernel.libc.syscall(number, flags | signal.SIGCHLD, 0, 0, 0, 0):
        return
    status = kernel.CANNOT_START
    try:
        status = _boxed(json.loads(order), given)
    finally:
        os._exit(status)


def _boxed(told: dict[str, Any], given: list[int]) -> int:
    from runner.box.namespaces import main as build

    os.setsid()
    kernel.prctl(_MAY_BE_SEEN, 1)  # by the box's own start, which sets its users
    wanted = (1, 2, *told["fds"])
    above = max(wanted) + 1
    line, output, *rest = (fcntl.fcntl(e, fcntl.F_DUPFD_CLOEXEC, above) for e in given)
    for each, number in zip((output, output, *rest), wanted, strict=True):
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
    env = os.environ  # noqa: TID251  the place of what it is told
    env.clear()
    env.update(told["env"])
    return build(told["argv"])


def _take_over(line: socket.socket) -> None:
    """Say who we are, and become the process that the line then describes.

    Where no whole order comes, whoever asked has gone and knows of no session.
    """
    os.setsid()
    line.set_inheritable(False)
    order, handed = bytearray(), list[int]()
    try:
        line.sendall(b"%d" % os.getpid())
        while True:
            said, given, *_ = socket.recv_fds(line, _BYTES, _HANDED_MOST)
            order += said
            handed += given
            if not said:
                break
        told = json.loads(order)
    except (OSError, ValueError):
        os._exit(1)
    output, *pipes = handed
    for number in (1, 2):
        os.dup2(output, number)
    os.close(output)
    os.chdir(told["folder"])
    env = os.environ  # noqa: TID251  the place of what it is told
    env.clear()
    env.update(told["env"])
    env.update(zip(told["handed"], map(str, pipes), strict=True))


if __name__ == "__main__":
    main(next_session)
