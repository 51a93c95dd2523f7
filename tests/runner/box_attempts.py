"""Tries to get out of a box: `PORT OTHER_PORT SOCKET SECRET`, prints JSON.

What tests/attacks tries in this box, too, is not here. At PORT of `::1` somebody else
listens. It prints what it must be able to do with why it could not, which of the other
things were refused, and the names of all of those.
"""

import asyncio
import ctypes
import json
import multiprocessing
import os
import resource
import signal
import socket
import sys
from collections.abc import Callable
from pathlib import Path

PORT, OTHER = map(int, sys.argv[1:3])
DAEMON, SECRET = sys.argv[3], Path(sys.argv[4])
_libc = ctypes.CDLL(None, use_errno=True)
_TIOCSTI, _FASTOPEN = 0x5412, 0x20000000


def reach(
    where: tuple[str, int] | str, family: int = socket.AF_INET, within_s: float = 60
) -> None:
    with socket.socket(family) as made:
        made.settimeout(within_s)
        made.connect(where)
        assert made.recv(9) == b"word"


def link() -> None:
    if not os.path.lexists("link"):
        Path("link").symlink_to(DAEMON)
    reach("link", socket.AF_UNIX)


def send_first() -> None:
    with socket.socket() as made:
        made.sendto(b"x", _FASTOPEN, ("127.0.0.1", OTHER))


def rebind() -> None:
    with socket.socket() as made:
        made.bind(("192.0.2.1", 0))


def pair() -> None:
    one, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    one.sendto(b"x", DAEMON)


def call(*arguments: int) -> Callable[[], None]:
    def tried() -> None:
        if _libc.syscall(*arguments) < 0:
            raise OSError(ctypes.get_errno(), "refused")

    return tried


def paste() -> None:
    _, end = os.openpty() if Path("/dev/ptmx").exists() else (0, 0)
    if _libc.ioctl(end, _TIOCSTI, b"x") < 0:
        raise OSError(ctypes.get_errno(), "refused")


def own_server() -> None:
    with socket.socket() as server:
        server.bind(("0.0.0.0", 0))  # noqa: S104
        server.listen()
        assert server.getsockname()[0] == "127.0.0.1"
        with socket.create_connection(server.getsockname()):
            server.accept()[0].close()


def own_path() -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("own.sock")
        server.listen()
        with socket.socket(socket.AF_UNIX) as client:
            client.connect("own.sock")
    Path("own.sock").unlink()


async def meet() -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", PORT)
    assert await reader.read() == b"word"
    writer.close()


def mode_from_a_folder() -> None:
    folder = os.open(SECRET.parent, os.O_PATH)
    os.chmod(SECRET.name, 0o644, dir_fd=folder)


def mode_by_a_link() -> None:
    if not os.path.lexists("mode"):
        Path("mode").symlink_to(SECRET)
    Path("mode").chmod(0o666)


def own_modes() -> None:
    own = Path("mine")
    own.write_text("x")
    own.chmod(0o640)
    own.absolute().chmod(0o600)
    here = os.open(".", os.O_PATH)
    os.chmod("mine", 0o604, dir_fd=here)
    with own.open() as file:
        os.fchmod(file.fileno(), 0o606)
        Path(f"/proc/self/fd/{file.fileno()}").chmod(0o640)
        os.fchown(file.fileno(), -1, os.getgid())
    assert own.stat().st_mode & 0o777 == 0o640
    os.fchmod(os.memfd_create("own"), 0o600)
    Path("folder").mkdir(mode=0o700)
    Path("folder").chmod(0o755)
    Path("folder").rmdir()
    try:
        Path("missing").chmod(0o600)
    except FileNotFoundError:
        return
    raise AssertionError("it changed the mode of nothing")


def share_work() -> None:
    ours, theirs = multiprocessing.Pipe()
    run = multiprocessing.get_context("fork").Process
    child = run(target=theirs.send, args=(abs(-1),))
    child.start()
    assert ours.recv() == 1
    child.join()


FORBIDDEN: dict[str, Callable[[], object]] = {
    "another's server at the same port": lambda: reach(("::1", PORT), socket.AF_INET6),
    "another machine": lambda: reach(("192.0.2.1", PORT), within_s=1),
    "another form of loopback": lambda: reach(("127.0.0.2", PORT)),
    "datagrams by IPv6": lambda: socket.socket(10, socket.SOCK_DGRAM).close(),
    "raw packets": lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1).close(),
    "many paths at once": lambda: socket.socket(socket.AF_INET, 1, 262).close(),
    "a netlink socket": lambda: socket.socket(16, 3).close(),
    "a link to that socket": link,
    "a datagram of a pair": pair,
    "connecting by sending": send_first,
    "an address of another network": rebind,
    "list a folder": lambda: [*SECRET.parent.iterdir()],
    "write beside": lambda: SECRET.with_name("new").write_text("x"),
    "empty a file": lambda: os.truncate(SECRET, 0),
    "delete a file": SECRET.with_name("new").unlink,
    "a call of no kernel yet": call(4000),
    "a call of 32 bits": call(0x40000000 + 39),
    "a line typed for the person": paste,
    "the turn of all": lambda: os.setpriority(os.PRIO_USER, 0, 19),
    "another's mode, from a folder": mode_from_a_folder,
    "another's mode, by a link": mode_by_a_link,
    "a group for another's": lambda: os.chown(SECRET, -1, 4),
    "a mark on another's": lambda: os.setxattr(SECRET, "user.x", b"x"),
    "a queue of all of a user's": call(68, 0, 0o1600),
}
ALLOWED: dict[str, Callable[[], object]] = {
    "the proxy": lambda: reach(("127.0.0.1", PORT)),
    "a server of its own": own_server,
    "a socket of its own": own_path,
    "asyncio": lambda: asyncio.run(meet()),
    "processes that share work": share_work,
    "signals to its own": lambda: os.kill(os.getpid(), signal.SIGCONT),
    "limits of its own": lambda: resource.prlimit(0, resource.RLIMIT_NOFILE),
    "a later turn for itself": lambda: os.nice(1),
    "processors of its own": lambda: os.sched_setaffinity(0, os.sched_getaffinity(0)),
    "files of its own": lambda: Path("own").write_text("x"),
    "modes of its own": own_modes,
}


def why_not(attempt: Callable[[], object]) -> str:
    try:
        attempt()
    except (OSError, AssertionError) as error:
        return repr(error)
    return ""


refused = [name for name, attempt in FORBIDDEN.items() if why_not(attempt)]
allowed = {name: why_not(attempt) for name, attempt in ALLOWED.items()}
found = {"refused": refused, "forbidden": [*FORBIDDEN], "allowed": allowed}
sys.stdout.write(json.dumps(found))
