"""A stream of output without secrets: those we know, and what looks like one.

Output arrives in pieces that may cut a secret in two, so only whole lines are let go;
of a line without end all but its last part, which is longer than any secret.
"""

import codecs
import re
from collections.abc import Iterable

HIDDEN = "***"
LINE_CHARS = 65_536
HELD_BACK_CHARS = 4096
SHORTEST = 8
"""A shorter value would hide ordinary words."""

# GitHub, OpenAI and Anthropic, AWS, Slack, JSON web tokens.
# https://github.blog/engineering/platform-security/behind-githubs-new-authentication-token-formats/
_SHAPES = (
    r"\bgh[pousr]_[A-Za-z0-9]{16,}",
    r"\bgithub_pat_\w{20,}",
    r"\bsk-[\w-]{20,}",
    r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b",
    r"\bxox[abeprs]-[\w-]{10,}",
    r"\beyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]{5,}",
)


class Redaction:
    """Hides secrets in texts."""

    def __init__(self, secrets: Iterable[str]) -> None:
        known = sorted({each for each in secrets if len(each) >= SHORTEST}, key=len)
        # The longest first: one may be the beginning of another.
        parts = [*(re.escape(each) for each in reversed(known)), *_SHAPES]
        self._pattern = re.compile("|".join(parts))

    def __call__(self, text: str) -> str:
        """Return `text` with its secrets hidden; safe to call twice."""
        return self._pattern.sub(HIDDEN, text)


class Redacted:
    """One stream; bytes that are not UTF-8 become U+FFFD."""

    def __init__(self, redaction: Redaction) -> None:
        self._redaction = redaction
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._held = ""

    def feed(self, chunk: bytes) -> str:
        """Return what may be shown now; empty when no line has ended."""
        self._held += self._decoder.decode(chunk)
        cut = self._held.rfind("\n") + 1
        if cut == 0 and len(self._held) > LINE_CHARS:
            self._held = self._redaction(self._held)
            cut = len(self._held) - HELD_BACK_CHARS
        return self._release(cut)

    def close(self) -> str:
        """Return the rest."""
        self._held += self._decoder.decode(b"", final=True)
        return self._release(len(self._held))

    def _release(self, cut: int) -> str:
        shown, self._held = self._held[:cut], self._held[cut:]
        return self._redaction(shown)
