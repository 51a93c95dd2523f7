"""A live screen: redrawn in one piece on every change, until `q` is pressed.

It uses the terminal's alternate screen and restores keys and cursor, however it ends.
The screen is never cleared before it is drawn, so nothing flickers. The first part of a
view stays on top while the rest scrolls.
"""

import contextlib
import os
import re
import select
import signal
import sys
import termios
import tty
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from msgspec import Struct
from rich.console import Group, RenderableType

from brat.terminal.console import out

SHARE: Final = 3
"""At most one of so many lines of the screen is pinned."""


class View(Struct, frozen=True):
    rest: RenderableType
    """What is scrolled."""
    pinned: tuple[RenderableType, ...] = ()
    """What stays on top, the most important first."""


def pinned_lines(
    head: str, items: Sequence[Sequence[str]], more: str, lines: int
) -> list[str]:
    """Return the lines to pin below `head`; none of `items`: none.

    An item is shown whole or only counted; of one that is too long the beginning is.
    `more` says where the rest is to be seen, `lines` how many the screen has.
    """
    most = max(1, lines // SHARE)
    whole = [head, *(line for item in items for line in item)]
    if not items:
        return []
    if len(whole) <= most:
        return whole
    room = most - 2  # beside the head and the count
    if room <= 0:
        return [f"{head} {len(items)} (see {more})"]
    kept: list[str] = []
    left = list(items)
    while left and len(kept) + len(left[0]) <= room:
        kept += left.pop(0)
    if not kept:
        kept += left.pop(0)[:room]
    count = f"and {len(left)} more" if left else "and more"
    return [head, *kept, f"  {count} (see {more})"]


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
    """Return the first of `count` lines to show, from 0; `room` of them fit.

    `typed` holds arrows, page keys, Home and End, or j, k, space, b, g and G; others do
    nothing.
    """
    last = max(0, count - room)
    for key in _KEYS.findall(typed):
        page = max(1, room - 1)
        first += _LINES.get(key, 0) + page * _PAGES.get(key, 0)
        first = 0 if key in _TOP else last if key in _BOTTOM else first
        first = min(max(first, 0), last)
    return min(first, last)


LOOK_S: Final = 0.25
"""How often it checks for changes and for a new terminal size."""
_LEAVE: Final = frozenset(b"qQ\x04")
_ENTER: Final = "\x1b[?1049h\x1b[?25l\x1b[?7l"
_RETURN: Final = "\x1b[?7h\x1b[?25h\x1b[?1049l"
# A terminal without synchronised updates ignores these codes.
# https://gist.github.com/christianparpart/d8a62cc1ab659194337d73e399004036
_BEGIN: Final = "\x1b[?2026h\x1b[H"
_END: Final = "\x1b[J\x1b[?2026l"
_LINE_END: Final = "\x1b[0m\x1b[K\r\n"

See = Callable[[], View]
"""A function that returns the view to show now."""


def watch(see: See, head: str, more: str) -> None:
    """Show the view until `q` is pressed; without a terminal, print every change.

    `head` stands above what is pinned, `more` says where all of that is to be seen.

    Raises:
        KeyboardInterrupt: Ctrl-C was pressed.
        SystemExit: the process was asked to end.
    """
    if not out.is_terminal or out.is_dumb_terminal:
        _listed(see, head)
        return
    with _ended_in_order(), _screen(), _keys() as keys:
        drawn, first, typed = "", 0, b""
        while not _LEAVE & frozenset(typed):
            view, height = see(), out.size.height - 1
            items = [_lines(each) for each in view.pinned]
            top = pinned_lines(head, items, more, height + 1)
            lines, room = _lines(view.rest), max(1, height - len(top))
            first = scrolled(first, typed, len(lines), room)
            frame = _frame(top, lines, first, room)
            if frame != drawn:
                _send(f"{_BEGIN}{frame}{_END}")
                drawn = frame
            ready, _, _ = select.select([] if keys is None else [keys], [], [], LOOK_S)
            typed = os.read(keys, 1024) if ready and keys is not None else b""


def _lines(shown: RenderableType) -> list[str]:
    """Return a view's lines, none wider than the terminal."""
    with out.capture() as captured:
        out.print(shown, soft_wrap=False, no_wrap=True, overflow="ellipsis", crop=True)
    return captured.get().splitlines()


def _frame(top: list[str], lines: list[str], first: int, room: int) -> str:
    """Return the lines that fit the terminal, with a last line on the keys."""
    last = "q quits"
    if len(lines) > room:
        shown = f"lines {first + 1} to {min(first + room, len(lines))} of {len(lines)}"
        last = f"{shown}; arrows or j and k scroll; q quits"
    last = last[: max(0, out.size.width)]
    seen = (*top, *lines[first : first + room])
    return "".join(f"{line}{_LINE_END}" for line in seen) + f"{last}\x1b[K"


def _listed(see: See, head: str) -> None:
    shown = ""
    while True:
        view = see()
        pinned = (head, *view.pinned) if view.pinned else ()
        with out.capture() as captured:
            out.print(Group(*pinned, view.rest))
        if captured.get() != shown:
            shown = captured.get()
            _send(shown)
        select.select([], [], [], LOOK_S)


def _send(text: str) -> None:
    out.file.write(text)
    out.file.flush()


@contextmanager
def _screen() -> Iterator[None]:
    _send(_ENTER)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):  # the terminal may be gone
            _send(_RETURN)


@contextmanager
def _keys() -> Iterator[int | None]:
    """Yield a file descriptor for single keys; None: there is no terminal."""
    if not sys.stdin.isatty():
        yield None
        return
    keys = sys.stdin.fileno()
    before = termios.tcgetattr(keys)
    try:
        tty.setcbreak(keys, termios.TCSADRAIN)
        yield keys
    finally:
        with contextlib.suppress(termios.error):
            termios.tcsetattr(keys, termios.TCSAFLUSH, before)


@contextmanager
def _ended_in_order() -> Iterator[None]:
    """Turn a terminating signal into an exception, so that the terminal is restored."""

    def end(number: int, _frame: object) -> None:
        raise SystemExit(128 + number)

    before = {
        each: signal.signal(each, end) for each in (signal.SIGTERM, signal.SIGHUP)
    }
    try:
        yield
    finally:
        for each, was in before.items():
            signal.signal(each, was)
