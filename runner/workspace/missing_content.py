"""Lists the parts that a checkout of the base lacks: submodules and Git LFS files.

These lie on other servers, which want tokens of their own; a session has none. The
sentences are for the agent and for people, and quote nothing from the repository.
"""

import os
from pathlib import Path
from typing import Final

from grite import git
from runner.workspace.workspace import Workspace

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
_ATTRIBUTES: Final = ":(glob)**/.gitattributes"


def absent(workspace: Workspace) -> tuple[str, ...]:
    """Return the parts that a fresh checkout lacks, a sentence or two each.

    Raises:
        Unavailable: git takes too long.
    """
    folder = workspace.folder
    asked = ("ls-files", "-z", "--", _ATTRIBUTES)
    listed = workspace.git(*asked, deadline_s=git.DEADLINE_S).stdout.split(b"\0")
    files = (folder / os.fsdecode(each) for each in listed if each)
    has_lfs = any(b"filter=lfs" in _start_of(file) for file in files)
    has_modules = bool(_start_of(folder / ".gitmodules"))
    return (*((SUBMODULES,) if has_modules else ()), *((LFS,) if has_lfs else ()))


def _start_of(file: Path) -> bytes:
    if file.is_symlink() or not file.is_file():
        return b""
    with file.open("rb") as source:
        return source.read(_READ_BYTES)
