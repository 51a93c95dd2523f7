"""The box of Landlock and seccomp: what a program in it can reach, tried by one."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager, nullcontext, suppress
from pathlib import Path
from threading import Thread

import pytest

from convoy.model.session_result import Walls
from runner.box import agent_box, landlock, seccomp
from runner.box.agent_box import Room, boxed
from runner.box.root_folder import HIDDEN, WRITABLE
from runner.box.surroundings import Sight
from tests.attacks.environments import PREFIXES
from tests.world.patience import patient
from tests.world.program import ran

REFUSING = ("no namespaces", "ordinary user, no namespaces")
ATTEMPTS = Path(__file__).with_name("box_attempts.py")


@pytest.fixture(autouse=True)
def no_other_users(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the box be one for a user without rights, as on those machines."""
    monkeypatch.setattr(agent_box, "agent_user_number", nullcontext)


@contextmanager
def serving(family: int, where: tuple[str, int] | str) -> Iterator[socket.socket]:
    def serve() -> None:
        while True:
            try:
                one, _ = made.accept()
            except OSError:
                return
            with one, suppress(BrokenPipeError):  # who asked may have hung up
                one.sendall(b"word")

    with closing(socket.socket(family)) as made:
        made.bind(where)
        made.listen()
        Thread(target=serve, daemon=True).start()
        yield made


def start(
    folder: Path, machine: str, ports: tuple[int, ...] | None, *program: str
) -> tuple[str, Walls, int]:
    """Run a program in the box; return what it said, its walls, and its status."""
    ours, theirs = socket.socketpair()
    home = folder / "home"
    home.mkdir(exist_ok=True)
    sight = Sight(path=os.environ["PATH"], shown=(ATTEMPTS,))
    room = Room(folder, home, home, sight)
    way = () if ports is None else (theirs.fileno(), *ports)
    with ours, theirs, boxed(program, room, way) as box:
        done = ran([*PREFIXES[machine], *box.argv], cwd=folder, pass_fds=box.fds)
        report = box.report()
    assert report.why == "", report.why
    return done.stdout + done.stderr, report.walls, done.returncode


@pytest.mark.parametrize("machine", REFUSING)
def test_what_it_closes(tmp_path: Path, machine: str) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (tmp_path / "secret").write_text("a key")
    outside = str(tmp_path / "daemon.sock")
    loopback = ("127.0.0.1", 0)
    with (
        serving(socket.AF_INET, loopback) as proxy,
        serving(socket.AF_INET, loopback) as other,
        serving(socket.AF_INET6, ("::1", proxy.getsockname()[1])),
        serving(socket.AF_UNIX, outside),
    ):
        ports = [each.getsockname()[1] for each in (proxy, other)]
        told = [*map(str, (ATTEMPTS, *ports)), outside]
        program = [sys.executable, "-I", *told, str(tmp_path / "secret")]
        said, walls, status = start(work, machine, (ports[0],), *program)
        free = subprocess.run(
            program, cwd=work, capture_output=True, check=False, timeout=patient(30)
        )

    assert (status, said[:1]) == (0, "{"), said
    found = json.loads(said)
    assert found["allowed"] == dict.fromkeys(found["allowed"], "")
    assert found["forbidden"] == found["refused"]
    made = (walls.files, walls.processes, walls.network, walls.syscalls)
    assert made == ("landlock", "landlock", "seccomp", "seccomp")
    # Without the box they succeed: the attempts are real ones.
    without = json.loads(free.stdout)
    assert {*WOULD_SUCCEED} & {*without["refused"]} == set()


WOULD_SUCCEED = (
    *("a link to that socket", "write beside", "delete a file", "a netlink socket"),
    *("another's server at the same port", "a queue of all of a user's"),
    *("another's mode, from a folder", "another's mode, by a link"),
)


OPEN = """
import os, resource, socket, sys
socket.socket().close()
socket.socket(type=socket.SOCK_DGRAM).close()
for tried in (
    lambda: socket.socket(socket.AF_UNIX),
    lambda: os.chmod(sys.argv[1], 0o666),
    lambda: resource.prlimit(int(sys.argv[2]), resource.RLIMIT_NOFILE),
):
    try: tried(); print('done')
    except OSError as error: print(type(error).__name__)
open('own', 'w').close(); os.chmod('own', 0o600)
"""


def test_an_open_network_opens_nothing_else(tmp_path: Path) -> None:
    victim, inside = tmp_path / "victim", tmp_path / "work"
    victim.touch()
    inside.mkdir()
    program = (sys.executable, "-I", "-c", OPEN, str(victim), str(os.getpid()))
    said, walls, status = start(inside, REFUSING[0], None, *program)

    assert (said, status) == ("OSError\nPermissionError\nPermissionError\n", 0)
    assert walls.network == ""


@pytest.mark.parametrize(
    ("command", "status"), [("exit 0", 0), ("exit 7", 7), ("kill -TERM $$", -15)]
)
def test_it_ends_as_the_program_does(tmp_path: Path, command: str, status: int) -> None:
    assert start(tmp_path, REFUSING[0], (), "sh", "-c", command)[2] == status


def test_nothing_is_hidden_in_what_may_be_written(tmp_path: Path) -> None:
    shown, key = str(tmp_path / "shown"), str(tmp_path / "shown/b/key")

    with pytest.raises(OSError, match="cannot be hidden in"):
        landlock.paths_in([(HIDDEN, key, key), (WRITABLE, shown, shown)])


@pytest.mark.parametrize(
    ("found", "part"),
    [(0, "no Landlock"), (1, "version 1; 3 is needed"), (3, ""), (7, "")],
)
def test_an_older_kernel_and_another_machine(
    monkeypatch: pytest.MonkeyPatch, found: int, part: str
) -> None:
    monkeypatch.setattr(landlock, "version", lambda: found)

    assert part in landlock.refusal()
    assert bool(landlock.refusal()) == bool(part)
    monkeypatch.setattr(os, "uname", lambda: os.uname_result(("", "", "", "", "vax")))
    assert seccomp.refusal() == "the system calls of vax are unknown"
