"""Gives a running engine its prompt, and then people's messages.

A message counts as heard when all of it is in the engine's standard input. Once the
engine has ended its work, it gets only messages that came before that.
"""

from collections.abc import Callable

from runner.engines.engine_events import Cost, Result, Said, Usage
from runner.feed.message_inbox import Inbox, Message


class Steering:
    """Writes to one engine."""

    def __init__(
        self, prompt: bytes, inbox: Inbox, says: Callable[[Message], bytes]
    ) -> None:
        """Begin with a prompt; `says` words a message for the engine's input."""
        self._unsaid: bytes | None = prompt
        self._inbox = inbox
        self._says = says
        self._given = 0
        self._is_done = False

    def next(self) -> bytes | None:
        """Return the next bytes for the engine; see `stdin_writer.InputSource`."""
        if self._unsaid is not None:
            prompt, self._unsaid = self._unsaid, None
            return prompt
        if self._given:
            self._inbox.heard(self._given)
            self._given = 0
        messages = self._inbox.take()
        if messages:
            self._given = messages[-1].number
            self._is_done = False
            return b"".join(map(self._says, messages))
        return None if self._is_done else b""

    def note(self, said: Said) -> None:
        """Take an event of the engine, which may say that it is done."""
        if isinstance(said, Result):
            self._is_done = True


class Since:
    """What was used since the last count, for an engine that counts from its start."""

    def __init__(self) -> None:
        self._tokens: dict[str, Usage] = {}
        self._usd = 0.0

    def __call__(self, said: Said) -> Said:
        """Return the event; a count is reduced by what was counted before."""
        if isinstance(said, Usage):
            before = self._tokens.get(said.model, Usage())
            self._tokens[said.model] = said
            return Usage(
                model=said.model,
                input_tokens=max(0, said.input_tokens - before.input_tokens),
                cached_tokens=max(0, said.cached_tokens - before.cached_tokens),
                output_tokens=max(0, said.output_tokens - before.output_tokens),
            )
        if isinstance(said, Cost):
            usd, self._usd = said.usd - self._usd, said.usd
            return Cost(usd=max(0.0, usd))
        return said
