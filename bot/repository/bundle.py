"""Takes a stranger's git bundle into a bare repository.

Before git 2.46, `git fetch` checks no objects from a bundle, whatever the configuration
says, so the bundle's pack is extracted and checked here.
Source: https://git-scm.com/docs/gitformat-bundle
"""

import re
from pathlib import Path
from typing import Final

from grite import git
from grite.errors import BratError, Unavailable

MEMORY_BYTES: Final = 1_000_000_000
"""The memory limit for unpacking: a few bytes may claim to unpack to any size."""
UNPACKED: Final = 100
"""A pack of fewer objects is unpacked, as git does it with a push: a bot takes in
thousands of packs, and each would stay open and be searched.
https://git-scm.com/docs/git-config#Documentation/git-config.txt-transferunpackLimit
"""
_COUNT: Final = slice(8, 12)
"""Where a pack says how many objects it has.
https://git-scm.com/docs/gitformat-pack
"""
_MARKS: Final = (b"# v2 git bundle\n", b"# v3 git bundle\n")
_HEAD: Final = re.compile(rb"^([0-9a-f]{40}) HEAD$", re.MULTILINE)


class NoBundle(BratError):
    """The file is not a bundle of one branch's work."""


def take_in(bundle: Path, repository: Path) -> str:
    """Bring a bundle's objects into a repository; return the commit of its HEAD.

    No ref moves. Safe to call again.

    Raises:
        NoBundle: the file is no bundle, has no HEAD, or takes too long to unpack.
        GitFailed: an object is malformed, or refers to a missing object.
    """
    data = bundle.read_bytes()
    header, end, pack = data.partition(b"\n\n")
    if not (end and data.startswith(_MARKS)):
        raise NoBundle("it does not begin as a git bundle does")
    head = _HEAD.search(header)
    if head is None:
        raise NoBundle("it has no HEAD")
    args = ["index-pack", "--stdin", "--strict", "--fix-thin"]
    if int.from_bytes(pack[_COUNT]) < UNPACKED:
        args = ["unpack-objects", "-q", "--strict"]
    try:
        git.run(args, cwd=repository, stdin=pack, memory_bytes=MEMORY_BYTES)
    except Unavailable as error:
        raise NoBundle(str(error)) from error
    return head[1].decode()
