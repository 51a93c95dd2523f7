"""Take a checkpoint of a running agent's work: `python -I -m runner.checkpoint FOLDER`.

The folder is the witness's: it holds `errand.json` and `store.git`, and gets a bundle
when the work is other than it was the last time and the patch gate would let it land.
The agent goes on working meanwhile, so this runs in a box like the agent's: whatever
the agent puts in the place of a file while git looks at it, what is read is something
that the agent may read itself.
"""

import os
import resource
import shutil
import sys
from pathlib import Path
from typing import Final

import msgspec

from convoy.events import Gate, Limits
from convoy.gate import passing, refusals
from runner.salvage import Message, Salvage, spared
from runner.workspace import STORE, Workspace

BYTES: Final = 8_000_000
"""Of a bundle; work that is larger is not kept before its end."""
FILE_BYTES: Final = 64_000_000
"""Of anything that git writes on the way."""
LONGEST_S: Final = 60.0
_ERRAND, _BUNDLE, _TREE, _USED = "errand.json", "new.bundle", "tree", "used.git"
_NICE: Final = 10


class Errand(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be kept, and what may be."""

    checkout: str
    base: str
    branch: str
    title: str
    trailer: str
    litter: tuple[str, ...]
    gate: Gate
    limits: Limits


def main(argv: list[str]) -> int:
    """Leave a bundle if there is anything new; 0 also when there is not."""
    folder = Path(argv[0])
    os.nice(_NICE)  # the agent comes first
    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_BYTES, most))
    errand = msgspec.json.decode((folder / _ERRAND).read_bytes(), type=Errand)
    used = folder / _USED
    shutil.rmtree(used, ignore_errors=True)
    copied(folder / STORE, used)
    try:
        _keep(folder, errand, used)
    finally:
        shutil.rmtree(used, ignore_errors=True)
    return 0


def copied(source: Path, target: Path) -> None:
    """Copy a store; what it holds of objects is shared, as nobody changes these."""

    def copy(one: str, other: str) -> None:
        is_object = one.startswith(f"{source / 'objects'}{os.sep}")
        (os.link if is_object else shutil.copy2)(one, other)

    shutil.copytree(source, target, copy_function=copy)


def _keep(folder: Path, errand: Errand, used: Path) -> None:
    workspace = Workspace(Path(errand.checkout), used, errand.base, errand.branch)
    message = Message(errand.title, errand.trailer, half_done=True)
    work = Salvage(workspace, LONGEST_S, errand.litter).keep(message)
    work = spared(work, workspace, errand.gate)
    if work.commit is None or work.bundle is None:
        return
    if work.bundle.stat().st_size > BYTES or any(
        (
            *refusals(work.changes, work.patch_bytes, errand.gate, errand.limits),
            *passing(work.between, errand.gate),
        )
    ):
        return
    known = folder / _TREE
    found = workspace.git("rev-parse", "HEAD^{tree}", deadline_s=LONGEST_S).stdout
    if known.is_file() and known.read_bytes() == found:
        return
    work.bundle.replace(folder / _BUNDLE)
    known.write_bytes(found)


def kept_in(folder: Path) -> Path:
    """Return where the program leaves the bundle."""
    return folder / _BUNDLE


def said(folder: Path, errand: Errand) -> None:
    """Write down what the program is to do."""
    (folder / _ERRAND).write_bytes(msgspec.json.encode(errand))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
