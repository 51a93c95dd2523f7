"""Refuses the calls to the kernel that an agent has no need of: a seccomp filter.

It runs between fork and exec, so it loads little. What is refused stays so for the
process and all that it starts: other families of sockets (a VSOCK leads out of a
network namespace), tracing, mounts, namespaces, keyrings, io_uring (whose calls no
filter sees), BPF, a line put into a terminal's input, all calls of 32 bits, and all
that are newer than this file. What programs can do without fails as if the kernel did
not have it.

A filter is instructions of classic BPF. They see the call's number, the machine's kind
and the arguments, and nothing that an argument points to.
https://docs.kernel.org/userspace-api/seccomp_filter.html
https://docs.kernel.org/networking/filter.html
https://man7.org/linux/man-pages/man2/seccomp.2.html
https://github.com/torvalds/linux/blob/master/arch/x86/entry/syscalls/syscall_64.tbl
https://github.com/torvalds/linux/blob/master/scripts/syscall.tbl
"""

import ctypes
import os
import struct
from collections.abc import Iterable, Iterator, Sequence
from errno import EACCES, EAFNOSUPPORT, ENOSYS, EOPNOTSUPP, EPERM
from socket import AF_INET, AF_INET6, AF_NETLINK, AF_UNIX, SOCK_DGRAM

from runner.box.kernel import NO_NEW_RIGHTS, checked, libc, prctl


def _numbers(text: str) -> dict[str, tuple[int, int]]:
    """Read names of calls, each with its number on x86-64 and on 64-bit Arm."""
    rows = (each.split() for each in text.split(","))
    return {name: (int(first), int(second)) for name, first, second in rows}


REFUSED = _numbers(
    """
    ptrace 101 117, process_vm_readv 310 270, process_vm_writev 311 271,
    process_madvise 440 440, pidfd_getfd 438 438, kcmp 312 272, mount 165 40,
    umount2 166 39, pivot_root 155 41, setns 308 268, open_tree 428 428,
    move_mount 429 429, fsopen 430 430, fsconfig 431 431, fsmount 432 432,
    fspick 433 433, mount_setattr 442 442, open_by_handle_at 304 265, keyctl 250 219,
    add_key 248 217, request_key 249 218, io_uring_setup 425 425,
    io_uring_enter 426 426, io_uring_register 427 427, bpf 321 280,
    perf_event_open 298 241, userfaultfd 323 282, fanotify_init 300 262,
    lookup_dcookie 212 18, init_module 175 105, finit_module 313 273,
    delete_module 176 106, kexec_load 246 104, kexec_file_load 320 294, reboot 169 142,
    swapon 167 224, swapoff 168 225, acct 163 89, quotactl 179 60, quotactl_fd 443 443,
    syslog 103 116
    """
)
"""Calls by which a process looks into others, changes the machine, or goes around a
filter."""
SHARED = _numbers(
    """
    shmget 29 194, shmat 30 196, shmctl 31 195, msgget 68 186, msgsnd 69 189,
    msgrcv 70 188, msgctl 71 187, semget 64 190, semop 65 193, semctl 66 191,
    semtimedop 220 192, setxattrat 463 463, removexattrat 466 466, fchmodat2 452 452
    """
)
"""Calls for memory, queues and semaphores that all processes of a user share, and newer
forms of `ATTRIBUTES` and `MODES`."""
OF_OTHERS = _numbers(
    """
    prlimit64 302 261, sched_setaffinity 203 122, sched_setscheduler 144 119,
    sched_setparam 142 118, sched_setattr 314 274
    """
)
"""Calls that change a process, the one that their first argument names; 0: itself."""
ATTRIBUTES = _numbers(
    """
    setxattr 188 5, lsetxattr 189 6, fsetxattr 190 7, removexattr 197 14,
    lremovexattr 198 15, fremovexattr 199 16
    """
)
"""Calls that let others to a file; who has them copies files without."""
OWNERS = {
    "chown": (92, 99999, 1),
    "lchown": (94, 99999, 1),
    "fchown": (93, 55, 1),
    "fchownat": (260, 54, 2),
}
"""Calls that give a file away, and which argument is the user; then comes the group."""
MODES = _numbers("chmod 90 99999, fchmod 91 52, fchmodat 268 53")
_LOOKED_AT = _numbers(
    """
    socket 41 198, socketpair 53 199, connect 42 203, bind 49 200, sendto 44 206,
    sendmsg 46 211, sendmmsg 307 269, clone 56 220, clone3 435 435, unshare 272 97,
    ioctl 16 29, setpriority 141 140, ioprio_set 251 30
    """
)
CALLS = {
    machine: {
        name: numbers[place]
        for group in (_LOOKED_AT, REFUSED, SHARED, OF_OTHERS, ATTRIBUTES, OWNERS, MODES)
        for name, numbers in group.items()
    }
    for place, machine in enumerate(("x86_64", "aarch64"))
}

