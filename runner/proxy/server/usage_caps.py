"""Counts a session's usage and says when a cap is met. No input or output."""

from convoy.model.records import Usage
from convoy.model.session_result import plus, priced, tokens
from runner.proxy.proxy_protocol import Caps, Metered


class UsageMeter:
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
        """Return the cap that is met, such as `200 model calls`, or ""."""
        caps, used = self._caps, self._used
        if caps.calls is not None and self._calls >= caps.calls:
            return f"{caps.calls} model calls"
        if caps.tokens is not None and tokens(used) >= caps.tokens:
            return f"{caps.tokens} tokens"
        if caps.usd is not None and caps.price and used.usd >= caps.usd:
            return f"${caps.usd:.2f}"
        return ""
