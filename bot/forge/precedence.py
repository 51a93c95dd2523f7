"""Says who goes first when requests have to wait: answers to people, then sessions.

It is said once for a piece of work, and holds for every request that the work leads to.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from enum import IntEnum


class Precedence(IntEnum):
    """How long a request may be made to wait; the lowest goes first."""

    AT_ONCE = 0
    """A write that may be repeated and announces nothing: it waits for no other write,
    and needs no lease."""
    ANSWER = 1
    """Somebody waits for it."""
    START = 2
    """An agent's session starts by it, and all that stands on its work waits."""
    REST = 3

    @property
    def can_wait(self) -> bool:
        """Whether nobody waits for the answer."""
        return self > Precedence.ANSWER


_precedence: ContextVar[Precedence] = ContextVar("precedence", default=Precedence.REST)


@contextmanager
def going(precedence: Precedence) -> Iterator[None]:
    """Send the block's requests, and those of tasks that it starts, with precedence."""
    before = _precedence.set(precedence)
    try:
        yield
    finally:
        _precedence.reset(before)


def current() -> Precedence:
    """Return the precedence of requests that are made now."""
    return _precedence.get()
