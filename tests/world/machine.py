"""A machine of its own, in the place of the forge's starter: `machine.py FOLDER`.

It has a network of its own in which nothing but the forge can be reached, its own
processes, user and folder, and hands in what a session left by HTTP. It is a process
outside, which passes bytes on between the forge and a socket file, and one inside.
"""

import contextlib
import ctypes
import fcntl
import io
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
import urllib.request
import zipfile
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

ALONE = (
    *("unshare", "--user", "--map-user=1001", "--map-group=1001", "--keep-caps"),
    *("--net", "--pid", "--fork", "--kill-child", "--mount-proc"),
)
UP, DOWN = 1, 0
_FLAGS = 0x8914  # SIOCSIFFLAGS of <linux/sockios.h>
_AMBIENT, _CLEAR_ALL = 47, 4  # PR_CAP_AMBIENT of <linux/prctl.h>
_BYTES = 65536


def switch(flags: int) -> None:
    """Plug this network's only device in, or out."""
    with socket.socket() as any_socket:
        fcntl.ioctl(any_socket, _FLAGS, struct.pack("16sh14x", b"lo", flags))


def passing_on(server: socket.socket, connect: Callable[[], socket.socket]) -> None:
    """Pass on each connection to `server`, in threads, for ever."""

    def serve() -> None:
        while True:
            near, _ = server.accept()
            far = connect()
            for one, other in ((near, far), (far, near)):
                threading.Thread(target=_copy, args=(one, other), daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()


def _copy(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(_BYTES):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)


def by_file(path: Path) -> socket.socket:
    """Connect to a socket file."""
    line = socket.socket(socket.AF_UNIX)
    line.connect(str(path))
    return line


def outside(folder: Path) -> int:
    """Start the machine and wait for its end."""
    forge = urlsplit(os.environ["GITHUB_SERVER_URL"])
    place = folder / os.environ["BRAT_SESSION"].split("/", 1)[1].replace("/", "-")
    place.mkdir(parents=True)
    os.chdir(place)  # the name of a socket file must be short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("line")
        server.listen()
        passing_on(
            server, lambda: socket.create_connection((forge.hostname, forge.port))
        )
        argv = [*ALONE, sys.executable, "-I", __file__, str(place), "inside"]
        pipe = int(os.environ["BRAT_TOKEN_FD"])
        machine = subprocess.Popen(argv, pass_fds=(pipe,))
        Path("pid").write_text(str(machine.pid))
        return machine.wait()


def inside(place: Path) -> None:
    """Run the session with what is in here, and hand in what it left."""
    switch(UP)
    cut_off = threading.Event()

    def trip(*_: object) -> None:  # somebody, over a cable
        switch(DOWN)
        cut_off.set()

    signal.signal(signal.SIGUSR1, trip)
    libc = ctypes.CDLL(None)
    libc.prctl(_AMBIENT, _CLEAR_ALL, 0, 0, 0)  # the runner may do nothing special
    forge = urlsplit(os.environ["GITHUB_SERVER_URL"])
    with socket.create_server(("127.0.0.1", forge.port or 80)) as server:
        passing_on(server, lambda: by_file(place / "line"))
        told = {
            "BRAT_RESULT": str(place / "result"),
            "RUNNER_TEMP": str(place / "temp"),
            "GITHUB_WORKSPACE": str(place / "work"),
            "RUNNER_TOOL_CACHE": str(place / "tools"),
        }
        pipe = int(os.environ["BRAT_TOKEN_FD"])
        runner = [sys.executable, "-I", "-m", "runner"]
        subprocess.run(runner, env=os.environ | told, pass_fds=(pipe,), check=False)
        hand_in(place / "result", 5 if cut_off.is_set() else 600)


def hand_in(result: Path, deadline_s: float) -> None:
    """Upload a result folder as the run's artifact."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for file in result.iterdir():
            archive.write(file, file.name)
    base, run = os.environ["ACTIONS_RESULTS_URL"], os.environ["GITHUB_RUN_ID"]
    url = f"{base}_artifacts/{run}/brat-result"
    request = urllib.request.Request(url, data=packed.getvalue(), method="PUT")  # noqa: S310  the forge's own address
    token = os.environ["ACTIONS_RUNTIME_TOKEN"]
    request.add_header("Authorization", f"Bearer {token}")
    urllib.request.urlopen(request, timeout=deadline_s).close()  # noqa: S310  likewise


def main() -> int:
    """Be one of the two processes."""
    match sys.argv[1:]:
        case [place, "inside"]:
            inside(Path(place))
        case [folder]:
            return outside(Path(folder))
        case _:
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
