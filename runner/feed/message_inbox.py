"""People's messages to a running session, and the place where they arrive."""

from collections.abc import Callable
from typing import NamedTuple, Protocol


class Message(NamedTuple):
    """What a person says to a running session."""

    number: int
    by: str
    text: str


class Inbox(Protocol):
    """Where messages arrive."""

    def listen(self, wake: Callable[[], None]) -> None:
        """Begin to ask for messages; call `wake`, from any thread, when one comes."""

    def take(self) -> tuple[Message, ...]:
        """Return the messages that are new, each once."""

    def heard(self, number: int) -> None:
        """Record that the engine was given the messages up to this one."""
