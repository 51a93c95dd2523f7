"""What is made once for each forge's file, such as the tables that it holds."""

from collections.abc import Callable
from typing import TypeVar
from weakref import WeakKeyDictionary

from brat.forge.storage.record_store import Store

T = TypeVar("T")


def per_store(make: Callable[[Store], T]) -> Callable[[Store], T]:
    """Return a function that gives a file's own, the same each time."""
    known = WeakKeyDictionary[Store, T]()

    def of(store: Store) -> T:
        if store not in known:
            known[store] = make(store)
        return known[store]

    return of
