"""A network of its own for a box, and the sockets that pass between it and the proxy.

In the new network there is nothing but loopback. The sockets that are made at the given
ports go through a descriptor to the session's proxy, which serves them from outside;
nothing else leads out. It is loaded between the witness and an engine, so it loads
little.
https://man7.org/linux/man-pages/man7/network_namespaces.7.html
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


def hand_over(number: int, ports: Sequence[int]) -> None:
    """Raise loopback, and send the proxy sockets there through a descriptor."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        asked = struct.pack("16sH14s", b"lo", 0, b"")
        said = fcntl.ioctl(control, _GET_FLAGS, asked)
        flags = struct.unpack("16sH14s", said)[1]
        up = struct.pack("16sH14s", b"lo", flags | _UP, b"")
        fcntl.ioctl(control, _SET_FLAGS, up)
    send_sockets(number, CLOSED, [listening(port)[0] for port in ports])
