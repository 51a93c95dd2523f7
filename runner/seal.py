"""What keeps the agent from reading its witness: the two may share a user.

/proc/PID/environ shows the memory in which a process got its environment, whatever it
did with its copy since, so that memory is wiped. Processes without privileges are also
kept from reading our memory. Neither holds against root: the token can only read.
https://man7.org/linux/man-pages/man5/proc_pid_environ.5.html
https://man7.org/linux/man-pages/man2/pr_set_dumpable.2const.html
"""

import ctypes
import os
import sys

_PR_SET_DUMPABLE = 4


def seal(path: str) -> None:
    """Wipe the environment but for PATH, and close our memory to others.

    Call it once, before there is a second thread, and after all has been read.
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
