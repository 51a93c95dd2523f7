"""Start a program in a box of its own: users, processes, mounts and queues.

`FD WAY HIDDEN... -- KEPT... -- FIXED... -- NUMBER FIRST... PROGRAM ARGUMENT...`, run by
`runner.box.module_launch`: it stands between the witness and each engine, so it loads
little. Inside, the program sees no other process and can neither read nor signal one.
Hidden folders are empty but for what is kept in them; fixed folders cannot be written
to. When the first process inside ends, the kernel ends all others. If any of this
fails, the reason is written to FD.

WAY is `FD,PORT,PORT...`: the box then has a network of its own, as made by
`runner.box.network_namespace`. Where the machine refuses that, the NUMBER of words
FIRST start the program, and try the network alone.

Even if the box fails, no program of the agent gains rights by sudo or the like.
https://man7.org/linux/man-pages/man7/pid_namespaces.7.html
https://man7.org/linux/man-pages/man7/mount_namespaces.7.html
https://man7.org/linux/man-pages/man2/pr_set_no_new_privs.2const.html
"""

import ctypes
import os
import signal
import stat
import sys
import warnings  # noqa: F401  os.execvp imports it, when it may be out of reach
from collections.abc import Sequence

from runner.box.network_namespace import hand_over, same_names

_NAMESPACES = 0x00020000 | 0x08000000 | 0x10000000 | 0x20000000
"""The flags for new namespaces of mounts, queues, users and processes."""
_NETWORK = 0x40000000
_CLONE = {"x86_64": 56, "aarch64": 220}
_READ_ONLY, _NO_SETUID, _NO_DEVICES, _NO_PROGRAMS = 1, 2, 4, 8
_REMOUNT, _BIND, _ALL_BELOW, _PRIVATE, _RELATIVE_TIMES = (
    32,
    4096,
    16384,
    1 << 18,
    1 << 21,
)
_SAME_FLAGS = 2 | 4 | 8 | 1024 | 2048
"""Flags that statvfs shows by the same numbers that mount takes."""
_SHOWN_RELATIVE_TIMES = 4096
_DIE_WITH_PARENT, _DROP_RIGHT, _NO_NEW_RIGHTS = 1, 24, 38
_RIGHTS = 64
_KEPT_RIGHTS = frozenset({0, 1, 2, 3, 4, 5, 6, 7, 10, 18, 31})
"""Rights that package managers need as root: files, signals, users, low ports,
chroot."""
_QUIET = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
_SHARED_MEMORY = "/dev/shm"  # noqa: S108  a mount, not a file
_CANNOT_START = 126
_libc = ctypes.CDLL(None, use_errno=True)


def main(argv: Sequence[str]) -> int:
    """Become the program, in a box if the machine allows one; else report why not.

    Without arguments, only print why the machine allows no box; nothing if it does.
    """
    number = int(argv[0]) if argv else 1
    way, *rest = argv[1:] or ("", "--", "--", "--", "0", "true")
    walls = []
    for _ in range(3):
        mark = rest.index("--")
        walls.append(rest[:mark])
        rest = rest[mark + 1 :]
    first, rest = rest[1 : int(rest[0]) + 1], rest[int(rest[0]) + 1 :]
    os.set_inheritable(number, False)  # noqa: FBT003  its form
    _call("prctl", _DIE_WITH_PARENT, signal.SIGKILL, 0, 0, 0)
    if way:
        _boxed(walls, rest, number, [*map(int, way.split(","))])
        rest = [*first, *rest]
    why = _boxed(walls, rest, number)
    os.write(number, why.encode(errors="replace"))
    if not argv:
        return 0
    os.close(number)
    _call("prctl", _NO_NEW_RIGHTS, 1, 0, 0, 0)
    return _become(rest)


def _boxed(
    walls: Sequence[Sequence[str]],
    program: list[str],
    told: int,
    way: Sequence[int] = (),
) -> str:
    """Run the program in a box and end as it ends; if a box fails, return why."""
    go, going = os.pipe()
    heard, telling = os.pipe()
    try:
        child = _cloned(_NAMESPACES | (_NETWORK if way else 0))
    except OSError as error:
        return f"no namespaces: {error.strerror}"
    if child == 0:
        os.close(going)
        os.close(heard)
        os._exit(_first((go, telling, told), walls, program, way))
    os.close(telling)
    try:
        _map_users(child)
        os.write(going, b"!")
    except OSError as error:
        os.close(going)
        os.waitpid(child, 0)
        return f"no users of its own: {error.strerror}"
    said = os.read(heard, 1)  # and no more: a program may have ended by now
    if said != b"!":
        said += os.read(heard, 1000)
        os.waitpid(child, 0)
        return said.decode(errors="replace") or "it ended"
    _handle(signal.SIG_IGN, *_QUIET)
    _let_go(told, *way[:1])
    ended = os.read(heard, 4)
    os.waitpid(child, 0)
    status = int.from_bytes(ended, "little") if ended else signal.SIGKILL
    os._exit(_ended_as(status))


def _cloned(namespaces: int) -> int:
    """Fork into new namespaces; return the child's id, in the child 0."""
    number = _CLONE.get(os.uname().machine)
    if number is None:
        raise OSError(0, "not on this kind of machine")
    child = _libc.syscall(number, namespaces | signal.SIGCHLD, 0, 0, 0, 0)
    if child < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return int(child)


