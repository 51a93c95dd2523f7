"""The kinds of agent: a row for each says how to start it and read its output.

A new engine is a module here with a `ROW`, and a row in `convoy.model.engine_types`.
One that is installed beside brat has an entry point in the group `brat.engines`.
"""

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Final

from convoy.model.engine_types import ENGINE_TYPES
from convoy.text import did_you_mean
from runner.engines.row import Call, Row
from runner.engines.shell import function_row, read

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


class _Rows(Mapping[str, Row]):
    """The rows of brat's own engines; a row is loaded when it is first asked for."""

    def __getitem__(self, name: str) -> Row:
        module = ENGINE_TYPES[name].module or name.replace("-", "_")
        row: Row = import_module(f"{__name__}.{module}").ROW
        return row

    def __iter__(self) -> Iterator[str]:
        return iter(ENGINE_TYPES)

    def __len__(self) -> int:
        return len(ENGINE_TYPES)


ENGINES: Final = _Rows()

GROUP: Final = "brat.engines"
PLUGIN: Final = "plugin:"
"""Begins the `type` of every engine that is installed beside brat."""


def known() -> frozenset[str]:
    """Return every `type` there is on this machine."""
    return frozenset(ENGINES) | {PLUGIN + name for name in _installed()}


def key_names() -> frozenset[str]:
    return frozenset(key for each in ENGINE_TYPES.values() for key in each.all_keys)


def found(kind: str) -> Row:
    """Return the row of a `type`; raise a ValueError that suggests the nearest name."""
    if row := ENGINES.get(kind):
        return row
    names = known()
    if kind.startswith(PLUGIN) and kind in names:
        return _loaded(_installed()[kind.removeprefix(PLUGIN)])
    listed, meant = ", ".join(sorted(names)), did_you_mean(kind, names) or "."
    raise ValueError(f"There is no engine {kind!r}; available: {listed}{meant}")


def startable(kind: str) -> Row:
    """Return the row of a `type`; if there is none, one whose start says so."""
    try:
        return found(kind)
    except ValueError as error:
        unknown = error

    def argv(_call: Call) -> tuple[str, ...]:
        raise unknown

    return Row(name=kind, argv=argv, read=read, tools=kind)


def _installed() -> "dict[str, EntryPoint]":
    from importlib.metadata import entry_points

    return {point.name: point for point in entry_points(group=GROUP)}


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
        return function_row(point.name, point.value)
    raise ValueError(
        f"The engine {PLUGIN}{point.name} is neither a Row nor a function: {thing!r}."
    )
