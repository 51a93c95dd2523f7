"""One finding of `brat doctor`."""

from typing import Literal

from msgspec import Struct

Grade = Literal["ok", "note", "fault"]


class Finding(Struct, frozen=True):
    """The result of one check."""

    grade: Grade
    said: str
    mend: str = ""
    """How to repair it."""
