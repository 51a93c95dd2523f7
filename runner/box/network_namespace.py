"""Start a program that gets no box with a network and users of its own.

`FD,PORT,PORT... PROGRAM ARGUMENT...`, run by `runner.box.processes.launched` between
the witness and an engine, so it loads little. In the new network there is nothing but
loopback. The sockets that are made at those ports go through FD to the session's proxy,
which serves them from outside; nothing else leads out. With users of its own no process
can enter another network, nor read or trace a process outside, even where both are
root.
https://man7.org/linux/man-pages/man7/user_namespaces.7.html
https://man7.org/linux/man-pages/man7/network_namespaces.7.html
https://man7.org/linux/man-pages/man7/netdevice.7.html
"""

import fcntl
import os
import socket
import struct
import sys
from collections.abc import Callable, Sequence

from runner.box import kernel
from runner.box.kernel import checked

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
_NEW_USER, _NEW_NET, _NEW_MOUNTS = 0x10000000, 0x40000000, 0x20000
_SYS_ADMIN = 21


def enter() -> None:
    """Enter a network that has only loopback."""
    user, group = os.getuid(), os.getgid()
    mapped = _mapped_from_outside() if user == 0 else None
    checked(kernel.libc.unshare(_NEW_USER | _NEW_NET | _NEW_MOUNTS))
    if mapped:
        mapped()
    else:
        kernel.write("/proc/self/setgroups", "deny")
        kernel.write("/proc/self/uid_map", f"{user} {user} 1")
        kernel.write("/proc/self/gid_map", f"{group} {group} 1")
    # Root needs it to enter other namespaces, and to mount something.
    kernel.prctl(kernel.DROP_RIGHT, _SYS_ADMIN)


def _mapped_from_outside() -> Callable[[], None]:
    """Return the maps of all users to themselves; only root outside may set them.

    Without these maps, root could not become another user, as package managers do, nor
    use other users' files.
    """
    ours, theirs = os.pipe()
    parent, child = os.getpid(), os.fork()
    if child == 0:
        os.close(theirs)
        os.read(ours, 1)
        status = 1
        try:
            for name in ("uid_map", "gid_map"):
                kernel.write(f"/proc/{parent}/{name}", same_names(name))
            status = 0
        finally:
            os._exit(status)

    def mapped() -> None:
        os.close(theirs)
        _, status = os.waitpid(child, 0)
        os.close(ours)
        if status:
            raise PermissionError(1, "users cannot be mapped")

    return mapped


def same_names(name: str) -> str:
    """Return the map of the users that this namespace knows to themselves."""
    with open(f"/proc/self/{name}", encoding="ascii") as file:  # noqa: PTH123  likewise
        lines = [line.split() for line in file]
    return "\n".join(f"{first} {first} {count}" for first, _, count in lines)


def refusal() -> str:
    """Return why no network can be closed here, or ""; a child process tries it."""
    if sys.platform != "linux":
        return "only Linux can isolate it"
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            enter()
        except OSError as error:
            os.write(write, (error.strerror or repr(error)).encode())
        finally:
            os._exit(0)
    os.close(write)
    with open(read, "rb") as told:  # noqa: PTH123  a descriptor has no path
        said = told.read().decode()
    os.waitpid(child, 0)
    return said


def hand_over(number: int, ports: Sequence[int]) -> None:
    """Raise loopback, and send the proxy sockets there through a descriptor."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        asked = struct.pack("16sH14s", b"lo", 0, b"")
        said = fcntl.ioctl(control, _GET_FLAGS, asked)
        flags = struct.unpack("16sH14s", said)[1]
        up = struct.pack("16sH14s", b"lo", flags | _UP, b"")
        fcntl.ioctl(control, _SET_FLAGS, up)
    send_sockets(number, CLOSED, [listening(port)[0] for port in ports])


def main(argv: Sequence[str]) -> int:
    """Close the network if the machine allows it, report it, and become the program.

    Without arguments, only print why the machine does not allow it; nothing if it does.
    """
    import warnings  # noqa: F401  os.execvp imports it, when it may be out of reach

    if not argv:
        sys.stdout.write(refusal())
        return 0
    (number, *ports), program = map(int, argv[0].split(",")), list(argv[1:])
    if why := refusal():
        send_sockets(number, why.encode())
    else:
        enter()
        hand_over(number, ports)
    return kernel.become_program(program)
