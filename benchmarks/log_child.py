"""One measurement of a log in a process of its own: `python -m benchmarks.log_child`.

Prints JSON: the seconds from the first look at the repository (Python and its modules
are loaded), those of them that it and any git it ran had a processor, and the most
memory that either ever had.
"""

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path

import pygit2

from benchmarks import grite_protocol
from brat.repository.log_reader import Reader
from convoy.log import record
from convoy.log.record import Reading
from convoy.model.state import State
from grite.wal import WAL_REF
from tests.world.log_keys import LOG_KEY, open_mirror


def read(path: str) -> State:
    """Read as `brat status` does, with what was kept."""
    return Reader(Path(path), authority=LOG_KEY.authority()).read()


def start(url: str, token: str, path: str) -> State:
    """Start as a bot does, on a clone that is not there yet."""
    mirror = open_mirror(Path(path), url, token)
    mirror.look()
    assert not mirror.notices, mirror.notices
    return mirror.state


def grite(path: str) -> State:
    """Read a log in grite's own form; nothing is folded."""
    repo = pygit2.Repository(path)
    grite_protocol.read(repo, str(repo.lookup_reference(WAL_REF).target))
    return State()


def git(path: str) -> State:
    """Let git alone list and print every object of the log."""
    listed = subprocess.run(
        ["git", "rev-list", "--objects", "--no-object-names", WAL_REF],
        cwd=path,
        check=True,
        capture_output=True,
    ).stdout
    subprocess.run(
        ["git", "cat-file", "--batch", "--buffer"],
        cwd=path,
        check=True,
        input=listed,
        stdout=subprocess.DEVNULL,
    )
    return State()


MODES: dict[str, Callable[..., State]] = {
    "read": read,
    "start": start,
    "grite": grite,
    "git": git,
}


def main() -> None:
    """Run the mode named on the command line."""
    before, begun = sum(os.times()[:4]), time.perf_counter()
    state = MODES[sys.argv[1]](*sys.argv[2:])
    seconds = time.perf_counter() - begun
    spent = sum(os.times()[:4]) - before
    children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    memory_mb = _memory_mb()
    same = blake2b(record.encode_reading(Reading(state)), digest_size=8).hexdigest()
    found = {
        "seconds": round(seconds, 3),
        "cpu_s": round(spent, 2),
        "memory_mb": memory_mb,
        "git_memory_mb": round(children / 1024),
        "convoys": len(state.convoys),
        "state": same,
    }
    print(json.dumps(found))


def _memory_mb() -> int:
    """Return the most that this process had in memory, mapped files too.

    https://man7.org/linux/man-pages/man5/proc_pid_status.5.html (VmHWM)
    """
    status = Path("/proc/self/status").read_text(encoding="ascii")
    (line,) = (row for row in status.splitlines() if row.startswith("VmHWM:"))
    return int(line.split()[1]) // 1024


if __name__ == "__main__":
    main()
