"""Prepares an agent's box: chooses its hidden paths, and reports why a box failed.

The box hides the paths that `runner.box.hidden_paths` lists, and everything else that
lies beside the agent's folders.
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

from runner.box.hidden_paths import STORE, hidden, kept
from runner.box.module_launch import launched
from runner.inputs.job_inputs import Inputs

NO_BOX: Final = "only Linux has boxes"
PROBE_S: Final = 20.0
_WHY_BYTES: Final = 1000
_LAUNCHER: Final = launched("box.namespaces")


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


class Box:
    """The command that starts one program in a box, and why the box failed, if so."""

    def __init__(
        self, argv: tuple[str, ...], fds: tuple[int, ...], pipe: tuple[int, int] | None
    ) -> None:
        """Take over the pipe by which a box reports; None: there can be none."""
        self.argv = argv
        self.fds = fds
        """The descriptors that the program needs."""
        self._reader, self._writer = pipe or (-1, -1)

    def why(self) -> str:
        """Return why there was no box, or "" if there was. Call it once, at the end."""
        if self._reader < 0:
            return NO_BOX
        self._hang_up()
        return os.read(self._reader, _WHY_BYTES).decode("utf-8", "replace")

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
    folder: Path,
    scratch: Path,
    inputs: Inputs,
    way: NetworkExit | None = None,
    also: tuple[Path, ...] = (),
) -> Iterator[Box | None]:
    """Yield the start of a program in a box; None: there is no such program.

    Args:
        argv: the program and its arguments.
        folder: the agent's checkout.
        scratch: has `home`, `tmp` and the prompt.
        inputs: of the job.
        way: out of its network; None: that stays the machine's.
        also: what is to be found in this box beside what the agent's has.
    """
    if not _is_there(argv[0], folder, scratch, inputs):
        yield None  # the start itself fails and reports it
        return
    closing = _closing(way, inputs, scratch) if way else ()
    own = (way.fd,) if way else ()
    if sys.platform != "linux":
        yield Box((*closing, *argv), own, None)  # which reports why not
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


def _closing(way: NetworkExit, inputs: Inputs, scratch: Path) -> tuple[str, ...]:
    """Return the command that closes only the network, and hides the same paths."""
    unseen = hidden(inputs, scratch / STORE)
    return (*launched("box.network_namespace"), way.word, *kept(), "--", *unseen, "--")


def cannot_box() -> str:
    """Return why this machine gives agents no box, or "" if it does."""
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
    """Return the paths that exist, without those that lie inside another one."""
    found = sorted(set(_resolved(paths)))
    return [
        each
        for each in found
        if not any(each.startswith(f"{other}/") for other in found)
    ]


def _resolved(paths: Iterable[Path]) -> list[str]:
    return [str(path.resolve()) for path in paths if os.access(path, os.F_OK)]
