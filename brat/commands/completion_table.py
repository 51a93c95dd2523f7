"""What may stand at each place of the command line, taken from its tree of words."""

from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Any, Final, Literal

from msgspec import Struct

Kind = Literal["", "convoys", "tasks", "sessions", "subjects"]
"""What a shell asks brat for; empty: any word, or a file."""

_KINDS: Final[Mapping[str, Kind]] = {
    "convoy": "convoys",
    "number": "tasks",
    "task": "tasks",
    "about": "subjects",
}


class Value(Struct, frozen=True):
    """What is given to an option or as an argument."""

    kind: Kind = ""
    choices: tuple[str, ...] = ()


class Place(Struct, frozen=True):
    """The words typed so far, and what may follow."""

    path: tuple[str, ...]
    words: tuple[str, ...]
    """The commands below."""
    options: tuple[str, ...]
    values: Mapping[str, Value]
    """Of the options that take one."""
    argument: Value


def places(tree: Any) -> Iterator[Place]:  # noqa: ANN401  Typer's own tree is untyped
    """Yield each place of the command line, from its root."""
    return _places(tree, ())


def _places(command: Any, path: tuple[str, ...]) -> Iterator[Place]:  # noqa: ANN401
    below = {
        name: each
        for name, each in getattr(command, "commands", {}).items()
        if not each.hidden
    }
    options = [each for each in command.params if each.param_type_name == "option"]
    given = [each for each in command.params if each.param_type_name == "argument"]
    yield Place(
        path=path,
        words=tuple(below),
        options=("--help", *(name for one in options for name in _names(one))),
        values={
            name: _value(each, path)
            for each in options
            if not each.is_flag
            for name in _names(each)
        },
        argument=_value(given[0], path) if given else Value(),
    )
    for name, each in below.items():
        yield from _places(each, (*path, name))


def _names(option: Any) -> tuple[str, ...]:  # noqa: ANN401
    return (*option.opts, *option.secondary_opts)


def _value(param: Any, path: tuple[str, ...]) -> Value:  # noqa: ANN401
    wanted = param.type_descriptor.annotation
    if isinstance(wanted, type) and issubclass(wanted, Enum):
        return Value(choices=tuple(str(each.value) for each in wanted))
    if param.name == "task" and wanted is not int:
        return Value()
    if param.name == "name" and path[0] in ("convoy", "session"):
        return Value("convoys" if path[0] == "convoy" else "sessions")
    return Value(_KINDS.get(param.name, ""))