Instruction = tuple[int, int, int, int]
"""Its code, how many instructions to leave out if it holds and if not, its number."""
_LOAD, _AND, _IF_EQUAL, _IF_AT_LEAST, _IF_ANY_BIT, _RETURN = (
    *(0x20, 0x54, 0x15, 0x35, 0x45, 0x06),
)
_NUMBER, _MACHINE, _ARGUMENTS = 0, 4, 16
_MACHINES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_UNKNOWN = 467
"""From here on, numbers are of calls newer than these lists (Linux 6.15 and later), and
of x86-64's with pointers of 32 bits."""
ALLOW: Instruction = (_RETURN, 0, 0, 0x7FFF0000)
NOTIFY: Instruction = (_RETURN, 0, 0, 0x7FC00000)


def refuse(error: int) -> Instruction:
    """End the filter: the call fails with that error."""
    return (_RETURN, 0, 0, 0x00050000 | error)


def when(names: Iterable[str], *then: Instruction) -> Iterator[Instruction]:
    """Do this in the calls of these names."""
    numbers = CALLS[os.uname().machine]
    for name in names:
        yield (_LOAD, 0, 0, _NUMBER)
        yield (_IF_EQUAL, 0, len(then), numbers[name])
        yield from then


def where(
    place: int, test: int, value: int, end: Instruction, bits: int = 0xFFFFFFFF
) -> tuple[Instruction, ...]:
    """End the filter if the lower half of an argument, or some bits, passes a test."""
    look = (_LOAD, 0, 0, _ARGUMENTS + 8 * place)
    return look, (_AND, 0, 0, bits), (test, 0, 1, value), end


def unless(place: int, values: Sequence[int], error: int) -> tuple[Instruction, ...]:
    """Refuse the call unless an argument's lower half is one of the values."""
    left = range(len(values), 0, -1)
    known = [(_IF_EQUAL, n, 0, value) for n, value in zip(left, values, strict=True)]
    return (_LOAD, 0, 0, _ARGUMENTS + 8 * place), *known, refuse(error)


_SECCOMP, _FILTER, _LISTEN = {"x86_64": 317, "aarch64": 277}, 1, 8
_KIND = 0xF
_NAMESPACES = 0x7E020080
"""Flags of clone and unshare for every kind of namespace."""
_PUT_IN, _PASTE = 0x5412, 0x541C
"""TIOCSTI and TIOCLINUX. https://man7.org/linux/man-pages/man2/TIOCSTI.2const.html"""
_UNCHANGED = 0xFFFFFFFF
_CONNECT_BY_SENDING = 0x20000000


def refusal() -> str:
    """Return why calls cannot be refused here, or "" if they can."""
    if os.uname().machine not in CALLS:
        return f"the system calls of {os.uname().machine} are unknown"
    with open("/proc/self/status", encoding="utf-8") as file:  # noqa: PTH123  small
        has_it = any(line.startswith("Seccomp:") for line in file)
    return "" if has_it else "this kernel does not support seccomp"


def restrict() -> None:
    """Refuse the calls in this process, for ever; its network is looked after."""
    families = unless(0, (AF_UNIX, AF_INET, AF_INET6, AF_NETLINK), EAFNOSUPPORT)
    _install([*_common(), *when(["socket"], *families)], 0)


