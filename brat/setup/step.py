"""What a step of `brat setup` is: what there is, what is owed, and how it is done."""

from typing import Literal, Protocol

from msgspec import Struct

State = Literal["wanted", "owed", "by hand"]


class Look(Struct, frozen=True):
    """What one look at a repository found."""

    state: State
    said: str
    """What is there; of what is owed: what would be done."""


class Step(Protocol):
    """One thing that a repository needs.

    Both methods raise `Refused` where the token may not, and `Unavailable` where the
    forge does not answer.
    """

    @property
    def by_hand(self) -> str:
        """What a person does where the token may not."""

    async def look(self) -> Look:
        """Return how things are now; nothing is changed."""

    async def do(self) -> None:
        """Do what is owed; safe to call again after it was cut off."""


def wanted(said: str) -> Look:
    """Return that nothing is left to do."""
    return Look("wanted", said)


def owed(said: str) -> Look:
    """Return what would be done."""
    return Look("owed", said)


def for_a_person(said: str) -> Look:
    """Return what only a person can do or decide."""
    return Look("by hand", said)
