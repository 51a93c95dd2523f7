"""Writes a seccomp filter: a small program that judges each call to the kernel.

A filter is instructions of classic BPF. They see the call's number, the machine's kind
and the arguments, and nothing that an argument points to.
https://docs.kernel.org/userspace-api/seccomp_filter.html
https://docs.kernel.org/networking/filter.html
"""

import struct
from collections.abc import Iterable, Sequence
from errno import ENOSYS

Instruction = tuple[int, int, int, int]
"""Its code, how many instructions to leave out if it holds and if not, its number."""
_LOAD, _AND, _IF_EQUAL, _IF_AT_LEAST, _IF_ANY_BIT, _RETURN = (
    *(0x20, 0x54, 0x15, 0x35, 0x45, 0x06),
)
_NUMBER, _MACHINE, _ARGUMENTS = 0, 4, 16
_MACHINES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_OTHER_ABI = 0x40000000
"""From here on, numbers are of x86-64's calls with pointers of 32 bits."""
ALLOW: Instruction = (_RETURN, 0, 0, 0x7FFF0000)
NOTIFY: Instruction = (_RETURN, 0, 0, 0x7FC00000)


def refuse(error: int) -> Instruction:
    """End the filter: the call fails with that error."""
    return (_RETURN, 0, 0, 0x00050000 | error)


def begun(machine: str) -> list[Instruction]:
    """Return a filter's beginning: it refuses calls made in another machine's form."""
    wrong = refuse(ENOSYS)
    kind = [(_LOAD, 0, 0, _MACHINE), (_IF_EQUAL, 1, 0, _MACHINES[machine]), wrong]
    return [*kind, (_LOAD, 0, 0, _NUMBER), (_IF_AT_LEAST, 0, 1, _OTHER_ABI), wrong]


def when(number: int, then: Sequence[Instruction]) -> list[Instruction]:
    """Do something only for the call of that number."""
    return [(_LOAD, 0, 0, _NUMBER), (_IF_EQUAL, 0, len(then), number), *then]


def argument(place: int, bits: int = 0) -> list[Instruction]:
    """Look at the lower half of an argument; of it only at `bits`, if any are given."""
    look: list[Instruction] = [(_LOAD, 0, 0, _ARGUMENTS + 8 * place)]
    return [*look, (_AND, 0, 0, bits)] if bits else look


def equal(value: int, then: Sequence[Instruction]) -> list[Instruction]:
    """Do something only if what is looked at has that value."""
    return [(_IF_EQUAL, 0, len(then), value), *then]


def any_bit(bits: int, then: Sequence[Instruction]) -> list[Instruction]:
    """Do something only if what is looked at has one of the bits."""
    return [(_IF_ANY_BIT, 0, len(then), bits), *then]


def no_other_than(values: Sequence[int], error: int) -> list[Instruction]:
    """Refuse the call unless what is looked at is one of the values."""
    left = range(len(values), 0, -1)
    known = [(_IF_EQUAL, n, 0, value) for n, value in zip(left, values, strict=True)]
    return [*known, refuse(error)]


def finished(program: Iterable[Instruction]) -> bytes:
    """Return the filter as the kernel takes it; what it did not refuse is allowed."""
    return b"".join(struct.pack("<HBBI", *each) for each in (*program, ALLOW))
