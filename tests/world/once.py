"""Things that many tests look at and one of them makes, in whatever process."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from filelock import FileLock
from msgspec import json

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
