"""The fence around text from outside in a prompt: a name that nobody could guess."""

import hashlib
import re
from typing import Final

_FENCE: Final = re.compile(r"[A-Za-z0-9-]{8,80}")


def fence_of(session: str) -> str:
    """Return the fence of one session's prompt.

    `session` was drawn at random after all that the prompt quotes was written, and is
    in the log: so it is found again. It is hashed, for whoever knows it may speak as
    the session.
    """
    return f"data-{hashlib.blake2b(session.encode(), digest_size=8).hexdigest()}"


def fenced(text: str, fence: str) -> str:
    """Wrap a text for a model between two lines that do not occur in it.

    Args:
        text: data, from whoever.
        fence: a name that was drawn at random for this one prompt.

    Raises:
        ValueError: the fence is not 8 to 80 letters, digits and dashes.
    """
    if not _FENCE.fullmatch(fence):
        raise ValueError(
            f"a fence is 8 to 80 letters, digits and dashes, not {fence!r}"
        )
    data = re.sub(re.escape(fence), "\u2026", text, flags=re.IGNORECASE)
    return f"<{fence}>\n{data}\n</{fence}>"
