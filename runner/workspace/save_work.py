"""Save the work of a running agent: `python -I -m runner.workspace.save_work FOLDER`.

The folder is the witness's: it holds `order.json` and `store.git`. It gets a bundle
when the work has changed since the last time and the patch gate would let it land. The
agent works on meanwhile and could replace a file while git reads it. So this runs in a
box like the agent's, where it can only read what the agent can read itself.
"""

import os
import resource
import shutil
import sys
from pathlib import Path
from typing import Final

import msgspec

from convoy.gate import passing, refusals
from convoy.model.records import Gate, Limits
from runner.box.surroundings import STORE
from runner.workspace.attempt_commits import (
    AttemptCommits,
    CommitMessage,
    without_leaks,
)
from runner.workspace.workspace import Workspace

BYTES: Final = 8_000_000
"""The largest bundle; larger work is not saved before the session's end."""
FILE_BYTES: Final = 64_000_000
"""The largest file that git may write while saving."""
LONGEST_S: Final = 60.0
_ORDER, _BUNDLE, _TREE, _USED = "order.json", "new.bundle", "tree", "used.git"
_NICE: Final = 10


class SaveOrder(msgspec.Struct, frozen=True, kw_only=True):
    """The work to save, and the rules for saving it."""

    checkout: str
    base: str
    branch: str
    title: str
    trailer: str
    litter: tuple[str, ...]
    gate: Gate
    limits: Limits


def main(argv: list[str]) -> int:
    """Write a bundle if there is new work; returns 0 in either case."""
    folder = Path(argv[0])
    os.nice(_NICE)  # the agent comes first
    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_BYTES, most))
    order = msgspec.json.decode((folder / _ORDER).read_bytes(), type=SaveOrder)
    used = folder / _USED
    shutil.rmtree(used, ignore_errors=True)
    copied(folder / STORE, used)
    try:
        _keep(folder, order, used)
    finally:
        shutil.rmtree(used, ignore_errors=True)
    return 0


def copied(source: Path, target: Path) -> None:
    """Copy a repository; its objects are linked, since nobody changes them."""

    def copy(one: str, other: str) -> None:
        is_object = one.startswith(f"{source / 'objects'}{os.sep}")
        (os.link if is_object else shutil.copy2)(one, other)

    shutil.copytree(source, target, copy_function=copy)


def _keep(folder: Path, order: SaveOrder, used: Path) -> None:
    workspace = Workspace(Path(order.checkout), used, order.base, order.branch)
    message = CommitMessage(order.title, order.trailer, half_done=True)
    work = AttemptCommits(workspace, LONGEST_S, order.litter).keep(message)
    work = without_leaks(work, workspace, order.gate)
    if work.commit is None or work.bundle is None:
        return
    if work.bundle.stat().st_size > BYTES or any(
        (
            *refusals(work.changes, work.patch_bytes, order.gate, order.limits),
            *passing(work.between, order.gate),
        )
    ):
        return
    known = folder / _TREE
    found = workspace.git("rev-parse", "HEAD^{tree}", deadline_s=LONGEST_S).stdout
    if known.is_file() and known.read_bytes() == found:
        return
    work.bundle.replace(folder / _BUNDLE)
    known.write_bytes(found)


def bundle_in(folder: Path) -> Path:
    """Return where the program leaves the bundle."""
    return folder / _BUNDLE


def write_order(folder: Path, order: SaveOrder) -> None:
    """Write the order into the folder, for the program to read."""
    (folder / _ORDER).write_bytes(msgspec.json.encode(order))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
