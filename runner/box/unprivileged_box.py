"""Start a program in a box that takes no namespaces: Landlock, seccomp and a broker.

`runner.box.namespaces` goes on here where a machine refuses namespaces, as most
containers do. The program reads, runs and writes what the places name, at their own
paths.

This process stays outside as its parent and makes its sockets, for the filter lets the
program make and connect none. The kernel stops the program in each call of `socket` for
TCP, of `connect`, of `bind` and of `chmod`, and asks here. The socket is made on this
side, from an address that was read once, and put into the program: it cannot change the
address after it was looked at. Sockets lead to the given ports of loopback and to those
where the program itself listens; they listen on loopback alone. Sockets with a path
lead to folders that the program may write to, and in those alone it changes the modes
of files: its user owns others, which it could open to everybody. A wrong answer would
be a hole, none is a refusal: whatever fails here, fails there.
https://docs.kernel.org/userspace-api/landlock.html
https://man7.org/linux/man-pages/man2/seccomp_unotify.2.html
https://man7.org/linux/man-pages/man5/proc_pid_net.5.html
"""

import fcntl
import os
import select
import signal
import socket
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from errno import EACCES, EAFNOSUPPORT, EINVAL, ENOENT
from functools import partial

from runner.box import kernel, landlock, processes, seccomp
from runner.box.kernel import CLOSED, Box, send_sockets
from runner.box.processes import adopting_orphans, descendants
from runner.box.seccomp import CALLS


def run(box: Box, told: int, program: list[str], before: str) -> int:
    """Run the program in the box, and end as it ends.

    `told` is told which walls stand; `before` says why there are no namespaces.
    """
    if why := landlock.refusal() or seccomp.refusal():
        return _refused(told, before, why)
    try:
        paths = landlock.paths_in(box.places)
    except OSError as error:
        return _refused(told, before, str(error.strerror))
    line, ours = socket.socketpair()
    child = os.fork()
    if child == 0:
        ours.close()
        os._exit(_inside(box, paths, line, (told, before), program))
    line.close()
    os.close(told)
    kernel.handle(signal.SIG_IGN, *kernel.ENDING)
    with adopting_orphans():
        _serve(box, paths[1], ours, os.pidfd_open(child))
        _, status = os.waitpid(child, 0)
    return kernel.end_like(status)


def _refused(told: int, before: str, why: str) -> int:
    os.write(told, f"! {before}; {why}".encode(errors="replace"))
    return kernel.CANNOT_START


def _inside(
    box: Box,
    paths: tuple[list[str], list[str]],
    line: socket.socket,
    told: tuple[int, str],
    program: list[str],
) -> int:
    number, before = told
    kernel.prctl(kernel.DIE_WITH_PARENT, signal.SIGKILL)
    os.setsid()
    walls = ["files=landlock", "syscalls=seccomp"]
    is_open = not box.exits
    try:
        processes.give_up_rights()
        kernel.become_user(box.user)
        if box.user:
            walls.append("user=uid")
        found = landlock.restrict(*paths, network=is_open)
        if found >= landlock.SCOPES_FROM:
            walls.append("processes=landlock")
        if not is_open:
            os.close(box.exits[0])
            walls.append("network=seccomp")
        asking = seccomp.restrict_and_ask(network=is_open)
        socket.send_fds(line, [b"!"], [asking])
    except OSError as error:
        return _refused(number, before, str(error.strerror))
    os.close(asking)
    line.close()
    os.write(number, " ".join(walls).encode())
    os.close(number)
    return kernel.become_program(program)


def _serve(box: Box, writable: Sequence[str], line: socket.socket, watch: int) -> None:
    try:
        _, found, _, _ = socket.recv_fds(line, 1, 1)
        why = "" if found else "the program sent no filter"
        for each in box.exits[:1] if found else ():
            send_sockets(each, CLOSED)
    except OSError as error:
        found, why = [], str(error.strerror)
    if not found:  # it could not enter the box, and has said why
        os.write(2, f"brat: {why}.\n".encode())
        return
    # Without other rights it may look only into a program of its user.
    kernel.become_user(box.user)
    asking = found[0]
    broker = Broker(asking, box.exits[1:], writable)
    waiting = select.poll()
    waiting.register(asking, select.POLLIN)
    waiting.register(watch, select.POLLIN)
    while watch not in (ready := dict(waiting.poll())):
        if ready[asking] & select.POLLIN:
            broker.answer()
        else:
            waiting.unregister(asking)  # nobody is left who could ask
    os.close(asking)


