"""The boxes in a convoy's comment, and the request that each tick makes. Pure.

A tick makes the same request as a command, and needs the same right.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from bot.text.convoy_comment import convoy_table
from bot.text.slash_commands import box_line
from bot.verbs.verb import Request
from bot.verbs.verb_table import BY_NAME, VERBS
from convoy.model import ids
from convoy.model.ids import SetAside
from convoy.model.state import Convoy, Lease


class Offered(NamedTuple):
    """One box on offer."""

    key: str
    """`verb` or `verb/task`."""
    says: str


def offered(convoy: Convoy) -> tuple[Offered, ...]:
    """Return the boxes on offer now."""
    return tuple(_offered(convoy))


def _offered(convoy: Convoy) -> Iterator[Offered]:
    for verb in VERBS:
        if verb.box is not None:
            for task in verb.box.offered(convoy):
                key = f"{verb.name}/{task}" if task else verb.name
                yield Offered(key, verb.box.says.format(task=task))


def convoy_comment(
    convoy: Convoy,
    ticked: frozenset[str] = frozenset(),
    asides: Sequence[SetAside] = (),
    leases: Iterable[Lease] = (),
    web: str = "",
) -> str:
    """Return the one comment that shows a convoy and its boxes, as Markdown.

    Args:
        convoy: the convoy.
        ticked: keys of boxes that a person ticked and the bot has not handled yet.
        asides: what of the convoy is set aside beside its tasks.
        leases: those that have not run out.
        web: the repository's web address, for links to runs; empty: no links.
    """
    lines = [
        box_line(box.key, box.says, ticked=box.key in ticked) for box in offered(convoy)
    ]
    surface = ("", *lines) if lines else ()
    marker = ids.marker(ids.comment_key(convoy.name, convoy.deleted_comments))
    return "\n".join((marker, convoy_table(convoy, asides, leases, web), *surface))


def request_of(key: str) -> Request | None:
    """Return the request of a box; None: there is no such box."""
    name, _, number = key.partition("/")
    verb = BY_NAME.get(name)
    if verb is None or verb.box is None or bool(number) != verb.box.of_task:
        return None
    return Request(name, {"task": int(number)} if number else {})
