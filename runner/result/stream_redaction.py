"""Removes secrets from a stream of output: known ones, and text that looks like one.

Output arrives in pieces that may cut a secret in two, so only whole lines are passed
on. The last part of an unfinished line is held back; this part is longer than any
secret.
"""

import codecs

from convoy.text import Redaction

LINE_CHARS = 65_536
HELD_BACK_CHARS = 4096


class RedactedStream:
    """One stream; bytes that are not UTF-8 become U+FFFD."""

    def __init__(self, redaction: Redaction) -> None:
        self._redaction = redaction
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._held = ""

    def feed(self, chunk: bytes) -> str:
        """Return the output that may be shown now; empty when no line has ended."""
        self._held += self._decoder.decode(chunk)
        cut = self._held.rfind("\n") + 1
        if cut == 0 and len(self._held) > LINE_CHARS:
            self._held = self._redaction(self._held)
            cut = len(self._held) - HELD_BACK_CHARS
        return self._release(cut)

    def close(self) -> str:
        """Return the rest of the output."""
        self._held += self._decoder.decode(b"", final=True)
        return self._release(len(self._held))

    def _release(self, cut: int) -> str:
        shown, self._held = self._held[:cut], self._held[cut:]
        return self._redaction(shown)
