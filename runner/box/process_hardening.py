"""Keeps an agent that shares the witness's user from reading the witness.

/proc/PID/environ shows the memory in which a process received its environment, even
after the process has changed its own copy. So that memory is wiped. Other processes
without privileges can no longer read our memory either. Neither holds against root;
that is why the token can only read.
https://man7.org/linux/man-pages/man5/proc_pid_environ.5.html
https://man7.org/linux/man-pages/man2/pr_set_dumpable.2const.html
"""

import ctypes
import os
import sys
from collections.abc import Mapping

_PR_SET_DUMPABLE = 4


def harden(path: str, kept: Mapping[str, str]) -> None:
    """Wipe the environment except PATH and `kept`, and close our memory to others.

    Call it once, after everything has been read and before there is a second thread.
    What is kept then lies where none but us can read it.
    """
    if sys.platform == "linux":
        libc = ctypes.CDLL(None)
        entries = ctypes.POINTER(ctypes.c_void_p).in_dll(libc, "environ")
        index = 0
        while address := entries[index]:
            ctypes.memset(address, 0, len(ctypes.string_at(address)))
            index += 1
        libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    os.environ.clear()  # noqa: TID251  nothing is asked, all is forgotten
    os.environ["PATH"] = path  # noqa: TID251  programs are still found by name
    os.environ.update(kept)  # noqa: TID251  the clients of this process look there
