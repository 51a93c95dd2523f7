"""Remotes for tests that only need git: a bare repository by file:// or by HTTP.

The forge serves from a thread with a loop of its own, so that tests can block.
"""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from brat.forge import Forge
from brat.forge.server import serving
from grite import git
from grite.remote import Remote, ensure_mirror
from tests.world.forge import REPO, make_source, settle_in

START_S = 20.0


@dataclass(frozen=True)
class Address:
    """A remote that may be pushed to."""

    url: str
    token: str | None
    bare: Path
    """Where it lies; for looking at, and for playing a stranger."""
    reader: str | None = None
    """A token that may only read."""

    def remote(self, mirror: Path) -> Remote:
        """Return the remote as one mirror sees it."""
        return Remote(self.url, mirror, self.token)

    def refs(self) -> dict[str, str]:
        """Return its refs, read from the disk."""
        form = "--format=%(refname) %(objectname)"
        listed = git.run(["for-each-ref", form], cwd=self.bare).stdout.decode()
        return dict(line.split(" ", 1) for line in listed.splitlines())


def by_file(folder: Path) -> Address:
    """Make an empty remote."""
    bare = folder / "remote.git"
    ensure_mirror(bare)
    return Address(bare.as_uri(), None, bare)


@contextmanager
def by_http(folder: Path) -> Iterator[Address]:
    """Serve a forge with one repository for as long as the block lasts."""
    folder.mkdir(exist_ok=True)
    thread = _Thread(folder)
    thread.start()
    try:
        assert thread.ready.wait(START_S), "the forge did not start"
        if thread.address is None:
            raise AssertionError from thread.failure
        yield thread.address
    finally:
        thread.stop()


class _Thread(threading.Thread):
    """Serves a forge until it is told to stop."""

    def __init__(self, folder: Path) -> None:
        super().__init__(name="forge")
        self.ready = threading.Event()
        self.address: Address | None = None
        self.failure: BaseException | None = None
        self._folder = folder
        self._ended = asyncio.Event()
        self._loop = asyncio.new_event_loop()

    def run(self) -> None:
        try:
            self._loop.run_until_complete(self._serve())
        except BaseException as error:  # noqa: BLE001  told to the test's own thread
            self.failure = error
        finally:
            self.ready.set()
            self._loop.run_until_complete(self._loop.shutdown_default_executor())
            self._loop.close()

    async def _serve(self) -> None:
        with Forge(self._folder / "forge") as forge:
            tokens = settle_in(forge, make_source(self._folder / "source"))
            repo = forge.repository(REPO)
            assert repo is not None
            async with serving(forge) as url:
                self.address = Address(
                    f"{url}/{REPO}.git",
                    tokens["bot"],
                    forge.bare(repo).path,
                    tokens["reader"],
                )
                self.ready.set()
                await self._ended.wait()

    def stop(self) -> None:
        """End it; safe to call when it has ended."""
        if self.is_alive():
            self._loop.call_soon_threadsafe(self._ended.set)
        self.join(START_S)
