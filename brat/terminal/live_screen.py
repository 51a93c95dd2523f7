"""A live screen: redrawn in one piece on every change, until `q` is pressed.

It uses the terminal's alternate screen and restores keys and cursor, however it ends.
The screen is never cleared before it is drawn, so nothing flickers.
"""

import contextlib
import os
import select
import signal
import sys
import termios
import tty
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from rich.console import Group, RenderableType

from brat.terminal.console import out
from brat.terminal.pinning import View, pinned_lines
from brat.terminal.scrolling import foot, scrolled

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

    Args:
        see: returns the view.
        head: the line above what is pinned.
        more: where all of that is to be seen.

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
            typed = _typed(keys)


def _lines(shown: RenderableType) -> list[str]:
    """Return a view's lines, none wider than the terminal."""
    with out.capture() as captured:
        out.print(shown, soft_wrap=False, no_wrap=True, overflow="ellipsis", crop=True)
    return captured.get().splitlines()


def _frame(top: list[str], lines: list[str], first: int, room: int) -> str:
    """Return the lines that fit the terminal, with a last line on the keys."""
    width = max(0, out.size.width)
    last = foot(first, len(lines), room)[:width]
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


def _typed(keys: int | None) -> bytes:
    """Wait briefly, and return the keys typed meanwhile."""
    ready, _, _ = select.select([] if keys is None else [keys], [], [], LOOK_S)
    return os.read(keys, 1024) if ready and keys is not None else b""


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
