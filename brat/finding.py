"""What the doctor found when it looked at one thing."""

from typing import Literal

from msgspec import Struct

Grade = Literal["ok", "note", "fault"]


class Finding(Struct, frozen=True):
    """One thing that was looked at."""

    grade: Grade
    said: str
    mend: str = ""
    """What puts it right."""
