"""Prepares a box for one program of a session, and reads what the box reports.

The same box stands around the engine, the project's setup script, its acceptance
command and the witness's own look at an agent's repository; only their networks differ.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from msgspec import Struct

from runner.box import agent_user, box_report, toolchains
from runner.box.module_launch import launched
from runner.box.root_folder import SEEN
from runner.box.visible_paths import (
    TEMPORARY,
    Sight,
    arranged,
    places,
    visible,
    writable,
)
from runner.inputs.job_inputs import Inputs

NO_BOX: Final = "only Linux has boxes"
_OFF: Final = box_report.Report(is_off=True, why="the configuration turns it off")
PROBE_S: Final = 20.0
_REPORT_BYTES: Final = 2000
_LAUNCHER: Final = launched("runner.box.namespaces")
_END: Final = "--"


class NetworkExit(Struct, frozen=True):
    """The only way out of a network that is closed."""

    fd: int
    """The descriptor through which the proxy gets the sockets inside."""
    ports: tuple[int, ...]
    """The ports of those sockets."""

    @property
    def word(self) -> str:
        """The form in which `namespaces` and `network_namespace` take the network."""
        return ",".join(map(str, (self.fd, *self.ports)))


class Room(Struct, frozen=True):
    """The folders in which an agent's programs work, and what else they see."""

    folder: Path
    """The agent's checkout."""
    home: Path
    temporary: Path
    sight: Sight
    prompt: Path | None = None
    is_boxed: bool = True
    """False: the configuration has turned the box off."""

    def owned(self) -> tuple[Path, ...]:
        """Return the folders that belong to the agent, as far as there are any."""
        found = self.folder, self.home, self.temporary
        return tuple(each for each in found if each.is_dir())


def session_room(
    inputs: Inputs, folder: Path, scratch: Path, *, is_boxed: bool = True
) -> Room:
    """Return where a session's programs work.

    Args:
        inputs: the job.
        folder: the agent's checkout.
        is_boxed: whether they work in a box, or not at all.
        scratch: the witness's folder; programs get its `home`, `tmp` and prompt.
    """
    hidden = (*inputs.hidden, inputs.result, inputs.temp, inputs.workspace)
    shown = (*inputs.shown, *((inputs.cache,) if inputs.cache else ()))
    home = inputs.offered.get("HOME", "")
    tools = toolchains.named_in(inputs.offered)
    sight = Sight(path=inputs.path, home=home, tools=tools, shown=shown, hidden=hidden)
    prompt = scratch / "prompt.md"
    own = scratch / "home", scratch / "tmp"
    return Room(folder, *own, sight, prompt, is_boxed=is_boxed)


class Box:
    """The command that starts one program in a box, and what the box reports."""

    def __init__(
        self,
        argv: tuple[str, ...],
        fds: tuple[int, ...],
        pipe: tuple[int, int] | None = None,
        known: box_report.Report = _OFF,
    ) -> None:
        """Take over the pipe by which a box reports; without one, `known` is so."""
        self.argv = argv
        self._known = known
        self.fds = fds
        """The descriptors that the program needs."""
        self._reader, self._writer = pipe or (-1, -1)

    def report(self) -> box_report.Report:
        """Return which walls stood. Call it once, after the program's end."""
        if self._reader < 0:
            return self._known
        self._hang_up()
        return box_report.read(
            os.read(self._reader, _REPORT_BYTES).decode(errors="replace")
        )

    def close(self) -> None:
        """Close the pipe; call it once."""
        self._hang_up()
        if self._reader >= 0:
            os.close(self._reader)

    def _hang_up(self) -> None:
        if self._writer >= 0:
            os.close(self._writer)
            self._writer = -1


@contextmanager
def boxed(
    argv: tuple[str, ...],
    room: Room,
    way: NetworkExit | None = None,
    also: tuple[Path, ...] = (),
) -> Iterator[Box | None]:
    """Yield the start of an agent's program in a box; None: there is no such program.

    Call it while no other program of the agent runs: it is given its folders.

    Args:
        argv: the program and its arguments.
        room: where it works.
        way: out of its network; None: that stays the machine's.
        also: folders that this program may write besides.

    Raises:
        OSError: the agent's user cannot be given its folders.
    """
    if not _is_there(argv[0], room):
        yield None  # the start itself fails and reports it
        return
    if room.is_boxed and sys.platform != "linux":
        yield Box(("false",), (), None, box_report.Report(why=NO_BOX))
        return
    if not room.is_boxed:
        closing = (*launched("runner.box.network_namespace"), way.word) if way else ()
        ends = (_END, _END) if way else ()
        yield Box((*closing, *ends, *argv), (way.fd,) if way else ())
        return
    with agent_user.own_number() as number:
        if number is not None:
            agent_user.give((*room.owned(), *also), number)
        yield from _made(argv, room, _become(room, number), way, also)


@contextmanager
def boxed_for_us(
    argv: tuple[str, ...], room: Room, also: tuple[Path, ...]
) -> Iterator[Box | None]:
    """Yield the start of a program of the witness in a box like the agent's.

    It keeps its user, so that the agent cannot touch it, and may run beside the agent.
    """
    if room.is_boxed:
        yield from _made(argv, room, "", None, also)
    else:
        yield Box(argv, ())


def _made(
    argv: tuple[str, ...],
    room: Room,
    user: str,
    way: NetworkExit | None,
    also: tuple[Path, ...],
) -> Iterator[Box]:
    own = (way.fd,) if way else ()
    reader, writer = os.pipe()
    told = str(writer), way.word if way else "", user
    words = (word for place in _places(room, also) for word in place)
    found = Box(
        (*_LAUNCHER, *told, *words, _END, *argv), (writer, *own), (reader, writer)
    )
    try:
        yield found
    finally:
        found.close()


def cannot_box() -> str:
    """Return why this machine gives agents no box, or "" if it does."""
    if sys.platform != "linux":
        return NO_BOX
    with TemporaryDirectory(prefix="brat-") as name:
        room = Room(Path(name), Path(name), Path(name), Sight(path=os.defpath))
        with boxed(("true",), room) as box:
            if box is None:
                return "there is no program `true`"
            subprocess.run(
                box.argv,
                cwd=name,
                env={"PATH": os.defpath},
                pass_fds=box.fds,
                stdin=subprocess.DEVNULL,
                timeout=PROBE_S,
                check=False,
            )
            return box.report().why


def _places(room: Room, also: tuple[Path, ...]) -> list[tuple[str, str, str]]:
    own = (each for path in (*room.owned(), *also) for each in writable(path))
    shared = (each for at in TEMPORARY for each in writable(room.temporary, at))
    prompt = places(SEEN, str(room.prompt)) if room.prompt else ()
    return arranged((*own, *shared, *prompt, *visible(room.sight)))


def _become(room: Room, number: int | None) -> str:
    return "" if number is None else f"{number}:{number}:{room.home}"


def _is_there(program: str, room: Room) -> bool:
    name = str(room.folder / program) if os.sep in program else program
    path = f"{room.home / '.local/bin'}{os.pathsep}{room.sight.path}"
    return shutil.which(name, path=path) is not None
