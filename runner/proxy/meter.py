"""Counts what a session uses, and says when it is enough. No input or output."""

from convoy.events import Usage
from convoy.usage import plus, priced, tokens
from runner.wire import Caps, Metered


class Meter:
    """One session's counts, against its caps."""

    def __init__(self, caps: Caps) -> None:
        self._caps = caps
        self._calls = 0
        self._used = Usage()

    def called(self) -> None:
        """Count a call that is let through."""
        self._calls += 1

    def add(self, said: Metered) -> None:
        """Count the tokens of one answer."""
        used = Usage(
            input_tokens=said.input_tokens,
            cached_tokens=said.cached_tokens,
            output_tokens=said.output_tokens,
        )
        self._used = plus(self._used, priced(used, None, self._caps.price))

    def spent(self) -> str:
        """Return what is used up, such as `200 model calls`; empty: nothing is."""
        caps, used = self._caps, self._used
        if caps.calls is not None and self._calls >= caps.calls:
            return f"{caps.calls} model calls"
        if caps.tokens is not None and tokens(used) >= caps.tokens:
            return f"{caps.tokens} tokens"
        if caps.usd is not None and caps.price and used.usd >= caps.usd:
            return f"${caps.usd:.2f}"
        return ""
