"""Start a program in a box that takes no namespaces: Landlock, seccomp and a broker.

`FD WAY USER WHY PLACES... -- PROGRAM ARGUMENT...`, started by `runner.box.namespaces`,
with its words, where a machine refuses namespaces, as most containers do; WHY says so.
The program reads, runs and writes what the PLACES name, at their own paths. This
process stays outside as its parent, and makes its sockets (`runner.box.socket_broker`).
FD is told which walls stand; if one fails, FD is told why, and nothing is started.

https://docs.kernel.org/userspace-api/landlock.html
https://man7.org/linux/man-pages/man2/seccomp_unotify.2.html
"""

import ctypes
import os
import select
import signal
import socket
import sys
from collections.abc import Sequence

from runner.box import capabilities, landlock, landlock_paths, seccomp
from runner.box.network_namespace import CLOSED
from runner.box.process_tree import adopting_orphans
from runner.box.socket_broker import Broker, receive_filter
from runner.box.socket_handover import send

_DIE_WITH_PARENT = 1
_QUIET = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
_CANNOT_START = 126


class _Box:
    """What a box is made of."""

    def __init__(self, way: str, user: str, places: Sequence[str]) -> None:
        self.exits = [int(each) for each in way.split(",") if each]
        self.user = [int(each) for each in user.split(":", 2)[:2]] if user else []
        self.read_only = landlock_paths.read_only(places)
        self.writable = landlock_paths.writable(places)


def main(argv: Sequence[str]) -> int:
    """Run the program in the box, and end as it ends."""
    import warnings  # noqa: F401  os.execvp imports it, when it may be out of reach

    number, way, user, before, *rest = argv
    told, mark = int(number), rest.index("--")
    os.set_inheritable(told, False)  # noqa: FBT003  its form
    if why := landlock.refusal() or seccomp.refusal():
        return _refused(told, before, why)
    try:
        box = _Box(way, user, rest[:mark])
    except OSError as error:
        return _refused(told, before, str(error.strerror))
    line, ours = socket.socketpair()
    child = os.fork()
    if child == 0:
        ours.close()
        os._exit(_inside(box, line, (told, before), rest[mark + 1 :]))
    line.close()
    os.close(told)
    for each in _QUIET:
        signal.signal(each, signal.SIG_IGN)
    with adopting_orphans():
        _serve(box, ours, os.pidfd_open(child))
        _, status = os.waitpid(child, 0)
    return _ended_as(status)


def _refused(told: int, before: str, why: str) -> int:
    os.write(told, f"! {before}; {why}".encode(errors="replace"))
    return _CANNOT_START


def _inside(
    box: _Box, line: socket.socket, told: tuple[int, str], program: list[str]
) -> int:
    """Enter the box, report its walls, and become the program."""
    number, before = told
    ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL, 0, 0, 0)
    os.setsid()
    for each in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(each, signal.SIG_DFL)
    try:
        walls = _enter(box, line)
    except OSError as error:
        return _refused(number, before, str(error.strerror))
    os.write(number, walls.encode())
    os.close(number)
    try:
        os.execvp(program[0], program)  # noqa: S606  it is to become that program
    except OSError as error:
        sys.stderr.write(f"brat: cannot start {program[0]}: {error.strerror}.\n")
        return _CANNOT_START


def _enter(box: _Box, line: socket.socket) -> str:
    """Close everything to this process; return the walls, as `box_report` reads.

    Raises:
        OSError: the kernel refused a part of it.
    """
    walls = ["files=landlock", "syscalls=seccomp"]
    capabilities.give_up()
    if box.user:
        _become(box.user)
        walls.append("user=uid")
    is_open = not box.exits
    found = landlock.restrict(box.read_only, box.writable, network=is_open)
    if landlock.closes_signals(found):
        walls.append("processes=landlock")
    if is_open:
        seccomp.restrict(network=True, paths=False)
    else:
        os.close(box.exits[0])
        asking = seccomp.restrict_and_ask()
        socket.send_fds(line, [b"!"], [asking])
        os.close(asking)
        walls.append("network=seccomp")
    line.close()
    return " ".join(walls)


def _become(user: Sequence[int]) -> None:
    number, group = user
    os.setgroups([])
    os.setresgid(group, group, group)
    os.setresuid(number, number, number)


def _serve(box: _Box, line: socket.socket, watch: int) -> None:
    """Answer the program's calls until it has ended."""
    if not box.exits:
        select.select([watch], [], [])
        return
    handing, *ports = box.exits
    try:
        asking = receive_filter(line)
        send(handing, CLOSED)
    except OSError as error:  # it could not enter the box, and has said why
        os.write(2, f"brat: {error.strerror}.\n".encode())
        return
    if box.user:  # without other rights it may look only into a program of its user
        _become(box.user)
    broker = Broker(asking, ports, box.writable)
    waiting = select.poll()
    waiting.register(asking, select.POLLIN)
    waiting.register(watch, select.POLLIN)
    while watch not in (ready := dict(waiting.poll())):
        if ready[asking] & select.POLLIN:
            broker.answer()
        else:
            waiting.unregister(asking)  # nobody is left who could ask
    os.close(asking)


def _ended_as(status: int) -> int:
    """Return the program's status; if a signal ended it, end by the same signal."""
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        if number not in {signal.SIGKILL, signal.SIGSTOP}:
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    return os.waitstatus_to_exitcode(status) if os.WIFEXITED(status) else 1
