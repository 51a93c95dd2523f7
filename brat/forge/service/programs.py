"""Programs the forge starts: their environment, waiting for their end, ending them.

Runs outlive the forge, so a process is identified by its pid and creation time, which
stay valid across a restart; a pid alone may be reused by another program.
"""

import asyncio
import contextlib
import os
import signal
from pathlib import Path
from typing import Final

import psutil

from grite import outbound
from runner.box import surroundings

GONE_S: Final = 1.0
"""How long a program that was ended may take to be gone."""


def plain_environment() -> dict[str, str]:
    """Return the environment every child starts from: tools, language, way to others.

    The path is the person's own: a project's `python` is the one that they would run.
    """
    own = {"PATH": os.pathsep.join(os.get_exec_path()), "LANG": "C.UTF-8"}
    return own | surroundings.own_tool_variables() | outbound.here().without_passwords()


def git_environment() -> dict[str, str]:
    """Return the environment for git: nobody's configuration, no prompt."""
    return plain_environment() | {
        "HOME": "/nonexistent",
        "LC_ALL": "C",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_TERMINAL_PROMPT": "0",
    }


def born(pid: int) -> float | None:
    """Return when a process was created, in clock ticks since boot; None: it is gone.

    Unlike psutil's times, these do not change when the wall clock is set.
    """
    found = _look(pid)
    return found[0] if found is not None else None


def alive(pid: int, since: float) -> bool:
    """Say whether the process that was created at `since` still runs."""
    return _look(pid) == (since, False)


def _look(pid: int) -> tuple[float, bool] | None:
    """Return when a process was created, and whether it only waits to be reaped."""
    try:
        said = Path(f"/proc/{pid}/stat").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return None
    # After the name, which may hold anything: fields 3 (state) and 22 (starttime).
    # https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html
    fields = said.rpartition(b")")[2].split()
    return float(fields[19]), fields[0] == b"Z"


async def gone(pid: int, since: float) -> None:
    """Wait until the process has ended; it need not be a child of ours."""
    try:
        watch = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()
    loop.add_reader(watch, ended.set)
    try:
        if alive(pid, since):  # else the pid was reused before we looked
            await ended.wait()
    finally:
        loop.remove_reader(watch)
        os.close(watch)


def status_of(pid: int) -> int:
    """Return the exit status of a child that has ended, and forget it; blocks."""
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def tell(pid: int, since: float, number: signal.Signals) -> None:
    """Send a signal to one process, if it is still the same one."""
    if alive(pid, since):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


def end_tree(pid: int, since: float) -> None:
    """Kill a process, all its descendants, and its group."""
    if not alive(pid, since):
        return
    with contextlib.suppress(psutil.NoSuchProcess):
        for child in psutil.Process(pid).children(recursive=True):
            with contextlib.suppress(psutil.NoSuchProcess):
                child.kill()
    end_group(pid)


def end_group(pid: int) -> None:
    """Kill what is left in the process group that `pid` leads.

    Call it only before that process is reaped: until then its pid cannot be reused.
    """
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)


def inside(folder: Path) -> bool:
    """Say whether a process of ours works in a folder or below it, and stays there.

    One that was ended takes a moment to be gone; it has that long.
    """
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if Path(process.cwd()).is_relative_to(folder):
                found.append(process)
    _, staying = psutil.wait_procs(found, timeout=GONE_S)
    return bool(staying)
