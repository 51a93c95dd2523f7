"""Every brat event: what happened, in the past tense, with all the fold needs.

A file holds what belongs to one subject: its events, each with its sentence and its
fold. An event is a frozen struct whose JSON form carries `v` and `type` (noun dot
participle). Every subclass that stands in another file than `fact` is a kind: the
codec, the fold and docs/log-format.md find it here.
"""

from collections.abc import Iterator
from importlib import import_module
from os import listdir
from typing import Final, TypeVar

from convoy.events.fact import Claim, Event, Fact

__all__ = ["CLAIMS", "EVENTS", "Claim", "Event", "Fact"]

_Kind = TypeVar("_Kind", bound=Fact)


def _kinds(of: type[_Kind]) -> Iterator[type[_Kind]]:
    for kind in of.__subclasses__():
        if kind.__module__ != Fact.__module__:
            yield kind
        yield from _kinds(kind)


def _by_tag(of: type[_Kind]) -> tuple[type[_Kind], ...]:
    return tuple(sorted(_kinds(of), key=lambda kind: str(kind.__struct_config__.tag)))


# Neither pkgutil nor pathlib, which would cost each start of the runner some 6 ms.
for _file in sorted(listdir(__path__[0])):  # noqa: PTH208
    if _file.endswith(".py") and not _file.startswith("_"):
        import_module(f"{__name__}.{_file.removesuffix('.py')}")

EVENTS: Final[tuple[type[Event], ...]] = _by_tag(Event)
"""The events that a bot writes; they change the state."""
CLAIMS: Final[tuple[type[Claim], ...]] = _by_tag(Claim)
"""The claims of sessions about themselves, imported beside the bot's events."""
