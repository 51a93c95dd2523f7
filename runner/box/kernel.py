"""What Python lacks of calls to the kernel, for the programs that build a box.

It runs between fork and exec, so it loads little. Sockets that are made in a box go
through a descriptor to the session's proxy, which serves them from outside.
https://man7.org/linux/man-pages/man2/prctl.2.html
"""

import ctypes
import os
import signal
import socket
import sys
from collections.abc import Sequence

libc = ctypes.CDLL(None, use_errno=True)
DIE_WITH_PARENT, DUMPABLE, NO_NEW_RIGHTS, DROP_RIGHT = 1, 4, 38, 24
CANNOT_START = 126


Place = tuple[str, str, str]
"""How it is in the box, the machine's path, and the path inside."""


class Box:
    """What a box is to be, as `namespaces` is told it."""

    def __init__(
        self, places: Sequence[Place], exits: Sequence[int], user: Sequence[str]
    ) -> None:
        self.places, self.exits, self.user = places, exits, user


def checked(result: int, what: str = "", where: str = "") -> int:
    """Return what a call returned, or raise an OSError that begins with `what`."""
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, what + os.strerror(number), where or None)
    return result


def prctl(option: int, value: object) -> None:
    checked(libc.prctl(option, value, 0, 0, 0))


def become_user(user: Sequence[str]) -> None:
    """Become the user that `namespaces` is told of, with a group of its own, if any."""
    if user:
        number = int(user[0])
        os.setgroups([])
        os.setresgid(number, number, number)
        os.setresuid(number, number, number)


def become_program(program: list[str]) -> int:
    """Become the program; return the status to end with if there is none."""
    # Python, and who waits for the program here, ignore some of these.
    handle(signal.SIG_DFL, *ENDING, signal.SIGPIPE, signal.SIGXFSZ)
    try:
        os.execvp(program[0], program)  # noqa: S606  it is to become that program
    except OSError as error:
        sys.stderr.write(f"brat: cannot start {program[0]}: {error.strerror}.\n")
        return CANNOT_START


ENDING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def handle(how: signal.Handlers, *numbers: int) -> None:
    for each in numbers:
        signal.signal(each, how)


def end_like(status: int) -> int:
    """Return a child's exit status; if a signal ended it, end by the same signal."""
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        if number not in {signal.SIGKILL, signal.SIGSTOP}:
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    return os.waitstatus_to_exitcode(status) if os.WIFEXITED(status) else 1


LOOPBACK = "127.0.0.1"
_BACKLOG = 128
_MOST = 64
_TEXT_BYTES = 1000


def listening(port: int = 0) -> tuple[int, int]:
    """Listen on loopback; return the socket's descriptor and its port."""
    made = socket.create_server((LOOPBACK, port), backlog=_BACKLOG)
    number = int(made.getsockname()[1])
    return made.detach(), number


def send_sockets(line: int, text: bytes, sockets: Sequence[int] = ()) -> None:
    """Send a text and sockets through a Unix socket, then close all of them."""
    try:
        with socket.socket(fileno=line) as other:
            socket.send_fds(other, [text], sockets)
    finally:
        for each in sockets:
            os.close(each)


def receive_sockets(line: int) -> tuple[bytes, list[int]]:
    """Return the text and the sockets that a Unix socket brings, and close it."""
    with socket.socket(fileno=line) as other:
        text, found, _, _ = socket.recv_fds(other, _TEXT_BYTES, _MOST)
    return text, found


CLOSED = b"closed"
"""The text sent with the sockets; any other text is the reason why there are none."""
