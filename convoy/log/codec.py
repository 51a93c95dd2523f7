"""The body of a grite comment that carries a brat event.

One sentence for people, an empty line, and as the last line `[brat]{canonical
JSON}[/brat]`. In all other text, and inside the JSON, the two marks are broken up, so
that nobody's text can pass for an event.
"""

from functools import reduce
from operator import or_

import msgspec

from convoy.events import CLAIMS, EVENTS, Claim, Event

OPEN, CLOSE = "[brat]", "[/brat]"
VERSION = 1

_encoder = msgspec.json.Encoder(order="sorted")
_decoder: msgspec.json.Decoder[Event | Claim] = msgspec.json.Decoder(
    reduce(or_, (*EVENTS, *CLAIMS))
)


class UnknownFact(msgspec.Struct, frozen=True):
    """A brat event this version does not know; a bot that meets one goes read-only."""

    type: str


_tag_decoder = msgspec.json.Decoder(dict[str, msgspec.Raw])


def body_of(fact: Event | Claim, sentence: str) -> str:
    """Return the comment body that says `sentence` and carries `fact`."""
    text = _encoder.encode(fact).decode()
    # `[` is the only character of the marks that JSON lets us write in another way.
    text = text.replace(OPEN, "\\u005bbrat]").replace(CLOSE, "\\u005b/brat]")
    return f"{broken_up(sentence)}\n\n{OPEN}{text}{CLOSE}"


def fact_of(body: str) -> Event | Claim | UnknownFact | None:
    """Return the fact a comment body carries; None when it is just a comment.

    A line that has the marks and a known type but a form or a version that is not ours
    is an `UnknownFact` too: half an event must not be taken for none.
    """
    if not body.endswith(CLOSE):
        return None
    line = body[body.rfind("\n") + 1 :]
    if not line.startswith(OPEN):
        return None
    text = line[len(OPEN) : -len(CLOSE)]
    try:
        fact = _decoder.decode(text)
    except (msgspec.ValidationError, RecursionError):
        return UnknownFact(_type_in(text))
    except msgspec.DecodeError:
        return None
    return fact if fact.v == VERSION else UnknownFact(_type_in(text))


def broken_up(text: str) -> str:
    """Return `text` with the marks broken up; safe to call twice."""
    return text.replace(OPEN, "[ brat]").replace(CLOSE, "[ /brat]")


def _type_in(text: str) -> str:
    try:
        raw = _tag_decoder.decode(text).get("type", msgspec.Raw(b'"?"'))
        return str(msgspec.json.decode(raw))
    except (msgspec.DecodeError, RecursionError):
        return "?"
