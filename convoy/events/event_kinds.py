"""All kinds of event and claim, found in the files of `convoy.events`."""

from collections.abc import Iterator
from importlib import import_module
from pkgutil import iter_modules
from typing import Final, TypeVar

import convoy.events
from convoy.events import Claim, Event, Fact

_Kind = TypeVar("_Kind", bound=Fact)


def _kinds(of: type[_Kind]) -> Iterator[type[_Kind]]:
    for kind in of.__subclasses__():
        if kind.__module__ != Fact.__module__ and not kind.__name__.startswith("_"):
            yield kind
        yield from _kinds(kind)


def _by_tag(of: type[_Kind]) -> tuple[type[_Kind], ...]:
    return tuple(sorted(_kinds(of), key=lambda kind: str(kind.__struct_config__.tag)))


for _module in iter_modules(convoy.events.__path__, f"{convoy.events.__name__}."):
    import_module(_module.name)

EVENTS: Final[tuple[type[Event], ...]] = _by_tag(Event)  # type: ignore[type-abstract]
"""The events that a bot writes; they change the state."""
CLAIMS: Final[tuple[type[Claim], ...]] = _by_tag(Claim)
"""The claims of sessions about themselves, imported beside the bot's events."""
