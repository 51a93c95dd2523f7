"""What a checkout of the base leaves out, and is said to agent and people.

Submodules and Git LFS lie on other servers, which want tokens of their own; a session
has none. The sentences hold no word of the repository's.
"""

from pathlib import Path
from typing import Final

SUBMODULES: Final = (
    "This repository has submodules, which are not checked out here: their folders are "
    "empty. They cannot be changed."
)
LFS: Final = (
    "What .gitattributes gives to Git LFS is not here: such files are pointers, three "
    "lines of text. Leave them alone; what is written to them is kept as it is, not in "
    "LFS."
)
_READ_BYTES: Final = 100_000


def absent(folder: Path) -> tuple[str, ...]:
    """Return what is not in a fresh checkout, a sentence or two each."""
    has_modules = bool(_start_of(folder / ".gitmodules"))
    has_lfs = b"filter=lfs" in _start_of(folder / ".gitattributes")
    return (*((SUBMODULES,) if has_modules else ()), *((LFS,) if has_lfs else ()))


def _start_of(file: Path) -> bytes:
    if file.is_symlink() or not file.is_file():
        return b""
    with file.open("rb") as source:
        return source.read(_READ_BYTES)
