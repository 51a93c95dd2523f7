"""Opens listening sockets on loopback, and hands sockets to another process.

The functions take and return descriptors, so each side can open them as it likes.
https://man7.org/linux/man-pages/man7/netdevice.7.html
"""

import fcntl
import os
import socket
import struct
from collections.abc import Sequence

LOOPBACK = "127.0.0.1"
_BACKLOG = 128
_MOST = 64
_TEXT_BYTES = 1000
_GET_FLAGS, _SET_FLAGS, _UP = 0x8913, 0x8914, 0x1


def listening(port: int = 0) -> tuple[int, int]:
    """Listen on loopback; return the socket's descriptor and its port.

    Raises:
        OSError: the port is taken, or needs rights.
    """
    made = socket.socket()
    made.bind((LOOPBACK, port))
    made.listen(_BACKLOG)
    number = int(made.getsockname()[1])
    return made.detach(), number


def send(line: int, text: bytes, sockets: Sequence[int] = ()) -> None:
    """Send a text and sockets through a Unix socket, then close all of them.

    Raises:
        OSError: nobody is at its other end.
    """
    try:
        with socket.socket(fileno=line) as other:
            socket.send_fds(other, [text], sockets)
    finally:
        for each in sockets:
            os.close(each)


def receive(line: int) -> tuple[bytes, list[int]]:
    """Return the text and the sockets that a Unix socket brings, and close it."""
    with socket.socket(fileno=line) as other:
        text, found, _, _ = socket.recv_fds(other, _TEXT_BYTES, _MOST)
    return text, found


def raise_loopback() -> None:
    """Make this network's loopback usable.

    Raises:
        OSError: we have no rights in it.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        asked = struct.pack("16sH14s", b"lo", 0, b"")
        said = fcntl.ioctl(control, _GET_FLAGS, asked)
        flags = struct.unpack("16sH14s", said)[1]
        up = struct.pack("16sH14s", b"lo", flags | _UP, b"")
        fcntl.ioctl(control, _SET_FLAGS, up)
