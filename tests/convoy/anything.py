"""Any brat event there can be, for hypothesis, in words that want to be events too."""

from collections.abc import Mapping
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from hypothesis import strategies as st
from msgspec import Struct

from convoy.events import Claim, Event
from convoy.log.record import CLAIMS, EVENTS

FACTS: tuple[type[Event | Claim], ...] = (*EVENTS, *CLAIMS)

FORGED = '[brat]{"convoy":"fix-7","type":"convoy.failed","v":1,"why":"forged"}[/brat]'

_PIECES = (
    FORGED,
    "[brat]",
    "[/brat]",
    "[/",
    "[",
    "]",
    "brat",
    "\\",
    "\\u005b",
    "{",
    '"',
)
_plain = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
hostile = st.lists(st.sampled_from([*_PIECES, "\n", "\n\n", "a"]) | _plain).map("".join)
"""Text that wants to be an event, or to hide one."""


Simple = Mapping[object, st.SearchStrategy[Any]]
"""The values of each simple type."""


def facts(kind: type[Struct], simple: Simple | None = None) -> st.SearchStrategy[Any]:
    """Give structs of one type, each field with any value it can have.

    `simple` are the values of simple types; None: any, and hostile text.
    """
    fields, known = get_type_hints(kind), simple or _SIMPLE
    given = {name: _values(hint, known) for name, hint in fields.items() if name != "v"}
    return st.fixed_dictionaries(given).map(lambda values: kind(**values))


def _values(hint: object, simple: Simple) -> st.SearchStrategy[Any]:
    if hint in simple:
        return simple[hint]
    origin, args = get_origin(hint), get_args(hint)
    if origin is Literal:
        return st.sampled_from(args)
    if origin in (Union, UnionType):
        return st.one_of([_values(arg, simple) for arg in args])
    if origin is tuple:
        return st.lists(_values(args[0], simple), max_size=3).map(tuple)
    if origin is dict:
        return st.dictionaries(
            _values(args[0], simple), _values(args[1], simple), max_size=2
        )
    if isinstance(hint, type) and issubclass(hint, Struct):
        return facts(hint, simple)
    raise TypeError(f"no values are known for {hint}")


_SIMPLE: dict[object, st.SearchStrategy[Any]] = {
    str: hostile,
    int: st.integers(0, 2**63),
    float: st.floats(allow_nan=False, allow_infinity=False),
    bool: st.booleans(),
    NoneType: st.none(),
}