def restrict_and_ask(*, network: bool) -> int:
    """Refuse the calls; leave to another process what its arguments alone do not show.

    That one gets every call that changes the mode of a file and, without a `network`,
    every call of `socket` for TCP, of `connect` and of `bind`, by the returned
    descriptor. Each waits for its answer, and fails when nobody is there. Only one
    filter of a process can ask. With a network no sockets with a path can be made.
    """
    asked = [*_common(), *_nothing_of_others(), *when(MODES, NOTIFY)]
    if network:
        families = unless(0, (AF_INET, AF_INET6, AF_NETLINK), EAFNOSUPPORT)
        return _install([*asked, *when(["socket"], *families)], _LISTEN)
    families = unless(0, (AF_UNIX, AF_INET, AF_INET6), EACCES)
    asked += when(["socket"], *families)
    # Each datagram may name where it goes; some calls connect by sending.
    datagrams = where(1, _IF_EQUAL, SOCK_DGRAM, refuse(EACCES), _KIND)
    asked += when(["socket", "socketpair"], *datagrams)
    for name, place in (("sendto", 3), ("sendmsg", 2), ("sendmmsg", 3)):
        told = where(place, _IF_ANY_BIT, _CONNECT_BY_SENDING, refuse(EACCES))
        asked += when([name], *told)
    asked += when(["connect", "bind"], NOTIFY)
    asked += when(["socket"], *where(0, _IF_EQUAL, AF_UNIX, ALLOW), NOTIFY)
    return _install(asked, _LISTEN)


def _common() -> Iterator[Instruction]:
    yield from when(REFUSED, refuse(EPERM))
    # Its flags lie in memory, where no filter looks; programs then use clone.
    yield from when(["clone3"], refuse(ENOSYS))
    namespaces = where(0, _IF_ANY_BIT, _NAMESPACES, refuse(EPERM))
    yield from when(["clone", "unshare"], *namespaces)
    for asked in (_PUT_IN, _PASTE):
        yield from when(["ioctl"], *where(1, _IF_EQUAL, asked, refuse(EPERM)))


def _nothing_of_others() -> Iterator[Instruction]:
    """Refuse what reaches a user's other processes and files, for no namespace does."""
    yield from when(SHARED, refuse(ENOSYS))
    yield from when(ATTRIBUTES, refuse(EOPNOTSUPP))
    for name, (*_, first) in OWNERS.items():
        same_user = unless(first, (os.getuid(), _UNCHANGED), EPERM)
        same_group = unless(first + 1, (os.getgid(), _UNCHANGED), EPERM)
        yield from when([name], *same_user, *same_group)
    yield from when(OF_OTHERS, *unless(0, [0], EPERM))
    # A kind and a number: 0 is the process itself, where the kind is a process.
    for name, kind in (("setpriority", 0), ("ioprio_set", 1)):
        yield from when([name], *unless(0, [kind], EPERM), *unless(1, [0], EPERM))


def _install(program: Iterable[Instruction], flags: int) -> int:
    machine, wrong = os.uname().machine, refuse(ENOSYS)
    begun = (
        *((_LOAD, 0, 0, _MACHINE), (_IF_EQUAL, 1, 0, _MACHINES[machine]), wrong),
        *((_LOAD, 0, 0, _NUMBER), (_IF_AT_LEAST, 0, 1, _UNKNOWN), wrong),
    )  # refuses calls that are unknown, or made in another machine's form
    whole = (*begun, *program, ALLOW)
    words = b"".join(struct.pack("<HBBI", *each) for each in whole)
    code = ctypes.create_string_buffer(words, len(words))
    size, place = len(words) // 8, ctypes.addressof(code)
    told = size.to_bytes(8, "little") + place.to_bytes(8, "little")
    prctl(NO_NEW_RIGHTS, 1)
    return checked(libc.syscall(_SECCOMP[machine], _FILTER, flags, told), "seccomp: ")
