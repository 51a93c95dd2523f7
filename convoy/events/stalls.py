"""A convoy whose landing waits for a person, and that a person lets go on."""

from msgspec.structs import replace

from convoy.events.fact import ConvoyEvent, clause
from convoy.model.state import Convoy, Moment


class LandingStalled(ConvoyEvent, frozen=True, kw_only=True, tag="landing.stalled"):
    """What is to land is not judged: a person must act."""

    why: str

    def sentence(self) -> str:
        return f"The convoy's landing waits for a person: {clause(self.why)}."

    def convoy_after(self, convoy: Convoy, now: Moment) -> Convoy:
        sync = replace(convoy.sync, candidate=None, stalled=self.why, at=now.at)
        return replace(convoy, sync=sync, candidate=None)
