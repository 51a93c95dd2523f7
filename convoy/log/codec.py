"""The event that the body of a grite comment carries, of all kinds there are."""

from functools import reduce
from operator import or_

import msgspec

from convoy.events import Claim, Event
from convoy.events.event_kinds import CLAIMS, EVENTS
from convoy.log.event_body import VERSION, json_in

_decoder: msgspec.json.Decoder[Event | Claim] = msgspec.json.Decoder(
    reduce(or_, (*EVENTS, *CLAIMS))
)


class UnknownFact(msgspec.Struct, frozen=True):
    """A brat event this version does not know; a bot that meets one goes read-only."""

    type: str


_tag_decoder = msgspec.json.Decoder(dict[str, msgspec.Raw])


def fact_of(body: str) -> Event | Claim | UnknownFact | None:
    """Return the fact a comment body carries; None when it is just a comment.

    A line that has the marks and a known type but a form or a version that is not ours
    is an `UnknownFact` too: half an event must not be taken for none.
    """
    text = json_in(body)
    if text is None:
        return None
    try:
        fact = _decoder.decode(text)
    except (msgspec.ValidationError, RecursionError):
        return UnknownFact(_type_in(text))
    except msgspec.DecodeError:
        return None
    return fact if fact.v == VERSION else UnknownFact(_type_in(text))


def _type_in(text: str) -> str:
    try:
        raw = _tag_decoder.decode(text).get("type", msgspec.Raw(b'"?"'))
        return str(msgspec.json.decode(raw))
    except (msgspec.DecodeError, RecursionError):
        return "?"
