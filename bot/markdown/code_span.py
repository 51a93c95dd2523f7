"""Shows foreign words in the bot's own sentences as code, so that they do nothing."""

from convoy.log import broken_up
from convoy.text import clean, cut

WORD_CHARS = 60


def code_span(text: str, limit: int = WORD_CHARS) -> str:
    """Return `text` as one line of inline code, at most `limit` characters and a pair.

    A forge finds no mention, number, tag or link in code. Back quotes become straight
    ones, so that nothing ends the code early.
    """
    line = " ".join(clean(text).replace("`", "'").split())
    return f"`{cut(broken_up(line), limit) or ' '}`"
