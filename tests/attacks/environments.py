"""The kinds of machine on which the attacks are tried; each is real, none is played.

What a machine refuses is refused by its kernel: its limits on namespaces, or a filter
of system calls as a container's.
"""

import ctypes
import os
import struct
import sys
from typing import Final

_AS_ROOT: Final = ("unshare", "--user", "--map-root-user")
_AS_USER: Final = ("unshare", "--user", "--map-user=1001", "--map-group=1001")
_NONE: Final = """
for each in mnt pid net ipc uts cgroup time; do
  [ ! -e /proc/sys/user/max_${each}_namespaces ] ||
    echo 0 > /proc/sys/user/max_${each}_namespaces
done
echo $0 > /proc/sys/user/max_user_namespaces
exec "$@"
"""
_FILTERED: Final = (sys.executable, "-I", __file__)
PREFIXES: Final[dict[str, tuple[str, ...]]] = {
    "host": (),
    "ordinary user": _AS_USER,
    "no namespaces": (*_AS_ROOT, "sh", "-c", _NONE, "0"),
    "ordinary user, no namespaces": (*_AS_ROOT, "sh", "-c", _NONE, "1", *_AS_USER),
}
"""How a job is started so that it finds such a machine."""
NOTHING: Final = (*_AS_ROOT, "sh", "-c", _NONE, "0", *_FILTERED)
"""A machine that refuses every wall."""

_ALLOW, _REFUSE = 0x7FFF0000, 0x00050001
_LOAD, _EQUAL, _ANSWER = 0x20, 0x15, 0x06
_LANDLOCK = (444, 445, 446)
_SECCOMP = {"x86_64": (317, 157), "aarch64": (277, 167)}
_SET_FILTER, _NO_NEW_RIGHTS, _BY_FILTER = 22, 38, 2


def refuse_walls() -> None:
    """Let the kernel refuse Landlock and filters to this process and its children."""
    seccomp, prctl = _SECCOMP[os.uname().machine]
    code = [_line(_LOAD, 0)]
    refused = (*_LANDLOCK, seccomp)
    for index, number in enumerate(refused):
        code.append(_line(_EQUAL, number, len(refused) - index + 3, 0))
    code += [
        _line(_EQUAL, prctl, 0, 2),
        _line(_LOAD, 16),  # the first argument's lower half
        _line(_EQUAL, _SET_FILTER, 1, 0),
        _line(_ANSWER, _ALLOW),
        _line(_ANSWER, _REFUSE),
    ]
    held = ctypes.create_string_buffer(b"".join(code))
    told = struct.pack("HxxxxxxP", len(code), ctypes.addressof(held))
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_NO_NEW_RIGHTS, 1, 0, 0, 0)
    if libc.prctl(_SET_FILTER, _BY_FILTER, ctypes.c_char_p(told), 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "no filter")


def _line(code: int, value: int, if_so: int = 0, if_not: int = 0) -> bytes:
    return struct.pack("HBBI", code, if_so, if_not, value)


if __name__ == "__main__":
    refuse_walls()
    os.execvp(sys.argv[1], sys.argv[1:])  # noqa: S606  it is to become that program
