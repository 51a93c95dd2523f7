"""The protected paths that a task needs, known before anything starts. Pure.

Who may write may let one task change them; what brat itself and git obey, nobody may.
"""

import re
from collections.abc import Iterable
from typing import Final

from msgspec.structs import replace

from convoy.gate.patch import is_matched, named
from convoy.model.records import Gate
from convoy.model.state import Task

NEVER: Final = (".brat/**", ".git/**", ".gitmodules")
"""Whoever may change these has the next agent, or the bot, do what they want."""
_GLOB: Final = re.compile(r"([\\*?\[ ])")


def protected(paths: Iterable[str], gate: Gate) -> tuple[str, ...]:
    """Return those of a task's paths that the gate would refuse.

    A folder counts where all that is in it is protected.

    Args:
        paths: as a task declares them; a folder ends in a slash.
        gate: the convoy's.
    """
    return tuple(dict.fromkeys(path for path in paths if _is_kept(path, gate)))


def forbidden(paths: Iterable[str]) -> tuple[str, ...]:
    """Return those of some protected paths that nobody may let an agent change."""
    return protected(paths, Gate(protected=NEVER))


def unallowed(task: Task, gate: Gate) -> tuple[str, ...]:
    """Return the protected paths that a task declares and nobody has allowed."""
    found = protected(task.spec.paths, gate)
    return tuple(path for path in found if not _is_allowed(path, task.allowed))


def wants(number: int, paths: tuple[str, ...]) -> str:
    """Return why a task waits that needs protected paths, and who may help how."""
    if kept := forbidden(paths):
        return (
            f"its plan needs {named(kept)}, which no agent may change: "
            f"a person has to do it, and then say /brat drop {number}"
        )
    return (
        f"its plan needs the protected {named(paths)}: somebody who may write "
        f"allows it by /brat allow {number}, or says /brat drop {number}"
    )


def gate_of(gate: Gate, task: Task) -> Gate:
    """Return the gate for one task's work: without what people allowed it."""
    return replace(gate, spared=tuple(map(_pattern, task.allowed)))


def _is_kept(path: str, gate: Gate) -> bool:
    inside = f"{path.rstrip('/')}/any"
    whole = (path, inside) if not path.endswith("/") else (inside,)
    return any(is_matched(each, gate.protected, any_case=True) for each in whole)


def _is_allowed(path: str, allowed: tuple[str, ...]) -> bool:
    folders = tuple(each for each in allowed if each.endswith("/"))
    return path in allowed or path.startswith(folders)


def _pattern(path: str) -> str:
    """Return the line of a .gitignore that means exactly this path."""
    return "/" + _GLOB.sub(r"\\\1", path)
