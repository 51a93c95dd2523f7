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

from runner.inputs import Inputs
from runner.launch import launched
from runner.walls import hidden, kept
from runner.workspace import STORE

NO_BOX: Final = "only Linux has boxes"
PROBE_S: Final = 20.0
_WHY_BYTES: Final = 1000
_LAUNCHER: Final = launched("box")


class Box:
    """What starts one program boxed, and why it was not, once it has ended."""

    def __init__(self, argv: tuple[str, ...], fd: int, reader: int) -> None:
        self.argv = argv
        self.fd = fd
        """A descriptor that the program needs."""
        self._reader = reader

    def why(self) -> str:
        """Return why it had no box; empty: it had one. Call it once, at the end."""
        os.close(self.fd)
        self.fd = -1
        return os.read(self._reader, _WHY_BYTES).decode("utf-8", "replace")


@contextmanager
def boxed(
    argv: tuple[str, ...], folder: Path, scratch: Path, inputs: Inputs
) -> Iterator[Box | None]:
    """Give what starts a program of the agent's; None: this system has no boxes.

    Args:
        argv: the program and its arguments.
        folder: the agent's checkout.
        scratch: has `home`, `tmp` and the prompt.
        inputs: of the job.
    """
    if sys.platform != "linux" or not _is_there(argv[0], folder, scratch, inputs):
        yield None  # and the start itself fails, and says so
        return
    stays = (folder, scratch / "home", scratch / "tmp", scratch / "prompt.md")
    fixed = (*map(Path, kept()), *((inputs.cache,) if inputs.cache else ()))
    reader, writer = os.pipe()
    lists = (_outermost(_hidden(inputs, scratch)), _resolved(stays), _outermost(fixed))
    words = (word for each in lists for word in (*each, "--"))
    found = Box((*_LAUNCHER, str(writer), *words, *argv), writer, reader)
    try:
        yield found
    finally:
        os.close(reader)
        if found.fd >= 0:
            os.close(found.fd)


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
