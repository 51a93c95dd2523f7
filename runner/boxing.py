"""The witness's side of an agent's box: what is hidden in it, and what it came to.

Hidden is what `runner.walls` lists, and whatever else lies beside the agent's folders.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from msgspec import Struct

from runner.inputs import Inputs
from runner.launch import launched
from runner.walls import hidden, kept
from runner.workspace import STORE

NO_BOX: Final = "only Linux has boxes"
PROBE_S: Final = 20.0
_WHY_BYTES: Final = 1000
_LAUNCHER: Final = launched("box")


class Way(Struct, frozen=True):
    """The only way out of a network that is closed."""

    fd: int
    """Through which the proxy gets the sockets inside."""
    ports: tuple[int, ...]
    """Of the sockets."""

    @property
    def word(self) -> str:
        """What `runner.box` and `runner.sandbox` take."""
        return ",".join(map(str, (self.fd, *self.ports)))


class Box:
    """What starts one program, and why it had no box, once it has ended."""

    def __init__(
        self, argv: tuple[str, ...], fds: tuple[int, ...], pipe: tuple[int, int] | None
    ) -> None:
        """Take over the pipe by which a box is told of; None: there can be none."""
        self.argv = argv
        self.fds = fds
        """The descriptors that the program needs."""
        self._reader, self._writer = pipe or (-1, -1)

    def why(self) -> str:
        """Return why it had no box; empty: it had one. Call it once, at the end."""
        if self._reader < 0:
            return NO_BOX
        self._hang_up()
        return os.read(self._reader, _WHY_BYTES).decode("utf-8", "replace")

    def close(self) -> None:
        """Close what it took over; call it once."""
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
    folder: Path,
    scratch: Path,
    inputs: Inputs,
    way: Way | None = None,
    also: tuple[Path, ...] = (),
) -> Iterator[Box | None]:
    """Give what starts a program of the agent's; None: there is no such program.

    Args:
        argv: the program and its arguments.
        folder: the agent's checkout.
        scratch: has `home`, `tmp` and the prompt.
        inputs: of the job.
        way: out of its network; None: that stays the machine's.
        also: what is to be found in this box beside what the agent's has.
    """
    if not _is_there(argv[0], folder, scratch, inputs):
        yield None  # and the start itself fails, and says so
        return
    closing = _closing(way, inputs, scratch) if way else ()
    own = (way.fd,) if way else ()
    if sys.platform != "linux":
        yield Box((*closing, *argv), own, None)  # which says why it closes nothing
        return
    stays = (folder, scratch / "home", scratch / "tmp", scratch / "prompt.md", *also)
    fixed = (*map(Path, kept()), *((inputs.cache,) if inputs.cache else ()))
    lists = (_outermost(_hidden(inputs, scratch)), _resolved(stays), _outermost(fixed))
    words = (word for each in lists for word in (*each, "--"))
    reader, writer = os.pipe()
    told = str(writer), way.word if way else ""
    program = (str(len(closing)), *closing, *argv)
    found = Box((*_LAUNCHER, *told, *words, *program), (writer, *own), (reader, writer))
    try:
        yield found
    finally:
        found.close()


def _closing(way: Way, inputs: Inputs, scratch: Path) -> tuple[str, ...]:
    """Return what closes the network alone, with walls such as a box has anyway."""
    unseen = hidden(inputs, scratch / STORE)
    return (*launched("sandbox"), way.word, *kept(), "--", *unseen, "--")


def cannot_box() -> str:
    """Return why this machine gives agents no box; empty: it does."""
    if sys.platform != "linux":
        return NO_BOX
    done = subprocess.run(
        _LAUNCHER,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PROBE_S,
        check=False,
    )
    return done.stdout or done.stderr


def _is_there(program: str, folder: Path, scratch: Path, inputs: Inputs) -> bool:
    name = str(folder / program) if os.sep in program else program
    path = f"{scratch / 'home/.local/bin'}{os.pathsep}{inputs.path}"
    return shutil.which(name, path=path) is not None


def _hidden(inputs: Inputs, scratch: Path) -> Iterator[Path]:
    yield from map(Path, hidden(inputs, scratch / STORE))
    yield from (inputs.temp, inputs.workspace, *inputs.hidden)
    yield Path(f"/run/user/{os.getuid()}")


def _outermost(paths: Iterable[Path]) -> list[str]:
    """Return those that are there, but none that lies in another one."""
    found = sorted(set(_resolved(paths)))
    return [
        each
        for each in found
        if not any(each.startswith(f"{other}/") for other in found)
    ]


def _resolved(paths: Iterable[Path]) -> list[str]:
    return [str(path.resolve()) for path in paths if os.access(path, os.F_OK)]