_RECEIVE, _SEND, _IS_VALID, _ADD = 0xC0502100, 0xC0182101, 0x40082102, 0x40182103
_ASKED = struct.Struct("<QIIiIQ6Q")
"""Its id, thread and flags; the call's number, machine, place and arguments."""
_INSTEAD, _CLOSING, _CONTINUE = 1, os.O_CLOEXEC, 1
_FAMILY_BYTES, _ADDRESS_BYTES, _PATH_BYTES = 2, 128, 4096
_HERE = 0xFFFFFF9C
"""AT_FDCWD, as the kernel tells of it."""
_CONNECT_S = 5.0
"""One that listens nearby and does not answer would keep all others waiting."""
_LOCAL = {
    socket.AF_INET: ("127.0.0.1", "0.0.0.0", "tcp", "0100007F"),  # noqa: S104  what was asked
    socket.AF_INET6: ("::1", "::", "tcp6", "00000000000000000000000001000000"),
}
"""Loopback's address, that of all, where the kernel tells of the first, and how on
machines that are little-endian."""
_TCP = (0, socket.IPPROTO_TCP)


class Broker:
    """Answers the calls of one program and of all that it starts."""

    def __init__(
        self, asking: int, ports: Sequence[int], writable: Sequence[str]
    ) -> None:
        """Let it reach these ports of 127.0.0.1, and paths in the writable folders."""
        self._asking = asking
        self._ports = frozenset(ports)
        self._writable = tuple(writable)
        calls = CALLS[os.uname().machine]
        self._ways: Mapping[int, Callable[[_Call], None]] = {
            calls["socket"]: self._make,
            calls["connect"]: self._connect,
            calls["bind"]: self._bind,
            calls["chmod"]: partial(self._change_mode, path=0),
            calls["fchmod"]: partial(self._change_mode, folder=0),
            calls["fchmodat"]: partial(self._change_mode, folder=0, path=1),
        }

    def answer(self) -> None:
        """Answer the next call; it waits for one."""
        asked = bytearray(_ASKED.size)
        try:
            fcntl.ioctl(self._asking, _RECEIVE, asked)
        except OSError as error:
            if error.errno in {ENOENT, 4}:  # the program was killed meanwhile
                return
            raise
        found = _ASKED.unpack(asked)
        call = _Call(self._asking, found[0], found[1], found[6:])
        try:
            self._ways[found[3]](call)
        except OSError as error:
            call.end(error.errno or EACCES)
        except (ValueError, struct.error, IndexError):
            call.end(EINVAL)

    def _make(self, call: "_Call") -> None:
        family, kind, protocol = (each & 0xFFFFFFFF for each in call.arguments[:3])
        flags = kind & (socket.SOCK_NONBLOCK | socket.SOCK_CLOEXEC)
        if kind & ~flags != socket.SOCK_STREAM or protocol not in _TCP:
            raise OSError(EACCES, "only TCP")
        with socket.socket(family, socket.SOCK_STREAM) as made:
            # So it cannot listen elsewhere; and what has an address gets no other.
            made.bind((_LOCAL[socket.AddressFamily(family)][0], 0))
            made.setblocking(not flags & socket.SOCK_NONBLOCK)
            call.end(0, call.put(made, closing=bool(flags & socket.SOCK_CLOEXEC)))

    def _connect(self, call: "_Call") -> None:
        family, where, port = call.address()
        # On `::1` another's server may listen at one of them.
        given = self._ports if family == socket.AF_INET else ()
        with ExitStack() as opened:
            at: str | tuple[str, int] = where, port
            if family == socket.AF_UNIX:
                if not where:
                    raise OSError(EACCES, "no path")
                at = opened.enter_context(self._opened(call, os.fsencode(where)))
            elif where != _LOCAL[family][0]:
                raise OSError(EACCES, "not loopback")
            elif port not in given and not listens(family, port):
                raise OSError(EACCES, "not a port of this session")
            made = opened.enter_context(socket.socket(family, socket.SOCK_STREAM))
            made.settimeout(_CONNECT_S)
            made.connect(at)
            call.put(made, instead=True)
        call.end()

    @contextmanager
    def _opened(self, call: "_Call", name: bytes, base: int = _HERE) -> Iterator[str]:
        """Open a file for the call; yield a path to it that leads nowhere else.

        Raises an OSError unless it lies in the session's folders, or in none.
        """
        number = call.opened(name, base)
        path = f"/proc/self/fd/{number}"
        try:
            real = os.readlink(path)  # noqa: PTH115  loads little
            own = "/memfd:", *(f"{each}/" for each in self._writable)
            if real.startswith("/") and not f"{real}/".startswith(own):
                raise OSError(EACCES, "not in a folder of this session")
            yield path
        finally:
            os.close(number)

    def _change_mode(
        self, call: "_Call", folder: int | None = None, path: int | None = None
    ) -> None:
        """Change a file's mode; the numbers are those of the call's arguments."""
        base = _HERE if folder is None else call.arguments[folder] & 0xFFFFFFFF
        name = b"" if path is None else call.text(path)
        if path is not None and not name:
            raise OSError(ENOENT, "no path")
        after = 1 + max(-1 if each is None else each for each in (folder, path))
        with self._opened(call, name, base) as file:
            os.chmod(file, call.arguments[after] & 0o7777)  # noqa: PTH101  loads little
        call.end()

    def _bind(self, call: "_Call") -> None:
        family, where, port = call.address()
        if family == socket.AF_UNIX:
            # Only a socket with a path takes it, and Landlock knows which may be made;
            # one for TCP has an address already.
            call.end(0, flags=_CONTINUE)
            return
        if where not in _LOCAL[family][:2]:
            raise OSError(EACCES, "not loopback")
        with socket.socket(family, socket.SOCK_STREAM) as made:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            made.bind((_LOCAL[family][0], port))
            call.put(made, instead=True)
        call.end()


