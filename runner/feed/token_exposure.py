"""Finds out whether the agent could take the job's identity token from the witness.

With that token an agent could identify itself as this job to anybody who trusts the
forge: a cloud, a registry. So a process of ours tries here what an agent could do; only
the witness itself is closed to others (`runner.box.process_hardening`). Where an agent
could take the token, the witness does not use the feed.
"""

import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

TRY_S: Final = 10.0
_RUNNER: Final = "Runner."
"""The beginning of the names of the forge's processes, which hold all tokens of a
job."""
_LOOK: Final = "import sys; open(sys.argv[1], 'rb').read(1)"


def why_exposed(token: str, path: str) -> str:
    """Return why an agent here could take the token, or "" if it could not.

    Call it after this process has been hardened.
    """
    if sys.platform != "linux":
        return "this system does not keep processes of one user apart"
    if os.geteuid() == 0:
        return "the job runs as root, and so does its agent"
    if _can_look(os.getpid()):
        return "a process of the job's user can read every other one"
    for process in _processes():
        if _name_of(process).startswith(_RUNNER):
            return "the job runs beside the forge's runner; give it a container"
        if token.encode() in _environment_of(process):
            return f"the process {process.name} shows the job's token to its user"
    if _is_root_by_asking(path):
        return "the job's user becomes root with sudo, and so does its agent"
    return ""


def _can_look(process: int) -> bool:
    """Whether a child of ours can read a hardened process of ours."""
    # /proc checks the permission on reading, not on opening.
    argv = [sys.executable, "-I", "-S", "-c", _LOOK, f"/proc/{process}/environ"]
    return _succeeds(argv)


def _is_root_by_asking(path: str) -> bool:
    sudo = shutil.which("sudo", path=path)
    return sudo is not None and _succeeds([sudo, "-n", "true"])


def _succeeds(argv: list[str]) -> bool:
    done = subprocess.run(
        argv,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        timeout=TRY_S,
        check=False,
    )
    return done.returncode == 0


def _processes() -> Iterator[Path]:
    return (each for each in Path("/proc").iterdir() if each.name.isdigit())


def _name_of(process: Path) -> str:
    with contextlib.suppress(OSError):
        return (process / "comm").read_text(errors="replace").strip()
    return ""


def _environment_of(process: Path) -> bytes:
    with contextlib.suppress(OSError):
        return (process / "environ").read_bytes()
    return b""
