"""The objects of a push, kept apart until it is judged.

They are spooled to disk and indexed in a folder of their own beside the repository's
objects, which `git receive-pack` calls quarantine and does once more for what it is
given. https://git-scm.com/docs/git-receive-pack#_quarantine_environment
"""

import asyncio
import shutil
from asyncio.subprocess import DEVNULL
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from typing import Final

from aiohttp import StreamReader

from brat.forge.service.programs import git_environment
from brat.forge.storage.forge_state import Forge
from brat.forge.storage.git_storage import Bare

CHUNK: Final = 1 << 16
_INCOMING: Final = "incoming-"
_HEADER: Final = 12
"""Bytes: `PACK`, its version, and how many objects it has."""


@dataclass(frozen=True, slots=True)
class IncomingPack:
    """What came with a push, on disk."""

    file: Path
    size: int
    """Bytes that came; more than the file has when it is over the limit."""
    objects: Path | None
    """The folder of its objects; None: it brings none, or git cannot read them."""

    async def chunks(self) -> AsyncIterator[bytes]:
        """Yield the pack as it came."""
        with self.file.open("rb") as file:
            while chunk := file.read(CHUNK):
                yield chunk


def incoming(bare: Bare) -> Path:
    """Make a folder for what comes in; the caller removes it."""
    return Path(mkdtemp(prefix=_INCOMING, dir=bare.path))


def sweep(forge: Forge) -> None:
    """Remove what a process that died left of pushes; before any is taken."""
    for repo in forge.store.repositories.all():
        for left in forge.bare(repo).path.glob(f"{_INCOMING}*"):
            shutil.rmtree(left)


@asynccontextmanager
async def incoming_pack(
    bare: Bare, stream: StreamReader, most: int
) -> AsyncIterator[IncomingPack]:
    """Read a push to its end; what came is gone when the block ends.

    Of a pack of more than `most` bytes the rest is read and dropped.
    """
    folder = incoming(bare)
    try:
        file, size = folder / "pack", 0
        with file.open("wb") as spool:
            async for chunk in stream.iter_any():
                size += len(chunk)
                if size <= most:
                    spool.write(chunk)
        objects = None
        if size <= most and await asyncio.to_thread(_has_objects, file):
            objects = folder / "objects"
            objects.mkdir()
            if not await _is_indexed(bare.path, file, objects):
                objects = None  # receive-pack will say in its own words why
        yield IncomingPack(file, size, objects)
    finally:
        await asyncio.to_thread(shutil.rmtree, folder)


def _has_objects(file: Path) -> bool:
    with file.open("rb") as spool:
        return int.from_bytes(spool.read(_HEADER)[8:]) > 0


async def _is_indexed(bare: Path, file: Path, objects: Path) -> bool:
    """Index a pack in a folder of its own; say whether git could read it."""
    env = git_environment() | {
        "GIT_OBJECT_DIRECTORY": str(objects),
        "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(bare / "objects"),
    }
    with file.open("rb") as pack:
        process = await asyncio.create_subprocess_exec(
            *("git", "index-pack", "--stdin", "--fix-thin"),
            cwd=bare,
            stdin=pack,
            stdout=DEVNULL,
            stderr=DEVNULL,
            env=env,
        )
    return await process.wait() == 0
