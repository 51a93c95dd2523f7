"""Runs one command of ours as if the user had typed it, and returns what it said."""

import asyncio
import errno
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from convoy.text import clean

_PREFIX: Final = "brat: "


@dataclass(frozen=True)
class Said:
    """How a command ended."""

    status: int
    out: str
    """What it wrote to standard output."""
    lines: tuple[str, ...]
    """What it told people."""


async def typed(path: Path, words: Sequence[str], *given: str) -> Said:
    """Run `brat WORDS --repo PATH -- GIVEN`; a cancelled one ends as by Ctrl-C.

    Args:
        path: a folder of the repository.
        words: the command and its options.
        given: what others may have written: it is never read as an option.
    """
    # -I: a folder `brat` in the repository must not be run in our place.
    command = (sys.executable, "-I", "-m", "brat")
    try:
        child = await asyncio.create_subprocess_exec(
            *command,
            *map(clean, words),
            f"--repo={path}",
            "--",
            *map(clean, given),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
    except OSError as error:
        if error.errno != errno.E2BIG:
            raise
        return Said(1, "", ("the text is too long: shorten it, or put it in a file",))
    try:
        out, err = await child.communicate()
    except asyncio.CancelledError:
        child.send_signal(signal.SIGINT)
        raise
    lines = err.decode(errors="replace").splitlines()
    told = tuple(line.removeprefix(_PREFIX) for line in lines if line.strip())
    return Said(child.returncode or 0, out.decode(errors="replace"), told)
