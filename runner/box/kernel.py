"""What Python lacks of calls to the kernel, for the programs that build a box.

It runs between fork and exec, so it loads little.
https://man7.org/linux/man-pages/man2/prctl.2.html
"""

import ctypes
import os
import signal
import sys

libc = ctypes.CDLL(None, use_errno=True)
DIE_WITH_PARENT, DUMPABLE, NO_NEW_RIGHTS, DROP_RIGHT = 1, 4, 38, 24
CANNOT_START = 126
CLONE = {"x86_64": 56, "aarch64": 220}
"""The number of that call, by the kind of machine."""


def checked(result: int, what: str = "", where: str = "") -> int:
    """Return what a call returned, or raise an OSError that begins with `what`."""
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, what + os.strerror(number), where or None)
    return result


def prctl(option: int, value: object) -> None:
    checked(libc.prctl(option, value, 0, 0, 0))


def become_user(number: int, group: int) -> None:
    os.setgroups([])
    os.setresgid(group, group, group)
    os.setresuid(number, number, number)


def become_program(program: list[str]) -> int:
    """Become the program; return the status to end with if there is none."""
    try:
        os.execvp(program[0], program)  # noqa: S606  it is to become that program
    except OSError as error:
        sys.stderr.write(f"brat: cannot start {program[0]}: {error.strerror}.\n")
        return CANNOT_START


def end_like(status: int) -> int:
    """Return a child's exit status; if a signal ended it, end by the same signal."""
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        if number not in {signal.SIGKILL, signal.SIGSTOP}:
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    return os.waitstatus_to_exitcode(status) if os.WIFEXITED(status) else 1


def write(path: str, text: str) -> None:
    """Write to a file of the kernel's, at once."""
    number = os.open(path, os.O_WRONLY)
    try:
        os.write(number, text.encode())
    finally:
        os.close(number)
