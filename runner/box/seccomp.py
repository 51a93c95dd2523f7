"""Refuses the calls to the kernel that an agent has no need of: a seccomp filter.

It runs between fork and exec, so it loads little. What is refused stays so for the
process and all that it starts: other families of sockets (a VSOCK leads out of a
network namespace), tracing, mounts, namespaces, keyrings, io_uring (whose calls no
filter sees), BPF, a line put into a terminal's input, and all calls of 32 bits.

A call that programs can do without fails as if the kernel did not have it.
https://docs.kernel.org/userspace-api/seccomp_filter.html
https://man7.org/linux/man-pages/man2/seccomp.2.html
"""

import ctypes
import os
import sys
from collections.abc import Iterable
from errno import EACCES, EAFNOSUPPORT, ENOSYS, EPERM
from socket import AF_INET, AF_INET6, AF_NETLINK, AF_UNIX, SOCK_DGRAM

from runner.box.filter_program import (
    ALLOW,
    NOTIFY,
    Instruction,
    any_bit,
    argument,
    begun,
    equal,
    finished,
    no_other_than,
    refuse,
    when,
)
from runner.box.system_calls import CALLS, OF_OTHERS, REFUSED, SHARED

_SECCOMP, _FILTER, _LISTEN = {"x86_64": 317, "aarch64": 277}, 1, 8
_NO_NEW_RIGHTS, _KIND = 38, 0xF
_NAMESPACES = 0x7E020080
"""Flags of clone and unshare for every kind of namespace."""
_PUT_IN, _PASTE = 0x5412, 0x541C
"""TIOCSTI and TIOCLINUX. https://man7.org/linux/man-pages/man2/TIOCSTI.2const.html"""
_CONNECT_BY_SENDING = 0x20000000
_libc = ctypes.CDLL(None, use_errno=True)


def refusal() -> str:
    """Return why calls cannot be refused here, or "" if they can."""
    if sys.platform != "linux":
        return "only Linux has seccomp"
    if os.uname().machine not in CALLS:
        return f"the calls of {os.uname().machine} are not known"
    status = _status()
    if not any(line.startswith("Seccomp:") for line in status):
        return "this kernel has no seccomp"
    return ""


def restrict(*, network: bool, paths: bool = True) -> None:
    """Refuse the calls in this process, for ever.

    Args:
        network: whether sockets may lead to other processes; without it no socket of
            the internet can be made, and none be connected.
        paths: whether sockets with a path may be made where the network is open.

    Raises:
        OSError: the kernel takes no filter.
    """
    if network:
        inner = (AF_UNIX,) if paths else ()
        families = (*inner, AF_INET, AF_INET6, AF_NETLINK)
        program = _families(families, EAFNOSUPPORT)
    else:
        program = [*_families((AF_UNIX,), EACCES), *_unconnected()]
    _install([*_common(), *program], 0)


def restrict_and_ask() -> int:
    """Refuse the calls; leave each socket that might lead out to another process.

    That one gets every call of `socket` for TCP, of `connect` and of `bind`, by the
    returned descriptor. Each waits for its answer, and fails when nobody is there.

    Raises:
        OSError: the kernel takes no filter, or another one of this process asks.
    """
    asked = [*_families((AF_UNIX, AF_INET, AF_INET6), EACCES), *_only_streams()]
    asked += _nothing_of_others()
    asked += [*_no_connecting_by_sending()]
    for name in ("connect", "bind"):
        asked += when(_number(name), [NOTIFY])
    tcp = [*argument(0), *equal(AF_UNIX, [ALLOW]), NOTIFY]
    return _install([*_common(), *asked, *when(_number("socket"), tcp)], _LISTEN)


def _common() -> Iterable[Instruction]:
    for name in REFUSED:
        yield from when(_number(name), [refuse(EPERM)])
    # Its flags lie in memory, where no filter looks; programs then use clone.
    yield from when(_number("clone3"), [refuse(ENOSYS)])
    for name in ("clone", "unshare"):
        checked = [*argument(0), *any_bit(_NAMESPACES, [refuse(EPERM)])]
        yield from when(_number(name), checked)
    told = [*argument(1), *equal(_PUT_IN, [refuse(EPERM)])]
    told += equal(_PASTE, [refuse(EPERM)])
    yield from when(_number("ioctl"), told)


def _nothing_of_others() -> Iterable[Instruction]:
    """Refuse what reaches a user's other processes where no namespace parts them."""
    for name in SHARED:
        yield from when(_number(name), [refuse(ENOSYS)])
    own = no_other_than((0,), EPERM)
    for name in OF_OTHERS:
        yield from when(_number(name), [*argument(0), *own])
    # A kind and a number: 0 is the process itself, where the kind is a process.
    for name, kind in (("setpriority", 0), ("ioprio_set", 1)):
        one = [*argument(0), *no_other_than((kind,), EPERM), *argument(1), *own]
        yield from when(_number(name), one)


def _families(these: tuple[int, ...], error: int) -> list[Instruction]:
    """Refuse sockets of other families."""
    return when(_number("socket"), [*argument(0), *no_other_than(these, error)])


def _unconnected() -> Iterable[Instruction]:
    yield from when(_number("connect"), [refuse(EACCES)])
    yield from _only_streams()
    yield from _no_connecting_by_sending()


def _only_streams() -> Iterable[Instruction]:
    """Refuse datagrams: each of them may name where it goes."""
    datagrams = [*argument(1, _KIND), *equal(SOCK_DGRAM, [refuse(EACCES)])]
    for name in ("socket", "socketpair"):
        yield from when(_number(name), datagrams)


def _no_connecting_by_sending() -> Iterable[Instruction]:
    for name, place in (("sendto", 3), ("sendmsg", 2), ("sendmmsg", 3)):
        told = [*argument(place), *any_bit(_CONNECT_BY_SENDING, [refuse(EACCES)])]
        yield from when(_number(name), told)


def _number(name: str) -> int:
    return CALLS[os.uname().machine][name]


def _install(program: Iterable[Instruction], flags: int) -> int:
    machine = os.uname().machine
    words = finished([*begun(machine), *program])
    code = ctypes.create_string_buffer(words, len(words))
    size, place = len(words) // 8, ctypes.addressof(code)
    told = size.to_bytes(8, "little") + place.to_bytes(8, "little")
    _checked(_libc.prctl(_NO_NEW_RIGHTS, 1, 0, 0, 0))
    return _checked(_libc.syscall(_SECCOMP[machine], _FILTER, flags, told))


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"seccomp: {os.strerror(number)}")
    return result


def _status() -> list[str]:
    with open("/proc/self/status", encoding="utf-8") as file:  # noqa: PTH123  small
        return file.readlines()
