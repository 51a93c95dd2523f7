"""The base of every record: an id."""

from msgspec import Struct


class Record(Struct, frozen=True, kw_only=True):
    """What every record has."""

    id: int


class Sequence(Record, frozen=True, kw_only=True):
    """The last id that was given; there is one, with the id 0."""

    last: int
