"""Which lines of a long screen are shown, and the keys that move it. Pure."""

import re
from typing import Final

_KEYS: Final = re.compile(
    rb"\x1b\[[AB]|\x1b\[[56]~|\x1b\[[HF]|\x1b\[[14]~|\x1bO[ABHF]|[jkgG bd]"
)
"""https://invisible-island.net/xterm/ctlseqs/ctlseqs.html#h2-PC-Style-Function-Keys"""
_LINES: Final = {
    **dict.fromkeys((b"j", b"\x1b[B", b"\x1bOB"), 1),
    **dict.fromkeys((b"k", b"\x1b[A", b"\x1bOA"), -1),
}
_PAGES: Final = {
    **dict.fromkeys((b" ", b"d", b"\x1b[6~"), 1),
    **dict.fromkeys((b"b", b"\x1b[5~"), -1),
}
_TOP: Final = frozenset((b"g", b"\x1b[H", b"\x1b[1~", b"\x1bOH"))
_BOTTOM: Final = frozenset((b"G", b"\x1b[F", b"\x1b[4~", b"\x1bOF"))


def scrolled(first: int, typed: bytes, count: int, room: int) -> int:
    """Return the first line to show, from 0.

    Args:
        first: the one shown so far.
        typed: the keys since then: arrows, page keys, Home and End, or j, k, space, b,
            g and G; others do nothing.
        count: how many lines there are.
        room: how many of them fit.
    """
    last = max(0, count - room)
    for key in _KEYS.findall(typed):
        page = max(1, room - 1)
        first += _LINES.get(key, 0) + page * _PAGES.get(key, 0)
        first = 0 if key in _TOP else last if key in _BOTTOM else first
        first = min(max(first, 0), last)
    return min(first, last)


def foot(first: int, count: int, room: int) -> str:
    """Return the last line of the screen: what is shown, and the keys."""
    if count <= room:
        return "q leaves"
    last = min(first + room, count)
    return f"lines {first + 1} to {last} of {count}; arrows or j and k scroll; q leaves"
