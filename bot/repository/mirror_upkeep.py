"""Keeps a mirror from growing without end: what no ref leads to is removed.

Git does not collect a mirror by itself (`grite/remote.py` forbids it), for a collection
beside a running loop could remove what the loop has just written. So it is done before
the loop opens the mirror.
"""

import logging
import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from grite import git
from grite.errors import BratError

FLOOR_BYTES: Final = 256_000_000
FLOOR_FILES: Final = 20_000
"""A mirror below both is never collected. A task leaves dozens of loose objects."""
GROWTH: Final = 2
"""How many times what the last collection left a mirror may grow to."""
EVERY_S: Final = 600.0
RECENT: Final = "1.hour.ago"
"""Younger objects stay: a git call of a loop that was cut off may be writing them."""
DEADLINE_S: Final = 3_600.0
INTAKE: Final = "refs/intake/"
"""Local refs that keep an attempt's commits while they are examined."""
_SIZE: Final = "brat-size"

_log: Final = logging.getLogger(__name__)


class Outgrown(BratError):
    """A mirror has grown too large: its loop has to leave it for a moment."""


class OnDisk(NamedTuple):
    """What a folder's files come to."""

    size: int
    """Bytes."""
    files: int


def on_disk(folder: Path) -> OnDisk:
    """Return what the files in a folder come to; nothing if there is no folder."""
    size = files = 0
    for parent, _, names in os.walk(folder):
        files += len(names)
        for name in names:
            with suppress(FileNotFoundError):  # git has just moved it
                size += (Path(parent) / name).stat().st_size
    return OnDisk(size, files)


def has_grown(mirror: Path) -> bool:
    """Whether a mirror is to be collected."""
    now, noted = on_disk(mirror), _noted(mirror)
    return now.size > max(FLOOR_BYTES, GROWTH * noted.size) or now.files > max(
        FLOOR_FILES, GROWTH * noted.files
    )


def collect(mirror: Path) -> None:
    """Collect a mirror that has grown; blocking, and safe to call at any time.

    A collection that fails is logged: the mirror is as good as before, only large.
    """
    if not has_grown(mirror):
        return
    before = on_disk(mirror)
    try:
        prune = f"--prune={RECENT}"
        _let_go_of_attempts(mirror)
        git.run(["gc", "--quiet", prune], cwd=mirror, deadline_s=DEADLINE_S)
    except BratError as error:
        _log.warning("%s cannot be collected: %s", mirror, error)
    else:
        _log.info("%s: %s, %s after it", mirror, before, on_disk(mirror))
    left = on_disk(mirror)
    (mirror / _SIZE).write_text(f"{left.size} {left.files}")


def _let_go_of_attempts(mirror: Path) -> None:
    """Delete the refs of attempts: none is examined while no loop has the mirror."""
    listed = ["for-each-ref", "--format=delete %(refname)", INTAKE]
    commands = git.run(listed, cwd=mirror).stdout
    git.run(["update-ref", "--stdin"], cwd=mirror, stdin=commands)


def _noted(mirror: Path) -> OnDisk:
    """Return what the last collection left; nothing: there was none."""
    try:
        size, files = (mirror / _SIZE).read_text().split()
        return OnDisk(int(size), int(files))
    except (OSError, ValueError):
        return OnDisk(0, 0)


class MirrorWatch:
    """Looks now and then whether a mirror in use has to be collected."""

    def __init__(
        self, mirror: Path, ticking: Callable[[], float] = time.monotonic
    ) -> None:
        """Watch a mirror; `ticking` returns seconds."""
        self._mirror = mirror
        self._ticking = ticking
        self._looked_at = ticking()

    def look(self) -> None:
        """Look, unless that was done a short while ago.

        Raises:
            Outgrown: the mirror has to be collected; opening it again does that.
        """
        if self._ticking() - self._looked_at < EVERY_S:
            return
        self._looked_at = self._ticking()
        if has_grown(self._mirror):
            raise Outgrown("its mirror has grown: what nothing needs is removed")
