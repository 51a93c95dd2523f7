"""The kinds of agent: one row each, that says how it is started and understood.

A row is data and functions without side effects; starting, watching and ending are the
witness's. A new engine is a module with a row, and a line in `ENGINES`; one that is
installed beside brat has an entry point in the group `brat.engines`; a planner that is,
in the group `brat.planners`.
"""

from typing import TYPE_CHECKING, Final

from convoy.events import PLANNER
from convoy.planner import asked
from convoy.text.nearest import did_you_mean
from runner.engines import (
    aider,
    claude,
    codex,
    continues,
    copilot,
    function,
    gemini,
    opencode,
    planning,
    shell,
)
from runner.engines.row import Row

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

ENGINES: dict[str, Row] = {
    row.name: row
    for row in (
        claude.ROW,
        aider.ROW,
        opencode.ROW,
        codex.ROW,
        continues.ROW,
        gemini.ROW,
        copilot.ROW,
        shell.ROW,
    )
}
"""By the `type` in the configuration."""

GROUP: Final = "brat.engines"
PLUGIN: Final = "plugin:"
"""How the `type` of an engine begins that is installed beside brat."""


def known() -> frozenset[str]:
    """Return every `type` there is on this machine."""
    return frozenset(ENGINES) | {PLUGIN + name for name in _installed()}


def planners() -> frozenset[str]:
    """Return the names of the planners that are installed beside brat."""
    return frozenset(_installed(asked.GROUP))


def key_names() -> frozenset[str]:
    """Return the variables in which the engines of brat take keys."""
    return frozenset(key for row in ENGINES.values() for key in row.keys)


def found(kind: str) -> Row:
    """Return the row of a `type`.

    Raises:
        ValueError: there is none, in one sentence with the nearest name.
    """
    if kind.startswith(PLANNER):
        return _planner(kind.removeprefix(PLANNER))
    if row := ENGINES.get(kind):
        return row
    point = _installed().get(kind.removeprefix(PLUGIN))
    if point is None or not kind.startswith(PLUGIN):
        names = known()
        meant = did_you_mean(kind, names) or "."
        listed = ", ".join(sorted(names))
        raise ValueError(f"No engine is called {kind!r}; known: {listed}{meant}")
    return _loaded(point)


def _planner(name: str) -> Row:
    points = _installed(asked.GROUP)
    if point := points.get(name):
        return planning.row(name, point.value)
    listed = ", ".join(sorted(points)) or "none is installed"
    meant = did_you_mean(name, points) or "."
    raise ValueError(f"No planner is called {name!r}; known: {listed}{meant}")


def litter(kind: str) -> tuple[str, ...]:
    """Return what engines of a `type` leave in a checkout that is no work."""
    try:
        return found(kind).litter
    except ValueError:
        return ()


def _installed(group: str = GROUP) -> "dict[str, EntryPoint]":
    from importlib.metadata import entry_points

    return {point.name: point for point in entry_points(group=group)}


def _loaded(point: "EntryPoint") -> Row:
    try:
        thing = point.load()
    except Exception as error:
        raise ValueError(
            f"The engine {PLUGIN}{point.name} cannot be loaded: {error!r}."
        ) from error
    if isinstance(thing, Row):
        return thing
    if callable(thing):
        return function.row(point.name, point.value)
    raise ValueError(
        f"The engine {PLUGIN}{point.name} is neither a Row nor a function: {thing!r}."
    )
