"""`brat doctor`: report what is wrong here and how to repair it; what a finding is."""

from typing import Literal

from msgspec import Struct

Grade = Literal["ok", "note", "fault"]


class Finding(Struct, frozen=True):
    grade: Grade
    said: str
    mend: str = ""
    """How to repair it."""
