"""Which processes that had a bot's folder are dead: those before the one that has it.

The folder's lock is the operating system's, so it goes with the process. What was noted
under another start of the system, or in a copy of the folder, says nothing: whoever
wrote it may run elsewhere.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from filelock import FileLock, Timeout

FILE: Final = "processes"
KEPT: Final = 8
"""How many processes are remembered: some die before they come to hold a lease."""
_BOOT: Final = Path("/proc/sys/kernel/random/boot_id")
"""https://man7.org/linux/man-pages/man4/random.4.html"""


@contextmanager
def held(folder: Path, nonce: str) -> Iterator[frozenset[str]]:
    """Hold a bot's folder, and note its process's nonce there.

    Args:
        folder: it exists.
        nonce: names this process; one line.

    Yields:
        The nonces of processes that had this folder and are dead. Empty if another
        process has the folder, or if nothing can be said.
    """
    lock = FileLock(folder / f"{FILE}.lock", thread_local=False)
    try:
        lock.acquire(blocking=False)
    except (Timeout, OSError, NotImplementedError):  # it is taken, or cannot be had
        yield frozenset()
        return
    try:
        yield _noted(folder, nonce)
    finally:
        lock.release()


def _noted(folder: Path, nonce: str) -> frozenset[str]:
    """Note a process; return those that were noted before it, here."""
    file, here = folder / FILE, _here(folder)
    place, *known = (file.read_text() if file.exists() else "").splitlines() or [""]
    dead = known if here and place == here else []
    file.write_text("\n".join((here, *dead[1 - KEPT :], nonce)))
    return frozenset(dead)


def _here(folder: Path) -> str:
    """Name this folder, on this machine since it was started; empty: not known."""
    try:
        boot = _BOOT.read_text().strip()
    except OSError:
        return ""
    found = os.stat(folder)  # noqa: PTH116  for its device and number
    return f"{boot} {found.st_dev} {found.st_ino}"
