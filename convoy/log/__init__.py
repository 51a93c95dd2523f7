"""The body of a grite comment that carries a brat event; `record` folds them.

One sentence for people, an empty line, and as the last line `[brat]{canonical
JSON}[/brat]`. In all other text, and inside the JSON, the two marks are broken up, so
that nobody's text can pass for an event. A runner loads this much of the log and no
more.
"""

from typing import Final

import msgspec

from convoy.events import Claim, Event

OPEN, CLOSE = "[brat]", "[/brat]"
VERSION: Final = 1
FORMER_EVENTS: Final = frozenset(
    {
        "conflict.foreseen",
        *("part.requested", "part.offered", "part.failed", "part.landed"),
    }
)
"""The types of events that no bot writes any more. An old log's are passed over."""

_encoder = msgspec.json.Encoder(order="sorted")


def body_of(fact: Event | Claim, sentence: str) -> str:
    """Return the comment body that says `sentence` and carries `fact`."""
    text = _encoder.encode(fact).decode()
    # `[` is the only character of the marks that JSON lets us write in another way.
    text = text.replace(OPEN, "\\u005bbrat]").replace(CLOSE, "\\u005b/brat]")
    return f"{broken_up(sentence)}\n\n{OPEN}{text}{CLOSE}"


def event_json(body: str) -> str | None:
    """Return the JSON that a body carries; None: it is just a comment."""
    line = body.rfind("\n") + 1
    is_event = body.endswith(CLOSE) and body.startswith(OPEN, line)
    return body[line + len(OPEN) : -len(CLOSE)] if is_event else None


def broken_up(text: str) -> str:
    """Return `text` with the marks broken up; safe to call twice."""
    return text.replace(OPEN, "[ brat]").replace(CLOSE, "[ /brat]")
