"""Could the agent take what its witness holds? Then the witness asks nobody with it.

What lets a job ask the forge for a word on itself also lets an agent ask for one, for
anybody who trusts the forge: a cloud, a registry. So it is tried out what a process of
ours could do here; only the witness itself is closed to others (`runner.seal`).
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
"""How the names of the forge's own processes begin, which hold every token of a job."""
_LOOK: Final = "import sys; open(sys.argv[1], 'rb').read(1)"


def why_off(token: str, path: str) -> str:
    """Say why an agent here could take the token, a sentence; empty: it could not.

    Call it when this process is sealed.
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
    """Whether a child of ours may read a process of ours that is sealed."""
    # /proc asks who may when it is read, not when it is opened.
    argv = [sys.executable, "-I", "-S", "-c", _LOOK, f"/proc/{process}/environ"]
    done = subprocess.run(
        argv,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        timeout=TRY_S,
        check=False,
    )
    return done.returncode == 0


def _is_root_by_asking(path: str) -> bool:
    sudo = shutil.which("sudo", path=path)
    if sudo is None:
        return False
    done = subprocess.run(
        [sudo, "-n", "true"],
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
