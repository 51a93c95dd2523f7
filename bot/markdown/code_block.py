"""Shows foreign text of several lines as code, so that it does nothing."""

import re

from convoy.log import broken_up
from convoy.text import clean

_FENCES = re.compile(r"`{3,}")


def code_block(text: str) -> str:
    """Return `text` as a fenced block that nothing in it ends.

    A forge finds no mention, number, tag or link in code.
    """
    shown = broken_up(clean(text)).strip("\n")
    longest = max((len(found) for found in _FENCES.findall(shown)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}\n{shown}\n{fence}"
