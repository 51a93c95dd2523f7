"""Builds the root folder that an agent sees: what is not named is not there.

It runs in a mount namespace of its own, early, and loads little. Named places are
mounted read-only or writable; /dev and /proc are new, and have nothing of the machine.
https://man7.org/linux/man-pages/man7/mount_namespaces.7.html
https://man7.org/linux/man-pages/man2/mount.2.html
https://man7.org/linux/man-pages/man2/mount_setattr.2.html
https://man7.org/linux/man-pages/man2/pivot_root.2.html
"""

import os
import stat
import struct
from collections.abc import Sequence

from runner.box.kernel import Place, checked, libc
from runner.box.seccomp import CALLS

READ_ONLY, NO_SETUID, NO_DEVICES, NO_PROGRAMS = 1, 2, 4, 8
_BIND, _ALL_BELOW, _PRIVATE = 4096, 16384, 1 << 18
_HERE, _RECURSIVE = -100, 0x8000
_DETACH = 2


def bind_mount(source: str, where: str, flags: int) -> None:
    """Mount a file, or a folder with what is mounted below it, once more.

    The flags are added to those of each mount; Linux 5.12 and later can do so.
    """
    _mount(source, where, _BIND | _ALL_BELOW)
    _restrict(where, flags, _RECURSIVE)


def pivot_root(new: str, old: str) -> None:
    """Make the mount `new` the root; the root so far then lies at `old` in it."""
    number = CALLS[os.uname().machine]["pivot_root"]
    checked(libc.syscall(number, os.fsencode(new), os.fsencode(old)))


def _restrict(where: str, flags: int, reach: int = 0) -> None:
    # struct mount_attr: what to set, what to clear, propagation, users. Here the
    # flags have the same numbers as for mount(2).
    wanted = struct.pack("QQQQ", flags, 0, 0, 0)
    told = _HERE, os.fsencode(where), reach, wanted, len(wanted)
    number = CALLS[os.uname().machine]["mount_setattr"]
    checked(libc.syscall(number, *told), where=where)


def _mount(what: str, where: str, flags: int, told: str = "") -> None:
    """Mount a new file system of that kind, or what the flags say, at a place."""
    kind = os.fsencode(what)  # which the kernel asks for only where it is a kind
    args = (kind, os.fsencode(where), kind, flags, told.encode())
    checked(libc.mount(*args), where=where)


SEEN, WRITABLE, HIDDEN, LINK = "seen", "writable", "hidden", "link"
"""What may be done with a place. A link is a symbolic link as the machine has it."""
_SAFE = NO_SETUID | NO_DEVICES
_BASE = "/proc"
"""A folder that each machine has; it is only covered for a moment."""
_OLD, _NEW = "/old", "/new"
_DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
_LINKS = {
    "fd": "/proc/self/fd",
    "stdin": "/proc/self/fd/0",
    "stdout": "/proc/self/fd/1",
    "stderr": "/proc/self/fd/2",
    "ptmx": "pts/ptmx",
}
_EMPTY = ("/root", "/home", "/run", "/srv", "/mnt", "/media", "/var/log", "/var/lib")
_FOLDERS = ("/dev", "/proc", "/tmp", "/var/tmp", *_EMPTY)  # noqa: S108  mounts


def build(places: Sequence[Place], user: Sequence[str] = ()) -> None:
    """Make the named places the whole machine.

    A deeper place wins. The user, if the machine does not know it, is given by number
    and home.
    """
    os.umask(0o022)  # the agent may be another user, and passes through these folders
    _mount("none", "/", _ALL_BELOW | _PRIVATE)  # apart from every other namespace
    _mount("tmpfs", _BASE, _SAFE, "mode=755,size=4m")
    for name in (_OLD, _NEW):
        os.mkdir(_BASE + name)  # noqa: PTH102  pathlib takes 5 ms
    os.chdir(_BASE)
    pivot_root(".", "." + _OLD)
    os.chdir("/")
    _mount("tmpfs", _NEW, _SAFE, "mode=755,size=16m")
    for folder in _FOLDERS:
        os.makedirs(_NEW + folder, exist_ok=True)  # noqa: PTH103  as above
    named = sorted(places, key=lambda place: place[2].count("/"))
    emptied = [_placed(*place) for place in named]
    if user:
        _name_user(*user)
    _make_devices()
    _mount("proc", f"{_NEW}/proc", _SAFE | NO_PROGRAMS)
    for folder in filter(None, emptied):
        _restrict(folder, READ_ONLY)
    _restrict(_NEW, READ_ONLY)
    os.chdir(_NEW)
    pivot_root(".", ".")  # the old root now lies on the new one
    checked(libc.umount2(b".", _DETACH), where=".")
    os.chdir("/")


