"""The walls between an agent and the machine, as a session reports them in result.json.

A wall is what the kernel holds, not what a program was asked to do.
"""

from typing import Final, Literal

from msgspec import Struct

Wall = Literal["", "namespaces", "landlock", "seccomp", "uid"]
"""What a wall is made of; empty: there is none."""


class Walls(Struct, frozen=True, kw_only=True):
    """Which wall stood for each thing that an agent is kept from."""

    files: Wall = ""
    """All files are read-only or absent, but for the checkout, its home and its tmp."""
    processes: Wall = ""
    """It neither sees nor signals nor traces a process that it did not start."""
    network: Wall = ""
    """It reaches the hosts of its list and nothing else."""
    user: Wall = ""
    """`uid`: another user than the witness's; `namespaces`: the same, without rights
    outside of its own namespace."""
    syscalls: Wall = ""
    """It cannot call what the kernel offers to administrators and debuggers."""


NAMES: Final = Walls.__struct_fields__


def missing(walls: Walls, *, closed: bool) -> tuple[str, ...]:
    """Return the names of the walls that did not stand.

    Args:
        walls: as they were reported.
        closed: whether the network was to be closed; otherwise its wall is not missed.
    """
    asked = (name for name in NAMES if closed or name != "network")
    return tuple(name for name in asked if not getattr(walls, name))


def in_words(walls: Walls) -> str:
    """Return each wall and what it is made of, `files: landlock, network: none`."""
    made = {
        "files": walls.files,
        "processes": walls.processes,
        "network": walls.network,
        "user": walls.user,
        "syscalls": walls.syscalls,
    }
    return ", ".join(f"{name}: {wall or 'none'}" for name, wall in made.items())
