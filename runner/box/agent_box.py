"""Prepares a box for one program of a session, and reads what the box reports.

The same box stands around the engine, the project's setup script, its acceptance
command and the witness's own look at an agent's repository; only their networks differ.
What builds a box loads no library, so it reports which walls it built, or why none, by
plain words: `files=namespaces processes=namespaces`.

Where the witness is root, the agent becomes a user of its own, whose number belongs to
nobody else on the machine and to no other session, so it can neither read nor end what
others run. Elsewhere it stays the witness's user, without rights outside.
https://systemd.io/UIDS-GIDS/
"""

import os
import shutil
import socket
import stat
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import msgspec
from msgspec import Struct

from convoy.model.session_result import Walls
from runner.box import surroundings
from runner.box.kernel import CLOSED, receive_sockets, send_sockets
from runner.box.processes import launched
from runner.box.root_folder import WRITABLE
from runner.box.surroundings import TEMPORARY, Sight, places

REPORTS_NO_BOX: Final = "!"
"""The beginning of a report that says why there is no box."""
_SILENT: Final = "the sandbox ended before it was ready"


class BoxReport(msgspec.Struct, frozen=True):
    walls: Walls = Walls()
    is_off: bool = False
    why: str = ""
    """Why there is no box; empty: there is one."""

    def refusal(self, *, is_killed: bool = False) -> str:
        """Return a sentence on why the program was not started; empty: it was.

        A box that was ended from outside (`is_killed`) before it said anything is no
        sign that the machine gives none.
        """
        if self.is_off or not self.why or (is_killed and self.why == _SILENT):
            return ""
        return (
            f"This machine cannot sandbox agents ({self.why}), so no agent starts. Use "
            'another machine, or set [runner] box = "off".'
        )


def read_report(text: str) -> BoxReport:
    """Return what a report says; raise a ValidationError if it names no such wall."""
    if not text or text.startswith(REPORTS_NO_BOX):
        why = text.removeprefix(REPORTS_NO_BOX).strip()
        return BoxReport(why=why or _SILENT)
    named = dict(word.split("=", 1) for word in text.split())
    return BoxReport(walls=msgspec.convert(named, Walls))


NO_BOX: Final = "sandboxes need Linux"
NO_NETWORK: Final = "only Linux can isolate it"
_OFF: Final = BoxReport(is_off=True, why="the configuration turns it off")
PROBE_S: Final = 20.0
_REPORT_BYTES: Final = 2000
LAUNCHER: Final = launched("runner.box.namespaces")
"""Begins the command of each box."""
_END: Final = "--"


NetworkExit = tuple[int, ...]
"""The only way out of a network that is closed: the descriptor through which the proxy
gets the sockets inside, and their ports; empty: the network is the machine's."""


def unboxed(way: NetworkExit) -> tuple[str, ...]:
    """Return what begins the command of a program that gets no box."""
    return (*LAUNCHER, "", ",".join(map(str, way)), "", _END) if way else ()


class Room(Struct, frozen=True):
    """The folders in which an agent's programs work, and what else they see."""

    folder: Path
    """The agent's checkout."""
    home: Path
    temporary: Path
    sight: Sight
    is_boxed: bool = True

    def owned(self) -> tuple[Path, ...]:
        """Return the folders that belong to the agent, as far as there are any."""
        return tuple(filter(Path.is_dir, (self.folder, self.home, self.temporary)))


class Box(Struct, frozen=True):
    argv: tuple[str, ...]
    """The command that starts one program in a box."""
    fds: tuple[int, ...]
    report: Callable[[], BoxReport] = lambda: _OFF
    """Returns which walls stood. Call it once, after the program's end."""


