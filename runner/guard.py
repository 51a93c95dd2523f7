"""A parent for the witness: whatever becomes of it, nothing it started is left.

A witness that is killed outright, by the kernel for want of memory or by an agent that
shares its user, ends nothing itself. Its parent then does, and is the smaller target:
it reads nothing and keeps nothing. Only Linux has what this takes; elsewhere the
witness works alone.
https://man7.org/linux/man-pages/man2/pr_set_pdeathsig.2const.html
"""

import ctypes
import os
import signal
import sys
import time
from collections.abc import Callable
from typing import Final

from runner import descent

KILL_S: Final = 3.0
"""How long SIGKILL is repeated; only a process stuck in the kernel outlasts it."""
SWEEP_S: Final = 0.05
_PR_SET_PDEATHSIG: Final = 1
_BY_THE_KERNEL: Final = 0x80
"""The code of a signal from the terminal: it goes to all of us, so it is not passed on.
https://man7.org/linux/man-pages/man2/sigaction.2.html
"""
_ASKING: Final = (signal.SIGINT, signal.SIGTERM)
_HEARD: Final = (*_ASKING, signal.SIGCHLD)


def guarded(work: Callable[[], int]) -> int:
    """Do the work in a process below this one, and end all that it leaves running.

    Whoever asks this process to end asks the work; if this process is killed, the work
    is asked to end, too. Call it once, from the only thread.

    Returns:
        What the work returned; 128 and the signal's number when it was killed.

    Raises:
        OSError: there is no room for another process.
    """
    if sys.platform != "linux":
        return work()
    descent.adopt_orphans()
    spared = frozenset(descent.descendants())
    signal.pthread_sigmask(signal.SIG_BLOCK, _HEARD)
    guard = os.getpid()
    child = os.fork()
    if child == 0:
        os._exit(_inside(work, guard))
    status = os.waitstatus_to_exitcode(_ended(child))
    _end_the_rest(spared)
    return status if status >= 0 else 128 - status


def _inside(work: Callable[[], int], guard: int) -> int:
    """Do the work, asked to end when the guard dies, and return its status."""
    for each in _ASKING:
        signal.signal(each, signal.SIG_DFL)
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    if os.getppid() != guard:  # it died before we asked to be told
        os.kill(os.getpid(), signal.SIGTERM)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _HEARD)
    status = work()
    sys.stdout.flush()
    sys.stderr.flush()
    return status


def _ended(child: int) -> int:
    """Pass on what is asked until the child has ended; return its wait status."""
    while True:
        told = signal.sigwaitinfo(_HEARD)
        if told.si_signo == signal.SIGCHLD:
            ended, _ = descent.reap()
            if child in ended:
                return ended[child]
        elif told.si_code != _BY_THE_KERNEL:
            os.kill(child, told.si_signo)


def _end_the_rest(spared: frozenset[int]) -> None:
    """Kill what is left below this process, but for what was there before."""
    limit = time.monotonic() + KILL_S
    while descent.reap()[1] and time.monotonic() < limit:
        if spared.issuperset(descent.descendants()):
            return
        descent.send(signal.SIGKILL, 0, spared)
        signal.sigtimedwait((signal.SIGCHLD,), SWEEP_S)
