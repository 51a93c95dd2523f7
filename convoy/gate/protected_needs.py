"""The protected paths that a task needs, known before anything starts. Pure."""

from collections.abc import Iterable

from convoy.gate.patch import is_matched
from convoy.model.records import Gate


def protected(paths: Iterable[str], gate: Gate) -> tuple[str, ...]:
    """Return those of a task's paths that the gate would refuse.

    A folder counts where all that is in it is protected.

    Args:
        paths: as a task declares them; a folder ends in a slash.
        gate: the convoy's.
    """
    return tuple(dict.fromkeys(path for path in paths if _is_kept(path, gate)))


def _is_kept(path: str, gate: Gate) -> bool:
    within = f"{path}any" if path.endswith("/") else path
    inside = f"{path.rstrip('/')}/any"
    return any(
        is_matched(each, gate.protected, any_case=True) for each in (within, inside)
    )
