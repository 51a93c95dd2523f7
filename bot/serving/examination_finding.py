"""The result of one check in an examination."""

from typing import Literal

from msgspec import Struct


class Finding(Struct, frozen=True):
    """One checked thing."""

    grade: Literal["ok", "note", "fault"]
    said: str
    mend: str = ""
    """How to fix the fault."""
