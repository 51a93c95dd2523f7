"""A git bundle from a stranger, brought into a bare repository.

`git fetch` before git 2.46 checks no object that comes out of a bundle, whatever its
configuration says, so the pack in it is taken out and indexed strictly here.
Source: https://git-scm.com/docs/gitformat-bundle
"""

import re
from pathlib import Path
from typing import Final

from grite import git
from grite.errors import BratError, Unavailable

MEMORY_BYTES: Final = 1_000_000_000
"""For unpacking: a few bytes may say of themselves that they unpack to any size."""
_MARKS: Final = (b"# v2 git bundle\n", b"# v3 git bundle\n")
_HEAD: Final = re.compile(rb"^([0-9a-f]{40}) HEAD$", re.MULTILINE)


class NoBundle(BratError):
    """The file is no bundle of one branch's work."""


def take_in(bundle: Path, repository: Path) -> str:
    """Bring a bundle's objects into a repository; return the commit of its HEAD.

    No ref moves. Safe to call again.

    Raises:
        NoBundle: it is none, has no HEAD, or cannot be unpacked in time.
        GitFailed: an object is malformed, or one that it needs is missing.
    """
    data = bundle.read_bytes()
    header, end, pack = data.partition(b"\n\n")
    if not (end and data.startswith(_MARKS)):
        raise NoBundle("it does not begin as a git bundle does")
    head = _HEAD.search(header)
    if head is None:
        raise NoBundle("it has no HEAD")
    args = ["index-pack", "--stdin", "--strict", "--fix-thin"]
    try:
        git.run(args, cwd=repository, stdin=pack, memory_bytes=MEMORY_BYTES)
    except Unavailable as error:
        raise NoBundle(str(error)) from error
    return head[1].decode()