def _placed(kind: str, source: str, target: str) -> str:
    """Put one place there; return the folder that is to become read-only, if any."""
    where = _NEW + target
    if kind == LINK:
        if not os.path.lexists(where):
            os.makedirs(os.path.dirname(where), exist_ok=True)  # noqa: PTH103, PTH120
            os.symlink(os.readlink(_OLD + source), where)  # noqa: PTH115, PTH211
        return ""
    if kind == HIDDEN:
        if os.path.isdir(where):  # noqa: PTH112  as above
            _mount("tmpfs", where, _SAFE, "mode=755,size=1m")
            return where
        if os.path.lexists(where):
            _mount(f"{_OLD}/dev/null", where, _BIND)
        return ""
    try:
        is_folder = stat.S_ISDIR(os.stat(_OLD + source).st_mode)  # noqa: PTH116
    except PermissionError:
        if kind == SEEN:  # nor could the agent read it
            return ""
        raise
    _make_place(where, is_folder=is_folder)
    only = READ_ONLY if kind == SEEN else 0
    bind_mount(_OLD + source, where, _SAFE | only)
    return ""


def _make_place(where: str, *, is_folder: bool) -> None:
    if os.path.exists(where):  # noqa: PTH110  as above
        return
    if is_folder:
        os.makedirs(where)  # noqa: PTH103  as above
        return
    os.makedirs(os.path.dirname(where), exist_ok=True)  # noqa: PTH103, PTH120  as above
    os.close(os.open(where, os.O_CREAT | os.O_WRONLY, 0o600))


def _name_user(number: str, home: str) -> None:
    """Add the user to the lists of users; some programs want a name for their own."""
    for name, line in (
        ("passwd", f"agent:x:{number}:{number}:agent:{home}:/bin/sh\n"),
        ("group", f"agent:x:{number}:\n"),
    ):
        where = f"{_NEW}/etc/{name}"
        if not os.path.isfile(where) or os.path.islink(where):  # noqa: PTH113, PTH114
            continue
        own = f"{_NEW}/.{name}"
        with open(where, encoding="utf-8", errors="surrogateescape") as known:  # noqa: PTH123
            text = known.read()
        with open(own, "w", encoding="utf-8", errors="surrogateescape") as listed:  # noqa: PTH123
            listed.write(text + line)
        bind_mount(own, where, _SAFE | READ_ONLY)
        os.unlink(own)  # noqa: PTH108  as above


def _make_devices() -> None:
    """Make a small /dev: what every program expects, terminals, and shared memory."""
    where = f"{_NEW}/dev"
    _mount("tmpfs", where, NO_SETUID, "mode=755,size=1m")
    for name in _DEVICES:
        if not os.path.exists(f"{_OLD}/dev/{name}"):  # noqa: PTH110  as above
            continue
        _make_place(f"{where}/{name}", is_folder=False)
        _mount(f"{_OLD}/dev/{name}", f"{where}/{name}", _BIND)
    for name, target in _LINKS.items():
        os.symlink(target, f"{where}/{name}")  # noqa: PTH211  as above
    for name in ("pts", "shm"):
        os.mkdir(f"{where}/{name}")  # noqa: PTH102  as above
    told = "newinstance,ptmxmode=0666,mode=620"
    _mount("devpts", f"{where}/pts", NO_SETUID | NO_PROGRAMS, told)
    _mount("tmpfs", f"{where}/shm", _SAFE, "mode=1777")
    _restrict(where, READ_ONLY)
