"""Builds the root folder that an agent sees: what is not named is not there.

It runs in a mount namespace of its own, as one of the first things of a box, and loads
little. Named places are mounted read-only or writable; whatever else the machine has
(homes, sockets below /run, other folders) does not exist inside. /dev and /proc are
new, and have nothing of the machine.
https://man7.org/linux/man-pages/man7/mount_namespaces.7.html
"""

import os
import stat
from collections.abc import Iterator, Sequence

from runner.box import mount_calls
from runner.box.mount_calls import NO_DEVICES, NO_PROGRAMS, NO_SETUID, READ_ONLY

SEEN, WRITABLE, HIDDEN, LINK = "seen", "writable", "hidden", "link"
"""What may be done with a place. A link is a symbolic link as the machine has it."""
_WORDS = 3
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


def build(words: Sequence[str], user: Sequence[str] = ()) -> None:
    """Make the named places the whole machine.

    Args:
        words: kind, source and target of each place; a deeper place wins.
        user: the number, group and home of a user that the machine does not know.

    Raises:
        OSError: the kernel refuses, or a place is not there.
    """
    mount_calls.separate()
    mount_calls.mount_new("tmpfs", _BASE, _SAFE, "mode=755,size=4m")
    for name in (_OLD, _NEW):
        os.mkdir(_BASE + name)  # noqa: PTH102  pathlib takes 5 ms
    os.chdir(_BASE)
    mount_calls.pivot(".", "." + _OLD)
    os.chdir("/")
    mount_calls.mount_new("tmpfs", _NEW, _SAFE, "mode=755,size=16m")
    for folder in _FOLDERS:
        os.makedirs(_NEW + folder, exist_ok=True)  # noqa: PTH103  as above
    emptied = [_placed(*place) for place in sorted(_threes(words), key=_depth)]
    if user:
        _name_user(*user)
    _make_devices()
    mount_calls.mount_new("proc", f"{_NEW}/proc", _SAFE | NO_PROGRAMS)
    for folder in filter(None, emptied):
        mount_calls.make_read_only(folder)
    mount_calls.make_read_only(_NEW)
    os.chdir(_NEW)
    mount_calls.pivot(".", ".")  # the old root now lies on the new one
    mount_calls.let_go(".")
    os.chdir("/")


def _threes(words: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    for at in range(0, len(words), _WORDS):
        kind, source, target = words[at : at + _WORDS]
        yield kind, source, target


def _depth(place: tuple[str, str, str]) -> int:
    return place[2].count("/")


def _placed(kind: str, source: str, target: str) -> str:
    """Put one place there; return the folder that is to become read-only, if any."""
    where = _NEW + target
    if kind == LINK:
        if not os.path.lexists(where):
            os.makedirs(os.path.dirname(where), exist_ok=True)  # noqa: PTH103, PTH120
            os.symlink(os.readlink(_OLD + source), where)  # noqa: PTH115, PTH211
        return ""
    if kind == HIDDEN:
        return _hide(where)
    try:
        is_folder = stat.S_ISDIR(os.stat(_OLD + source).st_mode)  # noqa: PTH116
    except PermissionError:
        if kind == SEEN:  # nor could the agent read it
            return ""
        raise
    _make_place(where, is_folder=is_folder)
    only = READ_ONLY if kind == SEEN else 0
    mount_calls.bind(_OLD + source, where, _SAFE | only)
    return ""


def _hide(where: str) -> str:
    if not os.path.lexists(where):
        return ""
    if os.path.isdir(where):  # noqa: PTH112  as above
        mount_calls.mount_new("tmpfs", where, _SAFE, "mode=755,size=1m")
        return where
    mount_calls.bind_device(f"{_OLD}/dev/null", where)
    return ""


def _make_place(where: str, *, is_folder: bool) -> None:
    """Make a file or folder to mount on, unless it is there."""
    if os.path.exists(where):  # noqa: PTH110  as above
        return
    if is_folder:
        os.makedirs(where)  # noqa: PTH103  as above
        return
    os.makedirs(os.path.dirname(where), exist_ok=True)  # noqa: PTH103, PTH120  as above
    os.close(os.open(where, os.O_CREAT | os.O_WRONLY, 0o600))


def _name_user(number: str, group: str, home: str) -> None:
    """Add the user to the lists of users; some programs want a name for their own."""
    for name, line in (
        ("passwd", f"agent:x:{number}:{group}:agent:{home}:/bin/sh\n"),
        ("group", f"agent:x:{group}:\n"),
    ):
        where = f"{_NEW}/etc/{name}"
        if not os.path.isfile(where) or os.path.islink(where):  # noqa: PTH113, PTH114
            continue
        own = f"{_NEW}/.{name}"
        with open(where, encoding="utf-8", errors="surrogateescape") as known:  # noqa: PTH123
            text = known.read()
        with open(own, "w", encoding="utf-8", errors="surrogateescape") as listed:  # noqa: PTH123
            listed.write(text + line)
        mount_calls.bind(own, where, _SAFE | READ_ONLY)
        os.unlink(own)  # noqa: PTH108  as above


def _make_devices() -> None:
    """Make a small /dev: what every program expects, terminals, and shared memory."""
    where = f"{_NEW}/dev"
    mount_calls.mount_new("tmpfs", where, NO_SETUID, "mode=755,size=1m")
    for name in _DEVICES:
        if not os.path.exists(f"{_OLD}/dev/{name}"):  # noqa: PTH110  as above
            continue
        _make_place(f"{where}/{name}", is_folder=False)
        mount_calls.bind_device(f"{_OLD}/dev/{name}", f"{where}/{name}")
    for name, target in _LINKS.items():
        os.symlink(target, f"{where}/{name}")  # noqa: PTH211  as above
    for name in ("pts", "shm"):
        os.mkdir(f"{where}/{name}")  # noqa: PTH102  as above
    told = "newinstance,ptmxmode=0666,mode=620"
    mount_calls.mount_new("devpts", f"{where}/pts", NO_SETUID | NO_PROGRAMS, told)
    mount_calls.mount_new("tmpfs", f"{where}/shm", _SAFE, "mode=1777")
    mount_calls.make_read_only(where)
