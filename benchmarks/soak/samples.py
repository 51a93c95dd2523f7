"""What the processes of a soak hold, looked at from outside."""

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

import psutil
from msgspec import Struct

from benchmarks.soak.place import REPOSITORIES, Place
from bot.repository.mirror import on_disk
from brat.repository.registration import BOT_FOLDER, FORGE_FOLDER
from grite import git

_MB: Final = 1_000_000
LOCKS, QUEUE = "refs/grite/locks", "refs/heads/brat/queue"


class Sample(Struct, frozen=True, kw_only=True):
    """One moment."""

    landed: int
    """Tasks so far."""
    forge_mb: float
    bot_mb: float
    forge_files: int
    """Open file descriptors."""
    bot_files: int
    processes: int
    """Those that work below the folder, beside the two."""
    leases: int
    branches: int
    """Those of candidates; branches with work are never deleted."""
    disk_mb: float


def sample(place: Place, forge: int, bot: int, landed: int) -> Sample:
    """Look at everything once."""
    own = {forge, bot, os.getpid()}
    forge_mb, forge_files = _held(forge)
    bot_mb, bot_files = _held(bot)
    return Sample(
        landed=landed,
        forge_mb=forge_mb,
        bot_mb=bot_mb,
        forge_files=forge_files,
        bot_files=bot_files,
        processes=sum(each.pid not in own for each in working_below(place.folder)),
        leases=sum(len(refs(place, each, LOCKS)) for each in REPOSITORIES),
        branches=sum(len(refs(place, each, QUEUE)) for each in REPOSITORIES),
        disk_mb=round(
            sum(on_disk(place.folder / each) for each in (FORGE_FOLDER, BOT_FOLDER))
            / _MB,
            1,
        ),
    )


def working_below(folder: Path) -> list[psutil.Process]:
    """Return the processes whose working folder lies below a folder."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error, OSError):
            if Path(process.cwd()).is_relative_to(folder):
                found.append(process)
    return found


def refs(place: Place, repository: str, *prefixes: str) -> list[str]:
    """Return the names of the forge's refs below the prefixes."""
    args = ("for-each-ref", "--format=%(refname)", *prefixes)
    return git.run(args, cwd=place.bare(repository)).stdout.decode().split()


def _held(pid: int) -> tuple[float, int]:
    """Return a process' memory in MB and its open files, its children's included."""
    memory = files = 0
    with suppress(psutil.Error):
        process = psutil.Process(pid)
        memory, files = process.memory_info().rss, process.num_fds()
    return round(memory / _MB, 1), files