@contextmanager
def boxed(
    argv: tuple[str, ...],
    room: Room,
    way: NetworkExit = (),
    also: tuple[Path, ...] = (),
    *,
    keeps_user: bool = False,
) -> Iterator[Box]:
    """Yield the start of an agent's program in a box.

    Call it while no other program of the agent runs: it is given its folders, and may
    write to `also` besides. Without a `way` its network stays the machine's. A program
    of the witness `keeps_user`, and is given nothing.
    """
    name = str(room.folder / argv[0]) if os.sep in argv[0] else argv[0]
    path = f"{room.home / '.local/bin'}{os.pathsep}{room.sight.path}"
    if not (keeps_user or shutil.which(name, path=path)):
        yield Box(argv, (), BoxReport)  # the start itself fails and reports it
        return
    if room.is_boxed and sys.platform != "linux":
        yield Box(("false",), (), lambda: BoxReport(why=NO_BOX))
        return
    if not room.is_boxed:
        if way and sys.platform != "linux":
            send_sockets(os.dup(way[0]), NO_NETWORK.encode())
            way = ()
        yield Box((*unboxed(way), *argv), way[:1])
        return
    with nullcontext() if keeps_user else agent_user_number() as number:
        if number is not None:
            give_folders((*room.owned(), *also), number)
        user = "" if number is None else f"{number}:{room.home}"
        owned = (places(WRITABLE, str(path)) for path in (*room.owned(), *also))
        shared = ((WRITABLE, os.path.realpath(room.temporary), at) for at in TEMPORARY)
        seen = surroundings.visible(room.sight)
        found = surroundings.arranged((*chain(*owned), *shared, *seen))
        words = (word for place in found for word in place)
        reader, writer = os.pipe()
        with open(reader, "rb", 0) as heard, open(writer, "wb", 0) as telling:  # noqa: PTH123  descriptors

            def report() -> BoxReport:
                telling.close()
                said = os.read(heard.fileno(), _REPORT_BYTES)
                return read_report(said.decode(errors="replace"))

            told = str(writer), ",".join(map(str, way)), user
            command = (*LAUNCHER, *told, *words, _END, *argv)
            yield Box(command, (writer, *way[:1]), report)


def cannot_box() -> str:
    """Return why this machine gives agents no box, or "" if it does."""
    if sys.platform != "linux":
        return NO_BOX
    with TemporaryDirectory(prefix="brat-") as name:
        room = Room(Path(name), Path(name), Path(name), Sight(path=os.defpath))
        with boxed(("true",), room) as box:
            try:
                _try(box.argv, box.fds)
            except FileNotFoundError:
                return "the program `true` was not found"
            return box.report().why


def cannot_close() -> str:
    """Return why this machine cannot close an agent's network, or "" if it can."""
    if sys.platform != "linux":
        return NO_NETWORK
    ours, theirs = socket.socketpair()
    with ours, theirs:
        way = (theirs.fileno(),)
        _try((*unboxed(way), "true"), way)
        theirs.close()
        said, _ = receive_sockets(ours.detach())
    return "" if said == CLOSED else said.decode() or _SILENT


def _try(argv: tuple[str, ...], fds: tuple[int, ...]) -> None:
    subprocess.run(
        argv,
        cwd="/",
        env={"PATH": os.defpath},
        pass_fds=fds,
        stdin=subprocess.DEVNULL,
        timeout=PROBE_S,
        check=False,
    )


_ABOVE_ALL: Final = 1_900_000_000
"""Above every range that systemd and container tools hand out."""
_UNUSED: Final = range(60_578, 61_184)
"""Numbers that nobody hands out, for containers that know only 65,536 users."""
_MAPS: Final = (Path("/proc/self/uid_map"), Path("/proc/self/gid_map"))

_PROCESSES: Final = 1 << 22
"""No process has a higher number.
https://man7.org/linux/man-pages/man5/proc_sys_kernel.5.html
"""
_FREE: Final = deque(range(50))
"""The boxes of this process without a user: the local forge's CI has several at once.
The one that was left last comes first, so that its files need no new owner."""


@contextmanager
def agent_user_number() -> Iterator[int | None]:
    """Lend the number of a box's user and group; None: the witness's own."""
    if os.getuid() != 0:
        yield None
        return
    box, process = _FREE.popleft(), os.getpid()
    high = _ABOVE_ALL + box * _PROCESSES + process
    able = (high, _UNUSED[(process + box) % len(_UNUSED)])
    try:
        yield next((n for n in able if all(_knows(each, n) for each in _MAPS)), None)
    finally:
        _FREE.appendleft(box)


def _knows(users: Path, number: int) -> bool:
    try:
        lines = [line.split() for line in users.read_text("ascii").splitlines()]
    except OSError:
        return False
    return any(int(a) <= number < int(a) + int(count) for a, _, count in lines)


def give_folders(places: Iterable[Path], number: int) -> None:
    """Make a user the owner of all below, while no agent runs; follow no links."""
    # Not with a Path for each: a checkout may have 50,000 files.
    left = [*map(str, places)]
    while left:
        path = left.pop()
        found = os.lstat(path)
        if found.st_uid != number:
            os.chown(path, number, number, follow_symlinks=False)
        if stat.S_ISDIR(found.st_mode):
            with os.scandir(path) as entries:
                left += [each.path for each in entries]
