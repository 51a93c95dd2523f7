"""The witness's own processes: how they start, are closed to an agent, and all end.

What stands between the witness and an engine has to start quickly and loads little, as
this module does. Without the site module Python starts in half the time; an imported
module is compiled only once, while a file that is run is compiled each time.

/proc/PID/environ shows the memory in which a process received its environment, even
after it has changed its own copy, so that memory is wiped, and closed to processes
without privileges. Neither holds against root; that is why the token can only read.
https://man7.org/linux/man-pages/man5/proc_pid_environ.5.html
https://man7.org/linux/man-pages/man2/pr_set_dumpable.2const.html
https://man7.org/linux/man-pages/man7/capabilities.7.html

On Linux a process can become the parent of every orphan below it. So when it has no
child, nothing is left, and no daemon escapes by forking twice.
https://man7.org/linux/man-pages/man2/pr_set_child_subreaper.2const.html

The witness may be killed, by the kernel for want of memory or by an agent that shares
its user, and then ends nothing. Its parent, the guard, does, and is a smaller target:
it reads nothing and keeps nothing. Only Linux has what this takes.
https://man7.org/linux/man-pages/man2/pr_set_pdeathsig.2const.html
"""

import contextlib
import ctypes
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from runner.box.kernel import DIE_WITH_PARENT, DROP_RIGHT, DUMPABLE, libc, prctl

_ROOT = __file__.rsplit("/", 3)[0]
_CODE = (
    "import sys; sys.path.append(sys.argv.pop(1)); "
    "from {name} import main; sys.exit(main(sys.argv[1:]))"
)


def launched(module: str) -> tuple[str, ...]:
    """Return the command that runs `main` of one of our modules without libraries."""
    code = _CODE.format(name=module)
    return (sys.executable, "-I", "-S", "-c", code, _ROOT)


def harden(path: str, kept: Mapping[str, str]) -> None:
    """Wipe the environment except PATH and `kept`, and close our memory to others.

    Call it once, after everything has been read and before there is a second thread.
    What is kept then lies where none but us can read it.
    """
    if sys.platform == "linux":
        entries = ctypes.POINTER(ctypes.c_void_p).in_dll(libc, "environ")
        index = 0
        while address := entries[index]:
            ctypes.memset(address, 0, len(ctypes.string_at(address)))
            index += 1
        prctl(DUMPABLE, 0)
    os.environ.clear()  # noqa: TID251  nothing is asked, all is forgotten
    os.environ["PATH"] = path  # noqa: TID251  programs are still found by name
    os.environ.update(kept)  # noqa: TID251  the clients of this process look there


_RIGHTS = 64
_KEPT_RIGHTS = frozenset({0, 1, 2, 3, 4, 5, 6, 7})
"""Rights over files, signals and users, by which the witness's own programs read what
another user made; the agent's lose them, too, by becoming another user."""


def give_up_rights() -> None:
    """Give up the other rights, for all we become; safe twice, and without root."""
    for right in range(_RIGHTS):
        if right not in _KEPT_RIGHTS:
            libc.prctl(DROP_RIGHT, right, 0, 0, 0)  # the kernel may not know it


_PR_SET_CHILD_SUBREAPER, _PR_GET_CHILD_SUBREAPER = 36, 37
_STAT_BYTES = 4096


@contextmanager
def adopting_orphans() -> Iterator[None]:
    """Be the parent of the orphans among our descendants while the block lasts.

    Afterwards orphans get their usual parent again: if this process stayed their parent
    without reaping, each of them would become a zombie.
    """
    if sys.platform != "linux":
        yield
        return
    before = ctypes.c_int()
    prctl(_PR_GET_CHILD_SUBREAPER, ctypes.byref(before))
    prctl(_PR_SET_CHILD_SUBREAPER, 1)
    try:
        yield
    finally:
        prctl(_PR_SET_CHILD_SUBREAPER, before.value)


def reap_children() -> tuple[dict[int, int], bool]:
    """Reap ended children; return their wait statuses, and whether a child is left."""
    ended: dict[int, int] = {}
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return ended, False
        if pid == 0:
            return ended, True
        ended[pid] = status


