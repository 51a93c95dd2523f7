"""Reads the report of the process that builds a box: which walls it built, or why none.

The process stands between the witness and each program of an agent, and loads no
library; so it reports by plain words, `files=namespaces processes=namespaces`.
"""

from typing import Final

import msgspec

from convoy.model.session_result import Walls

REFUSED: Final = "!"
"""The beginning of a report that says why there is no box."""
_SILENT: Final = "it ended before it stood"


class Report(msgspec.Struct, frozen=True):
    """What a box reports of itself."""

    walls: Walls = Walls()
    is_off: bool = False
    """Whether the configuration has turned the box off."""
    why: str = ""
    """Why there is no box; empty: there is one."""

    def refusal(self, *, is_killed: bool = False) -> str:
        """Return a sentence on why the program was not started; empty: it was.

        Args:
            is_killed: the program was ended from outside, as by a signal. A box that
                has said nothing was then ended with it, and the machine gives others.
        """
        if self.is_off or not self.why or (is_killed and self.why == _SILENT):
            return ""
        return (
            f"This machine gives agents no box ({self.why}), and without one none is "
            'started; use a machine that does, or set [runner] box = "off".'
        )


def read(text: str) -> Report:
    """Return what a report says.

    Raises:
        msgspec.ValidationError: it names a wall that there is not.
    """
    if not text or text.startswith(REFUSED):
        why = text.removeprefix(REFUSED).strip()
        return Report(why=why or _SILENT)
    named = dict(word.split("=", 1) for word in text.split())
    return Report(walls=msgspec.convert(named, Walls))
