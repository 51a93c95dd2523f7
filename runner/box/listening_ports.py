"""Says whether a process that this one started listens at an address of loopback.

https://man7.org/linux/man-pages/man5/proc_pid_net.5.html
"""

import os
from collections.abc import Iterator

from runner.box.process_tree import descendants

_LISTENS = "0A"
_HERE = {
    "127.0.0.1": ("tcp", "0100007F"),
    "::1": ("tcp6", "00000000000000000000000001000000"),
}
"""Where the kernel tells of an address, and how on machines that are little-endian."""


def listens(address: str, port: int) -> bool:
    """Say whether a process below this one listens there: at 127.0.0.1 or at ::1."""
    wanted = {f"socket:[{inode}]" for inode in _sockets(address, port)}
    return bool(wanted) and any(
        wanted.intersection(_open_in(process)) for process in descendants()
    )


def _sockets(address: str, port: int) -> Iterator[str]:
    """Give the inodes of the sockets that listen there."""
    name, written = _HERE[address]
    try:
        with open(f"/proc/self/net/{name}", encoding="ascii") as file:  # noqa: PTH123
            lines = file.readlines()[1:]
    except FileNotFoundError:  # a machine without IPv6
        return
    for fields in map(str.split, lines):
        if fields[3] == _LISTENS and fields[1] == f"{written}:{port:04X}":
            yield fields[9]


def _open_in(process: int) -> Iterator[str]:
    folder = f"/proc/{process}/fd"
    try:
        for each in os.listdir(folder):  # noqa: PTH208  pathlib takes 5 ms
            yield os.readlink(f"{folder}/{each}")  # noqa: PTH115
    except OSError:  # it ended, or closed it
        return
