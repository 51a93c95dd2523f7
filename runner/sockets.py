"""Sockets for who loads little: by their numbers, and without the module `socket`.

That one makes an enum of some three hundred constants, which takes as long as Python's
own start; what it is made of is enough to listen and to hand sockets over.
"""

import fcntl
import os
import struct
from _socket import (
    AF_INET,
    CMSG_SPACE,
    SCM_RIGHTS,
    SOCK_DGRAM,
    SOL_SOCKET,
    socket as bare,
)
from array import array
from collections.abc import Sequence

LOOPBACK = "127.0.0.1"
_BACKLOG = 128
_MOST = 64
_TEXT_BYTES = 1000
_GET_FLAGS, _SET_FLAGS, _UP = 0x8913, 0x8914, 0x1


def listening(port: int = 0) -> tuple[int, int]:
    """Listen on loopback; return the socket, and its port.

    Raises:
        OSError: the port is taken, or needs rights.
    """
    made = bare()
    made.bind((LOOPBACK, port))
    made.listen(_BACKLOG)
    number = int(made.getsockname()[1])
    return made.detach(), number


def send(line: int, text: bytes, sockets: Sequence[int] = ()) -> None:
    """Send a text and sockets through a Unix socket, and close it and them.

    Raises:
        OSError: nobody is at its other end.
    """
    told = bare(fileno=line)
    try:
        rights = [(SOL_SOCKET, SCM_RIGHTS, array("i", sockets))] if sockets else []
        told.sendmsg([text], rights)
    finally:
        told.close()
        for each in sockets:
            os.close(each)


def receive(line: int) -> tuple[bytes, list[int]]:
    """Return the text and the sockets that come through a Unix socket, and close it."""
    heard, found = bare(fileno=line), array("i")
    space = CMSG_SPACE(_MOST * found.itemsize)
    try:
        text, passed, _, _ = heard.recvmsg(_TEXT_BYTES, space)
    finally:
        heard.close()
    for level, kind, data in passed:
        if (level, kind) == (SOL_SOCKET, SCM_RIGHTS):
            found.frombytes(data[: len(data) - len(data) % found.itemsize])
    return text, list(found)


def raise_loopback() -> None:
    """Make this network's loopback usable.

    Raises:
        OSError: we have no rights in it.
    """
    control = bare(AF_INET, SOCK_DGRAM)
    try:
        asked = struct.pack("16sH14s", b"lo", 0, b"")
        said = fcntl.ioctl(control.fileno(), _GET_FLAGS, asked)
        flags = struct.unpack("16sH14s", said)[1]
        up = struct.pack("16sH14s", b"lo", flags | _UP, b"")
        fcntl.ioctl(control.fileno(), _SET_FLAGS, up)
    finally:
        control.close()
