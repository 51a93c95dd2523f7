"""All convoys by name, in the order they were asked for; those that rest are packed.

One value with two ways of holding it: packed or not, it is equal to itself, and who
asks for a convoy gets it whole. A change copies only the convoys at hand.
"""

from collections.abc import Callable, Iterator, Mapping, ValuesView
from typing import Generic, Protocol, TypeVar

from convoy.model.convoy_summary import ConvoySummary


class Summarized(Protocol):
    """What has a name and a summary."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def summary(self) -> ConvoySummary:
        """What is known of it without reading it whole."""


C = TypeVar("C", bound=Summarized)


class Packed(Generic[C]):
    """A convoy as bytes, unpacked when it is first asked for."""

    __slots__ = ("_unpack", "_whole", "data", "summary")

    def __init__(
        self, summary: ConvoySummary, data: bytes, unpack: Callable[[bytes], C]
    ) -> None:
        self.summary = summary
        self.data = data
        self._unpack = unpack
        self._whole: C | None = None

    @property
    def whole(self) -> C:
        """The convoy; the same object each time."""
        if self._whole is None:
            self._whole = self._unpack(self.data)
        return self._whole


class Convoys(Mapping[str, C]):
    """The convoys; never changed, a change gives a new value."""

    __slots__ = ("_order", "at_hand", "packed")

    def __init__(
        self,
        at_hand: Mapping[str, C] | None = None,
        packed: Mapping[str, Packed[C]] | None = None,
        order: tuple[str, ...] = (),
    ) -> None:
        self.at_hand: Mapping[str, C] = at_hand or {}
        """Those that are not packed."""
        self.packed: Mapping[str, Packed[C]] = packed or {}
        self._order = order or (*self.packed, *self.at_hand)

    def having(self, convoy: C) -> "Convoys[C]":
        """Return these with `convoy` replacing the one of its name, or as the last."""
        name = convoy.name
        at_hand, packed = {**self.at_hand, name: convoy}, self.packed
        if name in self.at_hand:
            return Convoys(at_hand, packed, self._order)
        if name not in packed:
            return Convoys(at_hand, packed, (*self._order, name))
        packed = {key: value for key, value in packed.items() if key != name}
        at_hand = {key: at_hand[key] for key in self._order if key in at_hand}
        return Convoys(at_hand, packed, self._order)

    def packing(
        self, rests: Callable[[C], bool], pack: Callable[[C], Packed[C]]
    ) -> "Convoys[C]":
        """Return the same convoys, those packed that rest."""
        resting = {
            name: pack(convoy) for name, convoy in self.at_hand.items() if rests(convoy)
        }
        if not resting:
            return self
        held = {**self.packed, **resting}
        at_hand = {
            name: convoy for name, convoy in self.at_hand.items() if name not in resting
        }
        packed = {name: held[name] for name in self._order if name in held}
        return Convoys(at_hand, packed, self._order)

    def summaries(self) -> Iterator[tuple[str, ConvoySummary]]:
        """Yield each convoy's name and summary; none is unpacked."""
        for name in self._order:
            held = self.packed.get(name) or self.at_hand[name]
            yield name, held.summary

    def values(self) -> "_Values[C]":
        """Return the convoys, each unpacked as it is reached."""
        return _Values(self)

    def __getitem__(self, name: str) -> C:
        if name in self.at_hand:
            return self.at_hand[name]
        return self.packed[name].whole

    def __contains__(self, name: object) -> bool:
        return name in self.at_hand or name in self.packed

    def __iter__(self) -> Iterator[str]:
        return iter(self._order)

    def __reversed__(self) -> Iterator[str]:
        return reversed(self._order)

    def __len__(self) -> int:
        return len(self._order)

    def __repr__(self) -> str:
        return f"Convoys({[*self._order]})"


class _Values(ValuesView[C]):
    _mapping: Convoys[C]

    def __reversed__(self) -> Iterator[C]:
        return (self._mapping[name] for name in reversed(self._mapping))
