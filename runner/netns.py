"""Start a program in a network of its own, in which there is nothing but loopback.

`netns.py FD 40001,40002 PROGRAM ARGUMENT...`, run as a file: it stands between the
witness and each engine, so it loads little. The sockets that it makes in the new
network go to the session's proxy through FD, which serves them from outside; nothing
else leads out. It has users of its own, too, so that no process in it can enter another
network, nor read or trace a process outside, even where both are root.
https://man7.org/linux/man-pages/man7/user_namespaces.7.html
https://man7.org/linux/man-pages/man7/network_namespaces.7.html
"""

import ctypes
import os
import socket
import struct
import sys
from collections.abc import Callable, Sequence

CLOSED = b"closed"
"""What is told with the sockets; anything else is why there are none."""
_NEW_USER, _NEW_NET = 0x10000000, 0x40000000
_GET_FLAGS, _SET_FLAGS, _UP = 0x8913, 0x8914, 0x1
_EVERY_USER = 4_294_967_295
_BACKLOG = 128
_CANNOT_START = 126


def enter() -> None:
    """Leave the machine's network for a new one with loopback.

    Raises:
        OSError: the machine does not let this user.
    """
    user, group = os.getuid(), os.getgid()
    mapped = _mapped_from_outside() if user == 0 else None
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(_NEW_USER | _NEW_NET) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    if mapped:
        mapped()
    else:
        _write("self", "setgroups", "deny")
        _write("self", "uid_map", f"{user} {user} 1")
        _write("self", "gid_map", f"{group} {group} 1")
    _raise_loopback()


def _mapped_from_outside() -> Callable[[], None]:
    """Return what gives all users their own names; only root outside may do it.

    Else root could neither become another user, as package managers do, nor use their
    files.
    """
    ours, theirs = os.pipe()
    parent, child = os.getpid(), os.fork()
    if child == 0:
        os.close(theirs)
        os.read(ours, 1)
        status = 1
        try:
            for name in ("uid_map", "gid_map"):
                _write(str(parent), name, f"0 0 {_EVERY_USER}")
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


def _write(process: str, name: str, text: str) -> None:
    number = os.open(f"/proc/{process}/{name}", os.O_WRONLY)
    try:
        os.write(number, text.encode())
    finally:
        os.close(number)


def _raise_loopback() -> None:
    import fcntl

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        asked = struct.pack("16sH14s", b"lo", 0, b"")
        flags = struct.unpack("16sH14s", fcntl.ioctl(control, _GET_FLAGS, asked))[1]
        fcntl.ioctl(
            control, _SET_FLAGS, struct.pack("16sH14s", b"lo", flags | _UP, b"")
        )


def refusal() -> str:
    """Return why this machine does not let this user; empty: it does.

    It is tried in a process of its own, for there is no way back.
    """
    if sys.platform != "linux":
        return "only Linux can close it"
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


def _listening(port: int) -> socket.socket:
    listening = socket.socket()
    listening.bind(("127.0.0.1", port))
    listening.listen(_BACKLOG)
    return listening


def main(argv: Sequence[str]) -> int:
    """Close the network if the machine lets us, say so, and become the program.

    Without arguments say why it does not let us, or nothing.
    """
    if not argv:
        sys.stdout.write(refusal())
        return 0
    number, ports, *program = argv
    with socket.socket(fileno=int(number)) as told:
        if why := refusal():
            told.sendall(why.encode())
        else:
            enter()
            sockets = [_listening(int(port)) for port in ports.split(",")]
            socket.send_fds(told, [CLOSED], [each.fileno() for each in sockets])
            for each in sockets:
                each.close()
    try:
        os.execvp(program[0], program)  # noqa: S606  it is to become that program
    except OSError as error:
        sys.stderr.write(f"brat: cannot start {program[0]}: {error.strerror}.\n")
        return _CANNOT_START


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
