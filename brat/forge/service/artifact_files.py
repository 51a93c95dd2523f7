"""Artifacts: zips of what a run leaves behind."""

import hashlib
import os
import stat
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

RESULT: Final = "brat-result"
"""The artifact made of a run's result folder."""
CHUNK: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Packed:
    """A zip on disk."""

    size: int
    digest: str
    """`sha256:` and 64 hex digits."""


def pack(folder: Path, target: Path) -> Packed | None:
    """Zip the regular files in `folder`, not compressed; None when it has none.

    Links are not followed: what they point at was not made by the run. The zip appears
    whole or not at all, and packing again replaces it.
    """
    files = sorted(_files(folder))
    if not files:
        return None
    making = target.with_suffix(".making")
    with zipfile.ZipFile(making, "w", zipfile.ZIP_STORED) as archive:
        for path in files:
            archive.write(path, path.relative_to(folder))
    making.replace(target)
    return measure(target)


def measure(path: Path) -> Packed:
    """Return the size and digest of a file."""
    found = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            found.update(chunk)
    return Packed(path.stat().st_size, f"sha256:{found.hexdigest()}")


def sound(path: Path) -> bool:
    """Say whether a file is a zip whose contents can be read."""
    try:
        with zipfile.ZipFile(path) as archive:
            return archive.testzip() is None
    except (zipfile.BadZipFile, OSError):
        return False


def _files(folder: Path) -> Iterator[Path]:
    for top, _, names in os.walk(folder):
        for name in names:
            path = Path(top, name)
            if stat.S_ISREG(path.lstat().st_mode):
                yield path
