"""A parent process for the witness: it ends the processes a killed witness leaves.

The kernel may kill the witness for want of memory, and so may an agent that shares its
user; then the witness ends nothing itself. Its parent does, and is a smaller target: it
reads nothing and keeps nothing. Only Linux has what this takes; elsewhere the witness
works alone.
https://man7.org/linux/man-pages/man2/pr_set_pdeathsig.2const.html
"""

import ctypes
import os
import signal
import sys
import time
from collections.abc import Callable

from runner.box import process_tree

KILL_S = 3.0
"""How long SIGKILL is repeated; only a process stuck in the kernel outlasts it."""
SWEEP_S = 0.05
_PR_SET_PDEATHSIG = 1
_BY_THE_KERNEL = 0x80
"""The code of a signal from the terminal. It reaches the witness anyway, so the guard
does not pass it on.
https://man7.org/linux/man-pages/man2/sigaction.2.html
"""
_ASKING = (signal.SIGINT, signal.SIGTERM)
_HEARD = (*_ASKING, signal.SIGCHLD)


def guarded(work: Callable[[], int]) -> int:
    """Do the work in a child process, and end every process that it leaves running.

    A request to end this process is passed on to the work; if this process is killed,
    the work is asked to end, too. Call it once, from the only thread.

    Returns:
        What the work returned; 128 and the signal's number when it was killed.

    Raises:
        OSError: there is no room for another process.
    """
    if sys.platform != "linux":
        return work()
    with process_tree.adopting_orphans():
        spared = frozenset(process_tree.descendants())
        signal.pthread_sigmask(signal.SIG_BLOCK, _HEARD)
        guard = os.getpid()
        child = os.fork()
        if child == 0:
            os._exit(_inside(work, guard))
        status = os.waitstatus_to_exitcode(_ended(child))
        _end_the_rest(spared)
    return status if status >= 0 else 128 - status


def _inside(work: Callable[[], int], guard: int) -> int:
    """Do the work and return its status; it is asked to end when the guard dies."""
    for each in _ASKING:
        signal.signal(each, signal.SIG_DFL)
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    if os.getppid() != guard:  # the guard died before we asked for the signal
        os.kill(os.getpid(), signal.SIGTERM)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _HEARD)
    status = work()
    sys.stdout.flush()
    sys.stderr.flush()
    return status


def _ended(child: int) -> int:
    """Pass signals on until the child has ended; return its wait status."""
    while True:
        told = signal.sigwaitinfo(_HEARD)
        if told.si_signo == signal.SIGCHLD:
            ended, _ = process_tree.reap()
            if child in ended:
                return ended[child]
        elif told.si_code != _BY_THE_KERNEL:
            os.kill(child, told.si_signo)


def _end_the_rest(spared: frozenset[int]) -> None:
    """Kill all processes below this one that were not there before."""
    limit = time.monotonic() + KILL_S
    while process_tree.reap()[1] and time.monotonic() < limit:
        if spared.issuperset(process_tree.descendants()):
            return
        process_tree.send(signal.SIGKILL, 0, spared)
        signal.sigtimedwait((signal.SIGCHLD,), SWEEP_S)
