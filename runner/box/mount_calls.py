"""The kernel's calls on mounts, for the process that builds a box; loads little.

https://man7.org/linux/man-pages/man2/mount.2.html
https://man7.org/linux/man-pages/man2/mount_setattr.2.html
https://man7.org/linux/man-pages/man2/pivot_root.2.html
"""

import ctypes
import os
import struct

READ_ONLY, NO_SETUID, NO_DEVICES, NO_PROGRAMS = 1, 2, 4, 8
_BIND, _ALL_BELOW, _PRIVATE = 4096, 16384, 1 << 18
_MOUNT_SETATTR = 442
_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
_HERE, _RECURSIVE = -100, 0x8000
_DETACH = 2
_libc = ctypes.CDLL(None, use_errno=True)


def separate() -> None:
    """Keep the mounts of this namespace from every other one.

    Raises:
        OSError: so does each function here where the kernel refuses.
    """
    _mount("none", "/", "", _ALL_BELOW | _PRIVATE)


def mount_new(kind: str, where: str, flags: int, told: str = "") -> None:
    """Mount a new file system of a kind, such as tmpfs."""
    _mount(kind, where, kind, flags, told)


def bind(source: str, where: str, flags: int) -> None:
    """Mount a file, or a folder with what is mounted below it, once more.

    The flags are added to those of each mount; Linux 5.12 and later can do so.
    """
    _mount(source, where, "", _BIND | _ALL_BELOW)
    _restrict(where, flags, _RECURSIVE)


def bind_device(source: str, where: str) -> None:
    """Mount a device once more."""
    _mount(source, where, "", _BIND)


def make_read_only(where: str) -> None:
    """Let nobody write to a mount; what is mounted below it stays as it is."""
    _restrict(where, READ_ONLY, 0)


def pivot(new: str, old: str) -> None:
    """Make the mount `new` the root; the root so far then lies at `old` in it."""
    _syscall(_PIVOT_ROOT[os.uname().machine], os.fsencode(new), os.fsencode(old))


def let_go(where: str) -> None:
    """Unmount a mount with all below it."""
    if _libc.umount2(os.fsencode(where), _DETACH) != 0:
        _fail(where)


def _restrict(where: str, flags: int, reach: int) -> None:
    # struct mount_attr: what to set, what to clear, propagation, users. Here the
    # flags have the same numbers as for mount(2).
    wanted = struct.pack("QQQQ", flags, 0, 0, 0)
    path = os.fsencode(where)
    _syscall(_MOUNT_SETATTR, _HERE, path, reach, wanted, len(wanted), where=where)


def _mount(what: str, where: str, kind: str, flags: int, told: str = "") -> None:
    args = (os.fsencode(what), os.fsencode(where), kind.encode(), flags, told.encode())
    if _libc.mount(*args) != 0:
        _fail(where)


def _syscall(number: int, *args: object, where: str = "") -> None:
    if _libc.syscall(number, *args) != 0:
        _fail(where)


def _fail(where: str) -> None:
    number = ctypes.get_errno()
    raise OSError(number, os.strerror(number), where or None)
