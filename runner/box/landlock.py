"""Closes the files that a process was not given, without any right: Landlock.

It runs between fork and exec, so it loads little. What is restricted stays so for the
process and all that it starts. Where this kernel's Landlock knows them, it closes TCP,
signals to others and the abstract sockets of others, too, and it keeps the process from
tracing or reading the memory of any other. A folder is given with all that lies in it.

It does not close: sockets with a path, UDP, the modes, owners, attributes and times of
files that the user owns. `runner.box.seccomp` closes all but the last.
https://docs.kernel.org/userspace-api/landlock.html
"""

import ctypes
import os
import stat
from collections.abc import Iterable, Sequence
from itertools import product

from runner.box.kernel import NO_NEW_RIGHTS, Place, checked, libc, prctl
from runner.box.root_folder import HIDDEN, LINK, SEEN, WRITABLE

_CREATE, _ADD, _RESTRICT = 444, 445, 446
"""The numbers of the calls, the same on every kind of machine."""
_VERSION, _BENEATH = 1, 1
_EXECUTE, _WRITE, _READ, _LIST = 1, 2, 4, 8
_TRUNCATE, _DEVICE_CALLS = 1 << 14, 1 << 15
_READING = _EXECUTE | _READ | _LIST
_OF_A_FILE = _EXECUTE | _WRITE | _READ | _TRUNCATE | _DEVICE_CALLS
_DEVICES = 1 << 6 | 1 << 11
"""The making of device files: it is given nowhere."""
_FILES = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 5: (1 << 16) - 1}
"""The rights to files that a version knows, from that version on."""
_TCP_FROM, _TCP = 4, 3
SCOPES_FROM, _SCOPES = 6, 3
WHOLE_FROM = 3
"""The version that closes files entirely; before it any file could be emptied."""


def version() -> int:
    """Return the version of this kernel's Landlock; 0: it has none, or it is off."""
    return max(0, int(libc.syscall(_CREATE, None, ctypes.c_size_t(0), _VERSION)))


def refusal() -> str:
    """Return why files cannot be closed here, or "" if they can."""
    found = version()
    if found == 0:
        return "this kernel has no Landlock, or Landlock is off"
    if found < WHOLE_FROM:
        return f"this kernel's Landlock is version {found}; {WHOLE_FROM} is needed"
    return ""


def restrict(
    read_only: Iterable[str], writable: Iterable[str], *, network: bool
) -> int:
    """Close all files but these to this process, for ever; return the version.

    Call it where there is one thread. Each call closes more, and opens nothing; one
    that fails may have closed some. Missing paths are left out. With `network` TCP
    stays open.
    """
    found = version()
    files = max((bits for since, bits in _FILES.items() if found >= since), default=0)
    tcp = _TCP if found >= _TCP_FROM and not network else 0
    scopes = _SCOPES if found >= SCOPES_FROM else 0
    asked = (ctypes.c_uint64 * 3)(files, tcp, scopes)
    size = 24 if found >= SCOPES_FROM else 16 if found >= _TCP_FROM else 8
    rules = _called(_CREATE, asked, ctypes.c_size_t(size), 0)
    try:
        for path in read_only:
            _open_path(rules, path, files & _READING)
        for path in writable:
            _open_path(rules, path, files & ~_DEVICES)
        prctl(NO_NEW_RIGHTS, 1)
        _called(_RESTRICT, rules, 0)
    finally:
        os.close(rules)
    return found


def _open_path(rules: int, path: str, rights: int) -> None:
    try:
        number = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except (FileNotFoundError, PermissionError):
        return
    try:
        if not stat.S_ISDIR(os.fstat(number).st_mode):
            rights &= _OF_A_FILE
        told = rights.to_bytes(8, "little") + number.to_bytes(4, "little")
        _called(_ADD, rules, _BENEATH, told, 0)
    finally:
        os.close(number)


def _called(number: int, *args: object) -> int:
    return checked(libc.syscall(number, *args), "Landlock: ")


ALWAYS_WRITABLE = ("/dev/null", "/dev/zero", "/dev/full")
"""What every program expects to be able to write to. Not /dev/shm: the machine's own is
shared with whoever else runs there."""
ALWAYS_READ = ("/proc", "/dev/random", "/dev/urandom")


def paths_in(places: Sequence[Place]) -> tuple[list[str], list[str]]:
    """Return what may be read and what written to.

    Raises an OSError if some of what may be written to is hidden.
    """
    found: dict[str, list[str]] = {SEEN: [], WRITABLE: [], HIDDEN: [], LINK: []}
    for kind, source, _ in places:
        found[kind].append(source)
    for path, each in product(found[WRITABLE], found[HIDDEN]):
        if f"{each}/".startswith(f"{path}/"):
            raise OSError(1, f"{each} cannot be hidden in {path}", each)
    return [*found[SEEN], *ALWAYS_READ], [*found[WRITABLE], *ALWAYS_WRITABLE]
