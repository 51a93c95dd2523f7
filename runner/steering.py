"""What a running engine is told by people: its prompt first, then what they say.

A message counts as heard when all of it stands in the engine's standard input. After
the engine's own end of its work nothing more is said, unless it came before.
"""

from collections.abc import Callable
from typing import NamedTuple, Protocol

from runner.engines.events import Cost, Result, Said, Usage


class Message(NamedTuple):
    """What a person says to a running session."""

    number: int
    by: str
    text: str


class Inbox(Protocol):
    """Where messages come in."""

    def listen(self, wake: Callable[[], None]) -> None:
        """Begin to ask for messages; call `wake`, from any thread, when one came."""

    def take(self) -> tuple[Message, ...]:
        """Return what came since, each once."""

    def heard(self, number: int) -> None:
        """Say that the engine was given the messages up to this one."""


class Steering:
    """Talks to one engine."""

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
        """Return what is to be said now; see `runner.mouth.Talk`."""
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
        """Take what the engine says: it may be done."""
        if isinstance(said, Result):
            self._is_done = True


class Since:
    """What was used since the last count, for an engine that counts from its start."""

    def __init__(self) -> None:
        self._tokens: dict[str, Usage] = {}
        self._usd = 0.0

    def __call__(self, said: Said) -> Said:
        """Return what was said; a count, less what was counted before."""
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
