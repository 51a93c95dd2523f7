"""Whether the local forge of a repository is being served; quick to load."""

from pathlib import Path

from filelock import FileLock, Timeout

from brat.repository.registration import FORGE_FOLDER


def in_use(folder: Path) -> bool:
    """Whether a living process has the forge in brat's folder open."""
    lock = FileLock(folder / FORGE_FOLDER / "lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        return True
    lock.release()
    return False
