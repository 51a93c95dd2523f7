"""Which way a convoy lands, and what its last step waits for."""

from msgspec.structs import replace

from convoy.events.command import Command, Decision, Refusal, live
from convoy.events.fact import ConvoyEvent
from convoy.events.set_asides import ItemTakenUp
from convoy.model.set_aside import convoy_item, part_item
from convoy.model.state import Convoy, Moment, State
from convoy.model.target_rules import Landing


class LandingChosen(ConvoyEvent, frozen=True, kw_only=True, tag="landing.chosen"):
    """The way the convoy will land, by the rules of its target as they are now."""

    landing: Landing
    """The way, what else the rules want, what the bot may not read."""

    def sentence(self) -> str:
        ways = {
            "push": "a push",
            "merge": f"the forge's {self.landing.method}",
            "queue": "the forge's merge queue",
            "person": "a person's merge",
        }
        return f"The convoy will land by {ways[self.landing.way]}."

    def convoy_after(self, convoy: Convoy, _now: Moment) -> Convoy:
        return replace(convoy, landing=self.landing)


class LandingWaits(ConvoyEvent, frozen=True, kw_only=True, tag="landing.waits"):
    """What the forge still asks for before it merges; empty: nothing."""

    why: str

    def sentence(self) -> str:
        if not self.why:
            return "The convoy's landing waits for nothing any more."
        return f"The convoy's landing waits for {self.why}."

    def convoy_after(self, convoy: Convoy, _now: Moment) -> Convoy:
        return replace(convoy, landing_waits=self.why)


class PullMergedEarly(ConvoyEvent, frozen=True, kw_only=True, tag="pull.merged-early"):
    """Somebody merged the convoy's pull request before its branch held all the work."""

    pull: int
    """Its number."""

    def sentence(self) -> str:
        return f"Pull request #{self.pull} was merged early; another will be opened."

    def convoy_after(self, convoy: Convoy, _now: Moment) -> Convoy:
        parts = replace(convoy.parts, branch="")
        return replace(convoy, pull=None, parts=parts)


class ChooseLanding(Command, frozen=True, kw_only=True):
    """The rules of the target were read, or a refusal told one."""

    convoy: str
    landing: Landing
    """The way, what else the rules want, what the bot may not read."""

    def decide(self, state: State) -> Decision:
        """Note the way, if it is another than before."""
        convoy = live(state, self.convoy)
        if isinstance(convoy, Refusal):
            return convoy
        if convoy.landing == self.landing:
            return Refusal(f"{convoy.name} lands that way already")
        chosen = LandingChosen(convoy=convoy.name, landing=self.landing)
        known = convoy.landing.learnt if convoy.landing else ()
        if self.landing.learnt == known:
            return (chosen,)
        items = (convoy_item(convoy.name), part_item(convoy.name))
        return (chosen, *(ItemTakenUp(item=item, works=True) for item in items))


class WaitToLand(Command, frozen=True, kw_only=True):
    """The forge was asked what keeps the convoy's pull request from merging."""

    convoy: str
    why: str

    def decide(self, state: State) -> Decision:
        """Note what the last step waits for, if it is something else than before."""
        convoy = live(state, self.convoy)
        if isinstance(convoy, Refusal):
            return convoy
        if convoy.landing_waits == self.why:
            return Refusal(f"{convoy.name} waits for that already")
        return (LandingWaits(convoy=convoy.name, why=self.why),)
