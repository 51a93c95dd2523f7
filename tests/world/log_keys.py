"""Keys that sign logs in tests, and mirrors whose writers hold them."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import pygit2
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from bot.repository.mirror import Mirror
from grite import objects
from grite.objects import Note
from grite.signatures import (
    ENTRY,
    Authority,
    Sign,
    Writer,
    armored,
    only_signer,
    signed_text,
)

REPOSITORY = "1"


class Key:
    """A key that anybody can make again from its name."""

    def __init__(self, name: str) -> None:
        self._private = Ed25519PrivateKey.from_private_bytes(name.encode().ljust(32))
        self.public = self._private.public_key().public_bytes_raw()

    @property
    def sign(self) -> Sign:
        return lambda text: armored(self.public, self._private.sign(signed_text(text)))

    def authority(self, repository: str = REPOSITORY) -> Authority:
        """Return that this key alone counts."""
        return Authority(repository, only_signer(self.public))

    def writer(self, repository: str = REPOSITORY) -> Writer:
        return Writer(repository, self.sign)

    def opening(self, repository: str = REPOSITORY) -> Callable[..., Mirror]:
        return partial(Mirror, authority=self.authority(repository), sign=self.sign)


def signed_commit(
    folder: Path, files: Mapping[str, bytes], parent: str | None, writer: Writer
) -> str:
    """Write a commit that looks like the log's but for what it holds; no ref moves."""
    parents = () if parent is None else (parent,)
    note = Note(f"{ENTRY}by hand", 1_700_000_000, parents).signed(writer)
    return objects.write(pygit2.Repository(str(folder)), files, note)


LOG_KEY = Key("the log's key")
OTHER_KEY = Key("another key")
open_mirror = LOG_KEY.opening()
"""Opens a mirror of the repository with the id 1."""
