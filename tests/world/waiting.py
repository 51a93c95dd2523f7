"""What tests wait for, look through while it is at work, or make once for all."""

import asyncio
import os
import zipfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar

from filelock import FileLock
from msgspec import json

from brat.repository.log_reader import Reader
from convoy.model.state import Convoy

T = TypeVar("T")


@dataclass(frozen=True)
class Once:
    """A folder in which each named thing is made at most once in a test run."""

    root: Path

    def __call__(self, name: str, kind: type[T], make: Callable[[Path], T]) -> T:
        """Return the thing `name`; the first who asks makes it, in a new folder.

        Args:
            name: of the thing, its file and its folder.
            kind: what it is read back as; must survive JSON.
            make: gets the folder, which stays until the tests are over.
        """
        kept, folder = self.root / f"{name}.json", self.root / name
        with FileLock(self.root / f"{name}.lock"):
            if not kept.exists():
                folder.mkdir()
                kept.write_bytes(json.encode(make(folder)))
        return json.decode(kept.read_bytes(), type=kind)


def files(folder: Path) -> Iterator[Path]:
    """Give the files below `folder`; what goes meanwhile is left out."""
    for top, _, names in os.walk(folder):
        yield from (Path(top, name) for name in names)


def texts(folder: Path) -> Iterator[tuple[Path, bytes]]:
    """Give the content of each file below `folder`, of what is packed in it, too."""
    for file in files(folder):
        with suppress(FileNotFoundError):
            if not file.is_file():  # a socket or a pipe
                continue
            yield file, file.read_bytes()
            if zipfile.is_zipfile(file):
                with zipfile.ZipFile(file) as archive:
                    for name in archive.namelist():
                        yield file, archive.read(name)


LOOK_S: Final = 0.1


async def ended(reader: Reader, deadline_s: float) -> Convoy:
    """Return the first convoy that has ended, or cannot go on by itself.

    Raises `TimeoutError`: there is none within the deadline.
    """
    async with asyncio.timeout(deadline_s):
        while True:
            for convoy in reader.read().convoys.values():
                if convoy.ended or any(t.state == "blocked" for t in convoy.tasks):
                    return convoy
            await asyncio.sleep(LOOK_S)
