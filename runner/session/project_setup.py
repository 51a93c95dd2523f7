"""Sets the project's own toolchain up: runs `.brat/setup.sh` of the base commit.

No agent can have written the script, for the patch gate lets no attempt touch it. But
what it runs (a Makefile, a package's scripts) may be an earlier attempt's work. So it
gets the same box as the agent, hosts of its own, and no secret. Files that it adds to
the checkout do not count as work, and its changes to other files are undone.
"""

import fcntl
import hashlib
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from msgspec import Struct

from grite import git
from runner.box.agent_box import NetworkExit, boxed
from runner.box.stop_signals import Stop
from runner.box.supervisor import Order
from runner.proxy.proxy_protocol import ProxyOrder
from runner.session.proxy_client import ProxyClient
from runner.session.script_run import Setting, fault, run_script
from runner.workspace import bare_repository
from runner.workspace.workspace import Workspace

SCRIPT: Final = ".brat/setup.sh"
KEPT_FOLDERS: Final = 16
"""How many folders of downloads a machine keeps."""
_MEANT: Final = re.compile(r"[\\*?\[\]!# ]")
"""Characters that mean something in a line of .gitignore."""


class Prepared(Struct, frozen=True):
    """The outcome of the setup script."""

    litter: tuple[str, ...] = ()
    """The files it added to the checkout: patterns as in .gitignore."""
    why: str = ""
    """Why the workspace is not ready, a sentence; empty: it is."""
    cancelled: bool = False


def set_up(
    workspace: Workspace,
    setting: Setting,
    stop: Stop,
    hosts: tuple[str, ...] | None,
) -> Prepared:
    """Run the base commit's script, if any, until every process it started has ended.

    Args:
        workspace: the checkout of the base.
        setting: for how long it may run, and who is told.
        stop: ends it when the job is cancelled.
        hosts: the only ones that it may reach; None: all.

    Raises:
        GitFailed: the checkout cannot be cleaned up afterwards.
    """
    script = workspace.folder / SCRIPT
    if not script.is_file() or script.is_symlink():
        return Prepared()
    argv = (str(script),) if os.access(script, os.X_OK) else ("sh", str(script))
    with (
        _kept(script, workspace.base, setting.inputs.cache) as cache,
        _network(setting, hosts) as (way, ways),
        boxed(argv, setting.room(workspace.folder), way, cache) as box,
    ):
        env = {**setting.environment(), **ways}
        env["BRAT_CACHE"] = str(cache[0] if cache else setting.scratch / "tmp")
        order = Order(
            box.argv if box else argv,
            workspace.folder,
            env,
            setting.limit_s,
            fds=box.fds if box else (),
        )
        ending, said = run_script(SCRIPT, order, setting, stop, box)
    if ending.cancelled:
        return Prepared(cancelled=True)
    if why := fault(SCRIPT, ending, setting.limit_s, said):
        return Prepared(why=why)
    return Prepared(litter=_put_in_order(workspace))


@contextmanager
def _network(
    setting: Setting, hosts: tuple[str, ...] | None
) -> Iterator[tuple[NetworkExit | None, dict[str, str]]]:
    """Yield the way out to these hosts, and the variables that lead programs to it."""
    if hosts is None:
        yield None, {}
        return
    proxy = ProxyClient(ProxyOrder(egress=hosts), setting.inputs.offered)
    try:
        yield proxy.way(), proxy.environment()
    finally:
        proxy.close()


@contextmanager
def _kept(script: Path, commit: str, base: Path | None) -> Iterator[tuple[Path, ...]]:
    """Yield the folder that this machine keeps for this script; none: it keeps none.

    Only sessions that start from the same commit share it: what they run there is the
    same, so none can leave anything to those that start from other work. Only one
    session at a time has the folder, and agents are not told of it.
    """
    if base is None:
        yield ()
        return
    what = script.read_bytes() + commit.encode()
    name = hashlib.sha256(what).hexdigest()[:32]
    folder = base / "brat-setup" / name
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder.parent / f"{name}.lock").open("w")
    except OSError:  # the machine keeps no folder
        yield ()
        return
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        _forget_the_oldest(folder.parent)
        yield (folder,)


def _forget_the_oldest(folders: Path) -> None:
    """Remove all but the newest folders, unless a session has them."""
    found = [each for each in folders.iterdir() if each.is_dir()]
    found.sort(key=lambda each: each.stat().st_mtime_ns)
    for old in found[:-KEPT_FOLDERS]:
        with old.with_name(f"{old.name}.lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            shutil.rmtree(old, ignore_errors=True)


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
