"""Signals for who loads little: by Linux's own numbers, and without enums.

The module `signal` loads `enum`, which takes half as long as Python's own start.
https://man7.org/linux/man-pages/man7/signal.7.html
"""

import ctypes

HUP, INT, KILL, PIPE, TERM, CHLD, STOP, XFSZ = 1, 2, 9, 13, 15, 17, 19, 25
"""On x86 and ARM, which are the only ones that have boxes."""
DEFAULT, IGNORED = 0, 1
_libc = ctypes.CDLL(None)
_libc.signal.argtypes = ctypes.c_int, ctypes.c_void_p
_libc.signal.restype = ctypes.c_void_p


def heed(how: int, *numbers: int) -> None:
    """Let signals do what they do by default, or nothing."""
    for each in numbers:
        _libc.signal(each, how)
