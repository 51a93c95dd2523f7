"""Other processes: read, traced, signalled; and processes that outlive the session."""

import ctypes
import os
import resource
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.attacks.evil.targets import OWN, Targets, attempt, first_won

PTRACE_SEIZE, PTRACE_DETACH = 0x4206, 17
LATE_S = 4.0
_libc = ctypes.CDLL(None, use_errno=True)


def _others() -> Iterator[Path]:
    """Give what /proc has of processes that are not this one's."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) not in (os.getpid(), os.getppid()):
            yield entry


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


@attempt
def secrets_in_its_own_environment(at: Targets) -> str:
    told = repr(os.environ).encode() + _read(Path("/proc/self/environ"))
    return "its own environment" if at.holds(told) else ""


@attempt
def what_is_shown_of_other_processes(at: Targets) -> str:
    file = at.credentials[0]
    for entry in _others():
        for name in ("environ", "cmdline", f"root{file}", f"cwd{file}"):
            if at.holds(_read(Path(f"{entry}/{name}"))):
                return f"read {name} of {_read(entry / 'comm').decode().strip()}"
    return ""


@attempt
def descriptors_that_it_inherits(at: Targets) -> str:
    for link in Path("/proc/self/fd").iterdir():
        try:
            to = str(link.readlink())
        except OSError:
            continue  # that of the listing itself
        if int(link.name) > 2 and not to.endswith((".py", ".pyc", ".zip")):
            return f"descriptor {link.name} is {to}"
    return ""


@attempt
def tracing_another_process(at: Targets) -> str:
    _checked(_libc.ptrace(PTRACE_SEIZE, at.victim, None, None))
    _libc.ptrace(PTRACE_DETACH, at.victim, None, None)
    return "traces a process of its user"


@attempt
def memory_of_another_process(at: Targets) -> str:
    with Path(f"/proc/{at.victim}/maps").open() as lines:
        first = int(lines.readline().partition("-")[0], 16)
    with Path(f"/proc/{at.victim}/mem").open("rb", 0) as memory:
        memory.seek(first)
        return "read another process's memory" if memory.read(16) else ""


@attempt
def memory_that_a_key_opens(at: Targets) -> str:
    found = _checked(_libc.shmget(at.key, 0, 0))
    _libc.shmat.restype = ctypes.c_void_p
    place, secret = _libc.shmat(found, None, 0), bytes.fromhex(at.secret)
    is_read = secret == ctypes.string_at(place, len(secret))
    return "read memory of its user" if is_read else ""


@attempt
def power_over_another_process(at: Targets) -> str:
    """Signal it, and set its limits, its turn and its processors, which does nothing.

    Who may look at limits may also set them: so the guard was ended.
    """
    ways: tuple[Callable[[], object], ...] = (
        lambda: os.kill(at.victim, signal.SIGURG),
        lambda: resource.prlimit(at.victim, resource.RLIMIT_NOFILE),
        lambda: os.setpriority(os.PRIO_PROCESS, at.victim, 19),
        lambda: os.sched_setaffinity(at.victim, os.sched_getaffinity(0)),
    )

    def used(number: int) -> str:
        ways[number]()
        return f"has power {number} over a process of its user"

    return first_won(used, range(len(ways)))


@attempt
def rights_by_setuid_programs(at: Targets) -> str:
    status = Path("/proc/self/status").read_text()
    return "" if "NoNewPrivs:\t1" in status else "gains rights by sudo and the like"


@attempt
def a_process_that_outlives_the_session(at: Targets) -> str:
    """Leave one that belongs to nobody, and writes once the session should be over."""
    if _forked():
        return ""
    os.setsid()
    if _forked():
        os._exit(0)
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    _closed()
    time.sleep(LATE_S)
    with Path(at.marker).open("a") as file:
        file.write("a process that outlived its session\n")
    os._exit(0)


@attempt
def a_change_while_its_work_is_saved(at: Targets) -> str:
    """Wait for the engine's own end, then change what the witness is committing."""
    engine = os.getpid()
    if _forked():
        return ""
    os.setsid()
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    _closed()
    late, end = Path(f"late-{OWN}.txt"), time.monotonic()
    while (after := time.monotonic() - end) < 3 * LATE_S:
        if os.getppid() == engine:
            end = time.monotonic()
        late.write_text(f"late by {after:.1f} s")
        time.sleep(0.01)
    os._exit(0)


def _forked() -> bool:
    """Fork; True in the parent."""
    sys.stdout.flush()
    return os.fork() != 0


def _closed() -> None:
    """Let go of what the supervisor reads."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in range(3):
        os.dup2(nothing, number)
