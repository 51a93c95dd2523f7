"""An attempt's commits against its base, as git has them: what changed, may it land?

The size of each file is looked at before any of it is: a file that compresses well may
be small in a bundle and endless as a patch.
"""

import re
from pathlib import Path
from typing import Final

from msgspec import Struct

from convoy import gate
from convoy.events import Settings
from grite import git

FILE_BYTES: Final = 50_000_000
_RECORD: Final = re.compile(rb":\d{6} \d{6} [0-9a-f]{40} ([0-9a-f]{40}) ")
_NOTHING: Final = b"0" * 40
_DIFF: Final = ("diff-tree", "-r", "--no-renames")


class Patch(Struct, frozen=True, kw_only=True):
    """What was looked at."""

    files: tuple[str, ...]
    """The paths that changed, fit to be shown."""
    refusals: tuple[str, ...]
    """Why it may not land, a sentence each; empty: it may."""


def examined(repository: Path, base: str, commit: str, settings: Settings) -> Patch:
    """Return what `base..commit` changes and what the gate says of it.

    Raises:
        GitFailed: one of them is no commit here.
    """
    raw = git.run([*_DIFF, "--raw", "-z", base, commit], cwd=repository).stdout
    changes = gate.parse_raw(raw)
    files = tuple(gate.printable(change.path) for change in changes)
    if not changes:
        return Patch(files=(), refusals=("The work changes nothing.",))
    largest = max(_sizes(repository, raw), default=0)
    if largest > FILE_BYTES:
        said = f"The patch has a file of {largest} bytes; {FILE_BYTES} are allowed."
        return Patch(files=files, refusals=(said,))
    options = ("--patch", "--binary")
    patch = git.run([*_DIFF, *options, base, commit], cwd=repository).stdout
    refusals = gate.refusals(changes, len(patch), settings.gate, settings.limits)
    return Patch(files=files, refusals=refusals)


def _sizes(repository: Path, raw: bytes) -> list[int]:
    """Return the sizes of the files as they are afterwards, in bytes."""
    blobs = [blob for blob in _RECORD.findall(raw) if blob != _NOTHING]
    asked = b"".join(blob + b"\n" for blob in blobs)
    args = ["cat-file", "--batch-check=%(objectsize)"]
    said = git.run(args, cwd=repository, stdin=asked).stdout
    return [int(line) for line in said.split() if line.isdigit()]