class _Call:
    """One stopped call of the program."""

    def __init__(
        self, asking: int, number: int, thread: int, arguments: Sequence[int]
    ) -> None:
        self._asking = asking
        self._number = number
        self.thread = thread
        self.arguments = arguments

    def address(self) -> tuple[socket.AddressFamily, str, int]:
        """Return the family, and the path or address and port, that are asked for."""
        _, place, size = self.arguments[:3]
        size &= 0xFFFFFFFF
        if not _FAMILY_BYTES <= size <= _ADDRESS_BYTES:
            raise OSError(EINVAL, "no address")
        told = self._read(place, size)
        number = int.from_bytes(told[:2], "little")
        if number not in (socket.AF_UNIX, *_LOCAL):
            raise OSError(EAFNOSUPPORT, "another family")
        family = socket.AddressFamily(number)
        if family == socket.AF_UNIX:
            return family, os.fsdecode(told[2:].split(b"\0", 1)[0]), 0
        where = told[4:8] if family == socket.AF_INET else told[8:24]
        return family, socket.inet_ntop(family, where), int.from_bytes(told[2:4], "big")

    def text(self, place: int) -> bytes:
        return self._read(self.arguments[place], _PATH_BYTES).split(b"\0", 1)[0]

    def opened(self, name: bytes, base: int = _HERE) -> int:
        """Open a name as the program would, or at `base`; empty: `base` itself."""
        beside = f"/proc/{self.thread}/".encode()
        folder = beside + (b"cwd" if base == _HERE else b"fd/%d" % base)
        own = name.removeprefix(b"/proc/self/")
        path = os.path.join(beside if own != name else folder, own)  # noqa: PTH118
        return os.open(path.rstrip(b"/"), os.O_PATH | os.O_CLOEXEC)

    def _read(self, place: int, size: int) -> bytes:
        with open(f"/proc/{self.thread}/mem", "rb", 0) as memory:  # noqa: PTH123
            memory.seek(place)
            found = memory.read(size)
        self._still_there()
        return found

    def put(
        self, made: socket.socket, *, instead: bool = False, closing: bool = False
    ) -> int:
        """Put a socket into the program; return its descriptor there.

        It can take the place of the call's descriptor (`instead`), with its flags, or
        not outlive an exec (`closing`).
        """
        place = self.arguments[0] & 0xFFFFFFFF if instead else 0
        if instead:
            beside = f"/proc/{self.thread}"
            if not os.readlink(f"{beside}/fd/{place}").startswith("socket:"):  # noqa: PTH115
                raise OSError(88, "not a socket")
            with open(f"{beside}/fdinfo/{place}", encoding="ascii") as file:  # noqa: PTH123
                found = dict(line.split(":", 1) for line in file if ":" in line)
            self._still_there()
            flags = int(found["flags"], 8)
            made.setblocking(not flags & os.O_NONBLOCK)
            closing = bool(flags & os.O_CLOEXEC)
        how, after = _INSTEAD if instead else 0, _CLOSING if closing else 0
        told = struct.pack("<QIIII", self._number, how, made.fileno(), place, after)
        return int(fcntl.ioctl(self._asking, _ADD, bytearray(told)))

    def end(self, error: int = 0, value: int = 0, flags: int = 0) -> None:
        """Let the call return, with an error or a value; nothing if it was killed."""
        told = struct.pack("<QqiI", self._number, value, -error, flags)
        try:
            fcntl.ioctl(self._asking, _SEND, told)
        except FileNotFoundError:
            return

    def _still_there(self) -> None:
        """Raise unless the thread is the one that asked; its number may be reused."""
        told = self._number.to_bytes(8, "little")
        fcntl.ioctl(self._asking, _IS_VALID, told)


_LISTENS = "0A"


def listens(family: socket.AddressFamily, port: int) -> bool:
    """Say whether a process below this one listens there, on loopback."""
    *_, name, written = _LOCAL[family]
    try:
        with open(f"/proc/self/net/{name}", encoding="ascii") as file:  # noqa: PTH123
            known = [line.split() for line in file.readlines()[1:]]
    except FileNotFoundError:  # a machine without IPv6
        return False
    asked = f"{written}:{port:04X}", _LISTENS
    wanted = {f"socket:[{each[9]}]" for each in known if (each[1], each[3]) == asked}
    for process in descendants() if wanted else ():
        folder = f"/proc/{process}/fd"
        with suppress(OSError):  # it ended, or closed it
            for each in os.listdir(folder):  # noqa: PTH208  pathlib takes 5 ms
                if os.readlink(f"{folder}/{each}") in wanted:  # noqa: PTH115
                    return True
    return False
