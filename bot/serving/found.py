"""What an examination found when it looked at one thing."""

from typing import Literal

from msgspec import Struct


class Found(Struct, frozen=True):
    """One thing that was looked at."""

    grade: Literal["ok", "note", "fault"]
    said: str
    mend: str = ""
    """What puts it right."""
