"""Says whether a process that this one started listens at a port of loopback.

https://man7.org/linux/man-pages/man5/proc_pid_net.5.html
"""

import os
from collections.abc import Iterator

from runner.box.process_tree import descendants

_LISTENS = "0A"
_HERE = {"0100007F", "00000000000000000000000001000000"}
"""127.0.0.1 and ::1, as the kernel writes them on machines that are little-endian."""


def listens(port: int) -> bool:
    """Say whether a process below this one listens at that port of loopback."""
    wanted = {f"socket:[{inode}]" for inode in _sockets(port)}
    return bool(wanted) and any(
        wanted.intersection(_open_in(process)) for process in descendants()
    )


def _sockets(port: int) -> Iterator[str]:
    """Give the inodes of the sockets that listen at the port."""
    for name in ("tcp", "tcp6"):
        try:
            with open(f"/proc/self/net/{name}", encoding="ascii") as file:  # noqa: PTH123
                lines = file.readlines()[1:]
        except FileNotFoundError:  # a machine without IPv6
            continue
        for fields in map(str.split, lines):
            address, _, number = fields[1].partition(":")
            if fields[3] == _LISTENS and int(number, 16) == port and address in _HERE:
                yield fields[9]


def _open_in(process: int) -> Iterator[str]:
    folder = f"/proc/{process}/fd"
    try:
        for each in os.listdir(folder):  # noqa: PTH208  pathlib takes 5 ms
            yield os.readlink(f"{folder}/{each}")  # noqa: PTH115
    except OSError:  # it ended, or closed it
        return
