"""A bot's folder: whose state it holds, which process has it, and the log's key.

Whose state it is says the forge's id of the repository. The lock is the operating
system's, so it goes with the process. What was noted under another start of the system,
or in a copy of the folder, says nothing: whoever wrote it may run elsewhere.

The log's key is an Ed25519 key in OpenSSH's form, without a passphrase. It signs
commits of `refs/grite/*` and nothing else. Only the bot holds it; runner and readers
know the public half. A file on a branch says who else may sign only if whoever holds
the token of CI, or may push, cannot change it alone.
"""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from filelock import FileLock, Timeout

from convoy.model.work import TargetRules
from grite.errors import BratError
from grite.signatures import (
    BOT_SIGNERS_FILE,
    SIGNERS_FILE,
    AllowedSigners,
    armored,
    only_signer,
    open_seed,
    signed_text,
    signer_line,
)

REPOSITORY_FILE: Final = "repository"
"""The file, in the bot's folder, that holds the id in decimal digits."""


def owner_of(folder: Path) -> int:
    """Return the id of the repository whose state a folder holds; 0: none's yet."""
    file = folder / REPOSITORY_FILE
    try:
        return int(file.read_text())
    except FileNotFoundError:
        return 0
    except (OSError, ValueError) as error:
        raise BratError(
            f"{file} does not contain a repository's id ({error}): correct the file, "
            "or use another folder"
        ) from error


def claim_folder(folder: Path, repository: str, number: int) -> None:
    """Note that a folder holds the state of a repository; safe to call again."""
    known = owner_of(folder)
    if known == number:
        return
    if known:
        raise BratError(
            f"{folder} holds the state of another repository (id {known}), but "
            f"{repository} has the id {number}: use another folder or, if you renamed "
            "the repository, set its new name"
        )
    beside = folder / f".{REPOSITORY_FILE}"
    beside.write_text(f"{number}\n")
    beside.rename(folder / REPOSITORY_FILE)


PROCESSES_FILE: Final = "processes"
PROCESSES_KEPT: Final = 8
"""How many processes are remembered: some die before they come to hold a lease."""
_BOOT: Final = Path("/proc/sys/kernel/random/boot_id")
"""https://man7.org/linux/man-pages/man4/random.4.html"""


@contextmanager
def held_folder(folder: Path, nonce: str) -> Iterator[frozenset[str]]:
    """Hold a bot's folder, and note there the one-line nonce that names its process.

    Give the nonces of processes that had this folder and are dead. Empty if another
    process has the folder, or if nothing can be said.
    """
    lock = FileLock(folder / f"{PROCESSES_FILE}.lock", thread_local=False)
    try:
        lock.acquire(blocking=False)
    except (Timeout, OSError, NotImplementedError):  # it is taken, or cannot be had
        yield frozenset()
        return
    try:
        file, here = folder / PROCESSES_FILE, ""
        with suppress(OSError):  # else nobody knows since when this machine runs
            found = os.stat(folder)  # noqa: PTH116  for its device and number
            boot = _BOOT.read_text().strip()
            here = f"{boot} {found.st_dev} {found.st_ino}"
        place, *known = (file.read_text() if file.exists() else "").splitlines() or [""]
        dead = known if here and place == here else []
        file.write_text("\n".join((here, *dead[1 - PROCESSES_KEPT :], nonce)))
        yield frozenset(dead)
    finally:
        lock.release()


LOG_KEY_FILE: Final = "log_key"
_HOW_TO_MAKE: Final = "to create one, run ssh-keygen -t ed25519 -N '' -C brat -f FILE"


@dataclass(frozen=True)
class LogKey:
    _private: Ed25519PrivateKey = field(repr=False)

    @property
    def public(self) -> bytes:
        """The raw public key, 32 bytes."""
        return self._private.public_key().public_bytes_raw()

    @property
    def signers(self) -> AllowedSigners:
        return only_signer(self.public)

    @property
    def line(self) -> str:
        """The line of `.brat/allowed_signers` that allows this key."""
        return signer_line(self.public, "brat's log key")

    @property
    def private(self) -> str:
        return self._private.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.OpenSSH,
            serialization.NoEncryption(),
        ).decode()

    def sign(self, payload: bytes) -> str:
        """Return git's SSH signature of a commit; the same commit, the same text."""
        return armored(self.public, self._private.sign(signed_text(payload)))


def log_key_in(folder: Path) -> LogKey:
    """Return the key in a folder, made if needed; safe from two processes at once."""
    file = folder / LOG_KEY_FILE
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not file.exists():
            beside = _written(file, new_log_key().private.encode())
            with suppress(FileExistsError):  # another process was first: its key counts
                os.link(beside, file)
            beside.unlink()
        key = read_log_key(file)
        public = folder / BOT_SIGNERS_FILE
        if not public.exists() or public.read_text() != key.line:
            _written(public, key.line.encode()).replace(public)
    except OSError as error:
        raise BratError(f"cannot store the log's key in {folder}: {error}") from error
    return key


def read_log_key(file: Path) -> LogKey:
    try:
        data = file.read_bytes()
    except OSError as error:
        raise BratError(
            f"cannot read the log's key {file}: {error.strerror}; {_HOW_TO_MAKE}"
        ) from error
    return parse_log_key(data, str(file))


def parse_log_key(data: bytes, name: str) -> LogKey:
    """Return the Ed25519 key in a text found at `name`, in OpenSSH's form or in PEM."""
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
            f"{name} is not an Ed25519 private key without a passphrase; {_HOW_TO_MAKE}"
        )
    return LogKey(private)


def open_log_key(repository: int) -> LogKey:
    """Return the key of a repository that has none of its own; it is no secret."""
    return LogKey(Ed25519PrivateKey.from_private_bytes(open_seed(str(repository))))


def new_log_key() -> LogKey:
    return LogKey(Ed25519PrivateKey.generate())


def _written(file: Path, data: bytes) -> Path:
    """Write a file of another name beside `file`; only its owner may read it."""
    handle, name = tempfile.mkstemp(prefix=f".{file.name}.", dir=file.parent)
    with os.fdopen(handle, "wb") as out:
        out.write(data)
        out.flush()
        os.fsync(out.fileno())
    return Path(name)


SignersFrom = Literal["settings", "file", "own key"]


def source_in_force(
    pinned: str, *, has_file: bool, rules: TargetRules
) -> tuple[SignersFrom, str]:
    """Return where the keys come from that may sign beside the bot's own, and why.

    `rules` are the default branch's. Why is a part of a sentence for people.
    """
    if pinned.strip():
        return "settings", "set where no push can change them"
    # Whether the branch moves only with somebody else's approval, or not at all.
    is_guarded = rules.frozen or (rules.pull_request and rules.reviews > 0)
    if has_file and is_guarded:
        why = "the default branch requires an approved pull request"
        return "file", f"{SIGNERS_FILE} is used, because {why}"
    if has_file:
        why = "anyone with push access to the default branch could change it"
        return "own key", f"{SIGNERS_FILE} is not used, because {why}"
    return "own key", f"there is no {SIGNERS_FILE}, and no keys are set"
