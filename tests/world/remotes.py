"""Remotes for tests that only need git: a bare repository by file:// or by HTTP.

The forge is a process of its own, so that tests can block, and fork.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from brat.forge.storage.forge_state import Forge
from brat.local import forge_process
from grite import git
from grite.remote import Remote, ensure_mirror
from tests.world.forge import REPO, make_source, settle_in


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
        return Remote(self.url, mirror, self.token)

    def refs(self) -> dict[str, str]:
        form = "--format=%(refname) %(objectname)"
        listed = git.run(["for-each-ref", form], cwd=self.bare).stdout.decode()
        return dict(line.split(" ", 1) for line in listed.splitlines())


def by_file(folder: Path) -> Address:
    bare = folder / "remote.git"
    ensure_mirror(bare)
    return Address(bare.as_uri(), None, bare)


@contextmanager
def by_http(folder: Path) -> Iterator[Address]:
    """Serve a forge with one repository for as long as the block lasts."""
    folder.mkdir(exist_ok=True)
    with Forge(folder / "forge") as forge:
        tokens = settle_in(forge, make_source(folder / "source"))
        bare = forge.bare(forge.known(REPO)).path
    with forge_process.forge(folder / "forge", 0, log=folder / "log") as (url, _):
        yield Address(f"{url}/{REPO}.git", tokens["bot"], bare, tokens["reader"])
