"""Telling people, once for each thing that waits for them."""

from msgspec.structs import replace

from convoy.events.fact import ConvoyEvent
from convoy.model.state import Convoy, Moment


class PeopleCalled(ConvoyEvent, frozen=True, kw_only=True, tag="people.called"):
    """People know that this waits for them: a comment said so, or they caused it."""

    needs: tuple[str, ...]
    """The keys of what waits, such as `blocked/3/2`."""

    def sentence(self) -> str:
        return f"People know what waits for them: {', '.join(self.needs)}."

    def convoy_after(self, convoy: Convoy, _now: Moment) -> Convoy:
        return replace(convoy, called=(*convoy.called, *self.needs))
