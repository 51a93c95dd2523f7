"""The key that signs the log: OpenSSH's form of an Ed25519 key, without a passphrase.

It signs commits of `refs/grite/*` and nothing else. Only the bot holds it; runner and
readers know the public half.
"""

import os
import tempfile
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from grite.errors import BratError
from grite.signatures import (
    BOT_SIGNERS_FILE,
    AllowedSigners,
    armored,
    only_signer,
    signed_text,
    signer_line,
)

FILE: Final = "log_key"
_HOW: Final = "make one with: ssh-keygen -t ed25519 -N '' -C brat -f FILE"


@dataclass(frozen=True)
class LogKey:
    """A key that signs the log."""

    _private: Ed25519PrivateKey = field(repr=False)
    public: bytes
    """The raw public key, 32 bytes."""

    @property
    def signers(self) -> AllowedSigners:
        """This key alone."""
        return only_signer(self.public)

    @property
    def line(self) -> str:
        """The line of `.brat/allowed_signers` that allows this key."""
        return signer_line(self.public, "brat's log key")

    @property
    def private(self) -> str:
        """The private half, in OpenSSH's form."""
        return self._private.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.OpenSSH,
            serialization.NoEncryption(),
        ).decode()

    def sign(self, payload: bytes) -> str:
        """Return git's SSH signature of a commit; the same commit, the same text."""
        return armored(self.public, self._private.sign(signed_text(payload)))


def of(folder: Path, file: Path | None) -> LogKey:
    """Return a bot's key: that in `file`, else that in its folder, made if needed.

    Raises:
        BratError: the folder cannot be written, or the file holds no such key.
    """
    return kept_in(folder) if file is None else read(file)


def kept_in(folder: Path) -> LogKey:
    """Return the key in a bot's folder; it is made if there is none.

    Safe to call again, and from two processes at once.

    Raises:
        BratError: the folder cannot be written, or the file holds no such key.
    """
    file = folder / FILE
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not file.exists():
            _make(file)
        key = read(file)
        public = folder / BOT_SIGNERS_FILE
        if not public.exists() or public.read_text() != key.line:
            _written(public, key.line.encode()).replace(public)
    except OSError as error:
        raise BratError(f"the log's key cannot be kept in {folder}: {error}") from error
    return key


def read(file: Path) -> LogKey:
    """Return the key in a file.

    Raises:
        BratError: it cannot be read, or holds no such key.
    """
    try:
        data = file.read_bytes()
    except OSError as error:
        raise BratError(
            f"the log's key {file} cannot be read: {error.strerror}; {_HOW}"
        ) from error
    return parse(data, str(file))


def parse(data: bytes, name: str) -> LogKey:
    """Return the key in a text.

    Args:
        data: the private key in OpenSSH's form or in PEM.
        name: where it was found, for the error's text.

    Raises:
        BratError: it is no Ed25519 key, or has a passphrase.
    """
    text = data.strip() + b"\n"  # a secret is often pasted without its last newline
    load = (
        serialization.load_ssh_private_key
        if b"OPENSSH PRIVATE KEY" in text
        else serialization.load_pem_private_key
    )
    try:
        private = load(text, None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        private = None
    if not isinstance(private, Ed25519PrivateKey):
        raise BratError(
            f"{name} is no Ed25519 private key without a passphrase; {_HOW}"
        )
    return LogKey(private, private.public_key().public_bytes_raw())


def made() -> LogKey:
    """Return a new key, which is written nowhere."""
    private = Ed25519PrivateKey.generate()
    return LogKey(private, private.public_key().public_bytes_raw())


def _make(file: Path) -> None:
    beside = _written(file, made().private.encode())
    with suppress(FileExistsError):  # another process made it first: that one counts
        os.link(beside, file)
    beside.unlink()


def _written(file: Path, data: bytes) -> Path:
    """Write a file of another name beside `file`; only its owner may read it."""
    handle, name = tempfile.mkstemp(prefix=f".{file.name}.", dir=file.parent)
    with os.fdopen(handle, "wb") as out:
        out.write(data)
        out.flush()
        os.fsync(out.fileno())
    return Path(name)
