"""The count of attempts in a row that brought no work; too many stop everything.

One broken key, image or vendor fails every attempt; each costs money. Work that comes
in, and a person who lets things go on, begin the count anew. A vendor's outage has its
own patience and does not count.
"""

from msgspec.structs import replace

from convoy.model.state import State


def without_failures(state: State) -> State:
    """Return the state with the count at zero."""
    return replace(state, failures=0) if state.failures else state


def with_failure(state: State) -> State:
    """Return the state with one more failure counted."""
    return replace(state, failures=state.failures + 1)
