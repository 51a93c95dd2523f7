"""System calls by which other boxes were left before, each in a process of its own."""

import ctypes
import errno
import mmap
import os
import platform

from tests.attacks.evil.targets import ATTEMPTS, Targets, attempt

NUMBERS = {
    "mount": (165, 40),
    "keyctl": (250, 219),
    "unshare": (272, 97),
    "process_vm_readv": (310, 270),
    "bpf": (321, 280),
    "userfaultfd": (323, 282),
    "add_key": (248, 217),
    "perf_event_open": (298, 241),
    "io_uring_setup": (425, 425),
    "open_tree": (428, 428),
    "setns": (308, 268),
    "process_vm_writev": (311, 271),
    "syslog": (103, 116),
    "open_tree_attr": (467, 467),
}
"""Of each call, on x86_64 and on aarch64."""
MACHINE = ("x86_64", "aarch64").index(platform.machine())
REFUSED = {errno.EPERM, errno.EACCES, errno.ENOSYS}
NEW_USER, NEW_MOUNTS, CLONE_TREE = 0x10000000, 0x20000, 1
_libc = ctypes.CDLL(None, use_errno=True)
_space = ctypes.create_string_buffer(256)


def _asked(name: str, *args: object) -> int:
    """Make a call in a child; return its error, 0 where it took effect."""
    child = os.fork()
    if child == 0:
        done = _libc.syscall(NUMBERS[name][MACHINE], *args)
        os._exit(0 if done >= 0 else ctypes.get_errno())
    status = os.waitpid(child, 0)[1]
    return errno.EPERM if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)


def _adds(title: str, name: str, *args: object) -> None:
    def tried(at: Targets) -> str:
        found = _asked(name, *args)
        if found in REFUSED:
            raise OSError(found, os.strerror(found))
        return f"the kernel looked at it ({errno.errorcode.get(found, 'done')})"

    ATTEMPTS[title] = tried


# Arguments that do no harm where the call is let through: what counts is whether the
# kernel looks at them.
_adds("users of its own", "unshare", NEW_USER)
_adds("mounts of its own", "unshare", NEW_MOUNTS)
_adds("another network", "setns", -1, 0x40000000)
_adds("a mount", "mount", b"none", b"/nowhere", b"tmpfs", 0, 0)
_adds("a copy of the mounts", "open_tree", -100, b"/", CLONE_TREE)
_adds("a copy of the mounts, by a later call", "open_tree_attr", -100, b"/", 1, 0, 0)
_adds("the kernel's own log", "syslog", 10, 0, 0)
_adds("the kernel's key ring", "keyctl", 0, -3, 1)
_adds("a key for others", "add_key", b"user", b"evil", b"x", 1, -2)
_adds("a ring of system calls", "io_uring_setup", 1, _space)
_adds("a program in the kernel", "bpf", 0, _space, 72)
_adds("the kernel's counters", "perf_event_open", _space, 0, -1, -1, 0)
_adds("faults served by itself", "userfaultfd", 0)
_adds("memory read by a call", "process_vm_readv", os.getppid(), 0, 0, 0, 0, 0)
_adds("memory written by a call", "process_vm_writev", os.getppid(), 0, 0, 0, 0, 0)


@attempt
def calls_of_the_32_bit_kind(at: Targets) -> str:
    """Ask for the process's id by the old gate, where other numbers hold."""
    if platform.machine() != "x86_64":
        raise OSError(errno.ENOSYS, "not on this machine")
    child = os.fork()
    if child == 0:
        code = mmap.mmap(
            -1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC
        )
        code.write(bytes.fromhex("53b814000000cd805bc3"))  # push rbx; getpid; pop; ret
        address = ctypes.addressof(ctypes.c_char.from_buffer(code))
        told = ctypes.CFUNCTYPE(ctypes.c_int)(address)()
        os._exit(0 if told == os.getpid() else errno.EPERM)
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status) or os.WEXITSTATUS(status):
        raise OSError(errno.ENOSYS, "refused")
    return "the kernel answered"
