"""Sets the project's own toolchain up: runs `.brat/setup.sh` of the base commit.

No agent can have written the script, for the patch gate lets no attempt touch it. It
runs with the witness's rights, but without any secret. Files that it adds to the
checkout do not count as work, and its changes to other files are undone.
"""

import fcntl
import hashlib
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from msgspec import Struct

from grite import git
from runner.box.stop_signals import Stop
from runner.box.supervisor import Order
from runner.session.script_run import Setting, fault, run_script
from runner.workspace import bare_repository
from runner.workspace.workspace import Workspace

SCRIPT: Final = ".brat/setup.sh"
_MEANT: Final = re.compile(r"[\\*?\[\]!# ]")
"""Characters that mean something in a line of .gitignore."""


class Prepared(Struct, frozen=True):
    """The outcome of the setup script."""

    litter: tuple[str, ...] = ()
    """The files it added to the checkout: patterns as in .gitignore."""
    why: str = ""
    """Why the workspace is not ready, a sentence; empty: it is."""
    cancelled: bool = False


def set_up(workspace: Workspace, setting: Setting, stop: Stop) -> Prepared:
    """Run the base commit's script, if any, until every process it started has ended.

    Raises:
        GitFailed: the checkout cannot be cleaned up afterwards.
    """
    script = workspace.folder / SCRIPT
    if not script.is_file() or script.is_symlink():
        return Prepared()
    argv = (str(script),) if os.access(script, os.X_OK) else ("sh", str(script))
    with _kept(script, setting.inputs.cache) as cache:
        env = setting.environment()
        env["BRAT_CACHE"] = str(cache or setting.scratch / "tmp")
        order = Order(argv, workspace.folder, env, setting.limit_s)
        ending, said = run_script(SCRIPT, order, setting, stop)
    if ending.cancelled:
        return Prepared(cancelled=True)
    if why := fault(SCRIPT, ending, setting.limit_s, said):
        return Prepared(why=why)
    return Prepared(litter=_put_in_order(workspace))


@contextmanager
def _kept(script: Path, base: Path | None) -> Iterator[Path | None]:
    """Yield the folder that this machine keeps for this script; None: it keeps none.

    Only one session at a time has the folder, and agents are not told of it.
    """
    if base is None:
        yield None
        return
    name = hashlib.sha256(script.read_bytes()).hexdigest()[:32]
    folder = base / "brat-setup" / name
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder.parent / f"{name}.lock").open("w")
    except OSError:  # the machine keeps no folder
        yield None
        return
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield folder


def _put_in_order(workspace: Workspace) -> tuple[str, ...]:
    """Undo the script's changes, and hide its added files from both repositories."""
    workspace.git("read-tree", "--reset", "-u", "HEAD", deadline_s=git.DEADLINE_S)
    listing = ("ls-files", "--others", "--exclude-standard", "--directory", "-z")
    found = workspace.git(*listing, deadline_s=git.DEADLINE_S).stdout
    names = found.decode(errors="surrogateescape").split("\0")
    litter = tuple("/" + _MEANT.sub(r"\\\g<0>", name) for name in names if name)
    if (own := workspace.folder / ".git").is_dir():
        bare_repository.ignore(own, litter)
    return litter
