"""Reads files that an agent may have made: only regular files, only up to a limit."""

import os
import stat
from pathlib import Path


def read_hostile(file: Path, most_bytes: int) -> bytes:
    """Return the beginning of a file, or nothing if it is missing or not regular.

    The function follows no link, and never waits for a pipe's writer.
    """
    try:
        number = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return b""
    with os.fdopen(number, "rb") as source:
        if not stat.S_ISREG(os.fstat(number).st_mode):
            return b""
        return source.read(most_bytes)
