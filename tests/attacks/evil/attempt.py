"""The list of attempts: each is a function that returns what it won, or nothing."""

from collections.abc import Callable, Iterable
from secrets import token_hex
from typing import Final, TypeVar

from tests.attacks.evil.targets import Targets

T = TypeVar("T")
Attempt = Callable[[Targets], str]
ATTEMPTS: Final[dict[str, Attempt]] = {}
OWN: Final = token_hex(4)
"""In the names of what this run leaves, so that no other run of it is in its way."""


def attempt(function: Attempt) -> Attempt:
    ATTEMPTS[function.__name__.replace("_", " ")] = function
    return function


def first_won(trying: Callable[[T], str], each_of: Iterable[T]) -> str:
    """Return what the first one wins that wins anything.

    Raises `OSError`: none won, and this is what stopped the last one.
    """
    stopped: OSError | None = None
    for one in each_of:
        try:
            if won := trying(one):
                return won
        except OSError as error:
            stopped = error
    if stopped is not None:
        raise stopped
    return ""