def descendants() -> list[int]:
    """Return the ids of all processes below this one, parents first."""
    if sys.platform != "linux":
        import psutil  # takes 55 ms, and is needed only here

        return [each.pid for each in psutil.Process().children(recursive=True)]
    # Not with a Path for each: a machine has hundreds, and each session looks thrice.
    # Nor by the kernel's lists of children, which leave out some while others end.
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):  # noqa: PTH208  as above
        if name.isdigit():
            try:
                number = os.open(f"/proc/{name}/stat", os.O_RDONLY)
            except OSError:
                continue  # it ended in the meantime
            with contextlib.suppress(ProcessLookupError):
                stat = os.read(number, _STAT_BYTES)
                # The program's name, in parentheses, may hold blanks and parentheses.
                parent = int(stat[stat.rindex(b")") + 2 :].split(None, 2)[1])
                children.setdefault(parent, []).append(int(name))
            os.close(number)
    found, left = list[int](), [os.getpid()]
    while left:
        below = children.get(left.pop(), [])
        found += below
        left += below
    return found


KILL_S = 3.0
"""How long SIGKILL is repeated; only a process stuck in the kernel outlasts it."""
SWEEP_S = 0.05
_CHILDREN_BYTES = 1_000_000
_BY_THE_KERNEL = 0x80
"""The code of a signal from the terminal. It reaches the witness anyway, so the guard
does not pass it on.
https://man7.org/linux/man-pages/man2/sigaction.2.html
"""
ASKING = (signal.SIGINT, signal.SIGTERM)
_HEARD = (*ASKING, signal.SIGCHLD)


def guarded(work: Callable[[], int]) -> int:
    """Do the work in a child process, and end every process that it leaves running.

    A request to end this process is passed on to the work; if this process is killed,
    the work is asked to end, too. Call it once, from the only thread. It returns what
    the work did; 128 and the signal's number when it was killed.
    """
    if sys.platform != "linux":
        return work()
    with adopting_orphans():
        spared = frozenset(descendants())
        signal.pthread_sigmask(signal.SIG_BLOCK, _HEARD)
        guard = os.getpid()
        name = f"/proc/{guard}/task/{guard}/children"  # some kernels have none
        with open(name if os.path.exists(name) else os.devnull, "rb", 0) as listed:  # noqa: PTH110, PTH123
            child = os.fork()
            if child == 0:
                listed.close()
                for each in ASKING:
                    signal.signal(each, signal.SIG_DFL)
                prctl(DIE_WITH_PARENT, signal.SIGTERM)
                if os.getppid() != guard:  # it died before we asked for the signal
                    os.kill(os.getpid(), signal.SIGTERM)
                signal.pthread_sigmask(signal.SIG_UNBLOCK, _HEARD)
                status = work()
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(status)
            ended: dict[int, int] = {}
            try:
                while child not in ended:
                    told = signal.sigwaitinfo(_HEARD)
                    if told.si_signo == signal.SIGCHLD:
                        ended, _ = reap_children()
                    elif told.si_code != _BY_THE_KERNEL:
                        os.kill(child, told.si_signo)
            finally:
                _end_the_rest(spared, listed.fileno())
    status = os.waitstatus_to_exitcode(ended[child])
    return status if status >= 0 else 128 - status


def _end_the_rest(spared: frozenset[int], listed: int) -> None:
    """Kill all processes below this one that were not there before.

    Where nothing can be opened any more, the kernel's list of our children is open
    already: whose parent has been killed becomes one of them.
    """
    limit = time.monotonic() + KILL_S
    while reap_children()[1] and time.monotonic() < limit:
        below = {*map(int, os.pread(listed, _CHILDREN_BYTES, 0).split())}
        with contextlib.suppress(OSError):
            below.update(descendants())
        if spared.issuperset(below):
            return
        for each in below - spared:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(each, signal.SIGKILL)
        signal.sigtimedwait((signal.SIGCHLD,), SWEEP_S)
