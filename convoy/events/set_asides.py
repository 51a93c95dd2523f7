"""Items that are set aside, each alone, and tried again.

What the forge refuses, or what fails again and again, keeps nothing else waiting: it
is set aside with its reason, for a minute at first, then for twice as long each time.
"""

from typing import Final

from msgspec.structs import replace

from convoy.events.command import Command, Decision, Refusal
from convoy.events.fact import Event, clause
from convoy.model.asides import set_aside
from convoy.model.change import change_convoy, change_task
from convoy.model.set_aside import DELIVERY, HOUR_MS, MINUTE_MS, SetAside, part_of
from convoy.model.state import Convoy, State

KEPT_MS: Final = 168 * HOUR_MS
"""How long a delivery, or an item tried again, is remembered: a week."""


class ItemSetAside(Event, frozen=True, kw_only=True, tag="item.set-aside"):
    """An item is not tried for now; everything else goes on."""

    item: str
    """Such as `task/fix/3`."""
    why: str
    rule: str = ""
    """Which kind of refusal it is; empty: a fault."""
    helps: str = ""
    """What a person can do about it."""
    passing: bool = False
    """Whether it may well go away by itself."""
    tries: int = 1
    """How often it was tried in vain."""

    def sentence(self) -> str:
        times = "once" if self.tries == 1 else f"{self.tries} times"
        return f"Set {self.item} aside, tried {times}: {clause(self.why)}."

    def change(self, state: State) -> State:
        aside = SetAside(
            why=self.why,
            rule=self.rule,
            helps=self.helps,
            passing=self.passing,
            at=state.moment.at,
            tries=self.tries,
        )
        return _with(_without_old(state), self.item, aside)


class ItemTakenUp(Event, frozen=True, kw_only=True, tag="item.taken-up"):
    """An item that was set aside is tried again, or works again."""

    item: str
    """Such as `task/fix/3`."""
    by: str = ""
    """Who asked for it; empty: its time had come."""
    works: bool = False
    """Whether it was tried and works again."""
    when_free: bool = False
    """Whether it is a session that never began: others may have its slot by now."""

    def sentence(self) -> str:
        if self.works:
            return f"{self.item} works again."
        by = f", as {self.by} asked" if self.by else ""
        free = " as soon as a slot is free" if self.when_free else ""
        return f"Try {self.item} again{free}{by}."

    def change(self, state: State) -> State:
        aside = set_aside(state, self.item)
        if aside is None:
            return state
        fresh = self.works or bool(self.by)
        now = state.moment.at
        if self.when_free:
            due = replace(aside, at=now - MINUTE_MS, tries=1)
            return _with(state, self.item, due)
        return _with(
            state, self.item, None if fresh else replace(aside, again=True, at=now)
        )


class SetItemAside(Command, frozen=True, kw_only=True):
    """An item was refused, or failed again and again."""

    item: str
    why: str
    rule: str = ""
    helps: str = ""
    passing: bool = False

    def decide(self, state: State) -> Decision:
        """Set it aside; a further try that fails makes the next wait longer."""
        before = set_aside(state, self.item)
        return (
            ItemSetAside(
                item=self.item,
                why=self.why,
                rule=self.rule,
                helps=self.helps,
                passing=self.passing,
                tries=before.tries + 1 if before else 1,
            ),
        )


class TakeItemUp(Command, frozen=True, kw_only=True):
    """An item's time has come, somebody asks for it, or it works again."""

    item: str
    by: str = ""
    works: bool = False

    def decide(self, state: State) -> Decision:
        """Take up what is set aside."""
        aside = set_aside(state, self.item)
        if aside is None or (aside.again and not self.works):
            return Refusal(f"{self.item} is not set aside")
        taken_up = ItemTakenUp(
            item=self.item,
            by=self.by,
            works=self.works,
            when_free=bool(self.by) and _never_began(state, self.item),
        )
        return (taken_up,)


def _never_began(state: State, item: str) -> bool:
    """Whether an item is a task whose session was started and never ran."""
    part = part_of(item)
    task = state.convoys[part[0]].task(part[1]) if part and part[1] else None
    return task is not None and task.attempt is not None and task.attempt.run is None


def _with(state: State, item: str, aside: SetAside | None) -> State:
    part = part_of(item)
    if part is not None:
        return change_convoy(state, part[0], lambda c: _marked(c, part[1], aside))
    rest = {name: each for name, each in state.set_aside.items() if name != item}
    return replace(state, set_aside=rest | ({item: aside} if aside else {}))


def _marked(convoy: Convoy, task: int, aside: SetAside | None) -> Convoy:
    """Mark a task, or with 0 the convoy; what is kept back has no candidate."""
    keeps_back = aside is not None and not aside.again
    if task:
        return change_task(
            convoy,
            task,
            lambda t: replace(
                t, set_aside=aside, candidate=None if keeps_back else t.candidate
            ),
        )
    if not keeps_back:
        return replace(convoy, set_aside=aside)
    sync = replace(convoy.sync, candidate=None)
    return replace(convoy, set_aside=aside, candidate=None, sync=sync)


def _without_old(state: State) -> State:
    """Forget deliveries, and items tried again, of long ago."""
    oldest = state.moment.at - KEPT_MS
    kept = {
        item: aside
        for item, aside in state.set_aside.items()
        if aside.at > oldest or not (aside.again or item.startswith(DELIVERY))
    }
    return replace(state, set_aside=kept)
