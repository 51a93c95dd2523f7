"""What a machine has outside every folder of a job: daemons, servers, processes."""

import ctypes
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tests.runner.proxy.world import Server, server
from tests.world.given_secrets import given

SECRET = given("what-no-agent-may-find-0123456789")
SYSTEM = "/usr/local/bin", "/etc", "/opt", "/var/lib", "/", "/dev/shm"  # noqa: S108
"""Folders that programs of every user come from, or share."""


@dataclass(frozen=True)
class Surroundings:
    """What is there, and what has reached it."""

    name: str
    """In the names of all that is made, and the abstract socket's."""
    shared: Path
    memory: Path
    key: int
    """Of a piece of memory that all processes of the user may find by it."""
    daemon: Path
    doors: dict[str, Server]
    datagrams: socket.socket
    victim: int
    logins: tuple[Path, ...]
    """Of the machine's own programs, where only root may put them."""

    def datagrams_now(self) -> int:
        """Return how many datagrams have come in since the last look."""
        count = 0
        with suppress(BlockingIOError):
            while self.datagrams.recv(100):
                count += 1
        return count


@contextmanager
def surroundings(root: Path) -> Iterator[Surroundings]:
    """Make them; nothing is left of them, or of what an agent put beside them."""
    name = root.name
    answer = f"HTTP/1.1 200 OK\r\nContent-Length: {len(SECRET)}\r\n\r\n{SECRET}"
    with ExitStack() as stack:
        for each in (*SYSTEM, Path(sys.executable).parent):
            stack.callback(Path(each, name).unlink, missing_ok=True)
        yield Surroundings(
            name=name,
            shared=_shared(name, stack),
            memory=_memory(name, stack),
            key=_keyed_memory(name, stack),
            daemon=_sockets(root, stack),
            doors={
                each: stack.enter_context(server(answer.encode()))
                for each in ("metadata", "id tokens", "live feed")
            },
            datagrams=_counted(stack),
            victim=stack.enter_context(without_rights()),
            logins=tuple(_logins(name, stack)),
        )


def _shared(name: str, stack: ExitStack) -> Path:
    shared = Path(tempfile.mkdtemp(prefix=f"{name}-shared"))
    shared.chmod(0o1777)
    stack.callback(shutil.rmtree, shared, ignore_errors=True)
    return shared


def _memory(name: str, stack: ExitStack) -> Path:
    memory = Path("/dev/shm", name)  # noqa: S108  where all share it
    memory.write_text(SECRET)
    stack.callback(memory.unlink)
    return memory


def _keyed_memory(name: str, stack: ExitStack) -> int:
    """Lay the secret there. https://man7.org/linux/man-pages/man2/shmget.2.html."""
    libc, key = ctypes.CDLL(None), zlib.crc32(name.encode()) & 0x7FFFFFFF
    libc.shmat.restype = ctypes.c_void_p
    found = libc.shmget(key, 4096, 0o1600)
    assert found >= 0
    stack.callback(libc.shmctl, found, 0, None)
    ctypes.memmove(libc.shmat(found, None, 0), SECRET.encode(), len(SECRET))
    return key


def _logins(name: str, stack: ExitStack) -> Iterator[Path]:
    for folder in ("/etc", "/opt"):
        if os.access(folder, os.W_OK):
            stack.callback(shutil.rmtree, Path(folder, f"{name}-program"))
            login = Path(folder, f"{name}-program", "login")
            login.parent.mkdir()
            login.write_text(SECRET)
            yield login


def _sockets(root: Path, stack: ExitStack) -> Path:
    """Listen as daemons do, at a path below /run and by an abstract name."""
    run = Path("/run") if os.access("/run", os.W_OK) else root / "run"
    folder = run / root.name
    folder.mkdir(parents=True)
    stack.callback(shutil.rmtree, folder, ignore_errors=True)
    for address in (f"{folder}/docker.sock", f"\0{root.name}"):
        door = stack.enter_context(socket.socket(socket.AF_UNIX))
        door.bind(address)
        door.listen(50)
    return folder / "docker.sock"


def _counted(stack: ExitStack) -> socket.socket:
    """Give a port at which datagrams wait until somebody looks."""
    door = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
    door.bind(("127.0.0.1", 0))
    door.settimeout(0)
    return door


@contextmanager
def without_rights() -> Iterator[int]:
    """Run a process that does nothing, with a secret in its environment.

    It gave up root's rights, by which the kernel would keep others from it.
    """
    waiting = [sys.executable, "-I", "-S", "-c", _WAITING]
    pipe = subprocess.PIPE
    with subprocess.Popen(waiting, stdin=pipe, stdout=pipe, env={"S": SECRET}) as found:
        assert found.stdout is not None
        assert found.stdout.readline() == b"ready\n"
        try:
            yield found.pid
        finally:
            found.kill()


_WAITING = """
import ctypes, struct, sys
head = struct.pack("II", 0x20080522, 0)
assert ctypes.CDLL(None).capset(head, bytes(24)) == 0
print("ready", flush=True)
sys.stdin.read()
"""