def _map_users(child: int) -> None:
    """Map users inside to themselves outside: all for root, else only our own."""
    maps = {"uid_map": os.getuid(), "gid_map": os.getgid()}
    if os.getuid() != 0:
        _write(f"/proc/{child}/setgroups", "deny")
    for name, own in maps.items():
        text = f"{own} {own} 1" if os.getuid() != 0 else same_names(name)
        _write(f"/proc/{child}/{name}", text)


def _first(
    pipes: tuple[int, int, int],
    walls: Sequence[Sequence[str]],
    program: list[str],
    way: Sequence[int],
) -> int:
    """Be the box's first process: set the box up, start the program, reap children."""
    go, telling, told = pipes
    _call("prctl", _DIE_WITH_PARENT, signal.SIGKILL, 0, 0, 0)
    _handle(signal.SIG_IGN, *_QUIET)
    if not os.read(go, 1):
        return 1
    try:
        _furnish(*walls)
        _give_up_rights()
        if way:
            hand_over(way[0], way[1:])
    except OSError as error:
        os.write(telling, f"{error.filename or 'it'}: {error.strerror}".encode())
        return 1
    agent = os.fork()
    if agent == 0:
        os.setsid()
        _handle(signal.SIG_DFL, *_QUIET, signal.SIGPIPE, signal.SIGXFSZ)
        os._exit(_become(program))
    os.write(telling, b"!")
    _let_go(told)
    while True:
        pid, status = os.wait()
        if pid == agent:
            os.write(telling, status.to_bytes(4, "little"))
            return 0  # and the kernel ends every other process here


def _let_go(*told: int) -> None:
    """Close our ends of the program's input and output, and of the reports."""
    for each in {0, 1, *told}:
        os.close(each)


def _furnish(hidden: Sequence[str], kept: Sequence[str], fixed: Sequence[str]) -> None:
    _mount("none", "/", "", _ALL_BELOW | _PRIVATE)
    for each in fixed:
        _mount(each, each, "", _BIND | _ALL_BELOW)
        _make_read_only(each)
    stays = {each: os.open(each, os.O_PATH) for each in kept}
    for each in hidden:
        _hide(each)
    for path, number in stays.items():
        if any(path.startswith(f"{each}/") for each in hidden):
            _make_place(path, number)
            _mount(f"/proc/self/fd/{number}", path, "", _BIND | _ALL_BELOW)
        os.close(number)
    for each in hidden:
        if stat.S_ISDIR(os.stat(each).st_mode):  # noqa: PTH116  pathlib takes 5 ms
            _make_read_only(each)
    safe = _NO_SETUID | _NO_DEVICES
    if os.path.isdir(_SHARED_MEMORY):  # noqa: PTH112  as above
        _mount("tmpfs", _SHARED_MEMORY, "tmpfs", safe, "mode=1777")
    _mount("proc", "/proc", "proc", safe | _NO_PROGRAMS)


def _hide(path: str) -> None:
    if stat.S_ISDIR(os.stat(path).st_mode):  # noqa: PTH116  as above
        _mount("tmpfs", path, "tmpfs", _NO_SETUID | _NO_DEVICES, "mode=755,size=1m")
    else:
        _mount("/dev/null", path, "", _BIND)


def _make_place(path: str, number: int) -> None:
    """Make a file or folder to mount on, of the same kind as the mounted path."""
    if stat.S_ISDIR(os.fstat(number).st_mode):
        os.makedirs(path, exist_ok=True)  # noqa: PTH103  as above
        return
    os.makedirs(os.path.dirname(path), exist_ok=True)  # noqa: PTH103, PTH120  as above
    os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))


def _make_read_only(path: str) -> None:
    # A mount that came from outside must keep all its flags.
    shown = os.statvfs(path).f_flag
    flags = shown & _SAME_FLAGS
    flags |= _RELATIVE_TIMES if shown & _SHOWN_RELATIVE_TIMES else 0
    _mount("none", path, "", _REMOUNT | _BIND | _READ_ONLY | flags)


def _give_up_rights() -> None:
    """Give up rights, so that not even root can undo the mounts."""
    for right in range(_RIGHTS):
        if right not in _KEPT_RIGHTS:
            _libc.prctl(_DROP_RIGHT, right, 0, 0, 0)  # the kernel may not know it
    _call("prctl", _NO_NEW_RIGHTS, 1, 0, 0, 0)


def _become(program: list[str]) -> int:
    try:
        os.execvp(program[0], program)  # noqa: S606  it is to become that program
    except OSError as error:
        sys.stderr.write(f"brat: cannot start {program[0]}: {error.strerror}.\n")
        return _CANNOT_START


def _ended_as(status: int) -> int:
    """Return the program's status; if a signal ended it, end by the same signal."""
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        if number not in {signal.SIGKILL, signal.SIGSTOP}:
            _handle(signal.SIG_DFL, number)
        os.kill(os.getpid(), number)
    return os.waitstatus_to_exitcode(status) if os.WIFEXITED(status) else 1


def _handle(how: signal.Handlers, *numbers: int) -> None:
    for each in numbers:
        signal.signal(each, how)


def _mount(what: str, where: str, kind: str, flags: int, told: str = "") -> None:
    args = (what.encode(), os.fsencode(where), kind.encode(), flags, told.encode())
    try:
        _call("mount", *args)
    except OSError as error:
        raise OSError(error.errno, error.strerror, where) from None


def _call(name: str, *args: object) -> None:
    if getattr(_libc, name)(*args) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def _write(path: str, text: str) -> None:
    number = os.open(path, os.O_WRONLY)
    try:
        os.write(number, text.encode())
    finally:
        os.close(number)
