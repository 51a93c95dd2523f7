"""Keeps each item's failures to itself, so that everything else goes on.

A refusal sets its item aside at once, and any other failure the third time. What is set
aside goes to the log with the next push.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from bot.context.lease_errors import LeaseTooOld, NotHolder
from bot.forge.pace import Limited
from bot.forge.refusals import ForgeRefusal, refusal_of_push, refusal_of_rest
from bot.forge.rest import Refused
from convoy.events.forge_actions import SetItemAside, TakeItemUp
from convoy.model.state import State, set_aside
from grite.errors import Conflict, Rejected, Unavailable

TRIES: Final = 3
OUTAGE_MS: Final = 20_000
"""Failures without an answer count once in so long: most outages are short."""
SAID: Final = 300
"""How many characters of an error are told."""


class NotYet(Unavailable):
    """It is tried again later, as its own rule says: no failure is counted."""


class Unsettled(NotYet):
    """The action may have been done a moment ago; look for its result again first."""


_OF_ALL: Final = (Conflict, NotHolder, LeaseTooOld, Limited, NotYet)


def of_all(error: Exception) -> bool:
    """Whether a failure is no single item's."""
    return isinstance(error, _OF_ALL)


@dataclass(frozen=True)
class Failed:
    """How often an item failed, and what was so the last time that counted."""

    tries: int = 0
    answers: int = -1
    """How often the forge had answered by then."""
    at: int = -OUTAGE_MS
    """Unix ms."""


@dataclass(kw_only=True)
class Failures:
    """One process's failures of items that the log does not hold yet."""

    owed: dict[str, SetItemAside | TakeItemUp] = field(default_factory=dict)
    """What the log is to be told, by item."""
    _counts: dict[str, Failed] = field(default_factory=dict)

    _lately: set[str] = field(default_factory=set)
    """What failed in this tick."""

    @property
    def again(self) -> bool:
        """Whether something failed in this tick, or the log is to be told of it."""
        return bool(self._lately or self.owed)

    def begin(self, troubles: dict[str, str]) -> None:
        """Begin a tick: what failed in the last one may not be wanted any more."""
        for item in self._lately:
            troubles.pop(item, None)
        self._lately.clear()

    def wait(self, item: str) -> None:
        """Note that an item has to wait, which is no failure of its own."""
        self._lately.add(item)

    def note(self, item: str, error: Exception, answers: int, now: int) -> None:
        """Count a failure; the third, or a refusal, sets the item aside.

        Args:
            item: what failed.
            error: how.
            answers: how often the forge has answered; an item is not blamed while the
                forge answers nobody.
            now: unix ms; what comes of an outage counts only now and then.
        """
        self._lately.add(item)
        if isinstance(error, Refused | Rejected):
            self._set_aside(item, refused(item, error))
            return
        last = self._counts.get(item, Failed())
        outage = isinstance(error, Unavailable)
        if outage and (answers == last.answers or now < last.at + OUTAGE_MS):
            return
        self._counts[item] = Failed(last.tries + 1, answers, now)
        if last.tries + 1 >= TRIES:
            self._set_aside(item, _failed(item, error))

    def _set_aside(self, item: str, command: SetItemAside) -> None:
        self._counts.pop(item, None)
        self.owed[item] = command

    def worked(self, item: str, state: State) -> None:
        """Note that an item works; what was set aside is taken up."""
        self._counts.pop(item, None)
        if set_aside(state, item) is not None:
            self.owed[item] = TakeItemUp(item=item, works=True)

    def passed(self, item: str) -> None:
        """Note that a step of an item went well: its failures are counted anew."""
        self._counts.pop(item, None)

    def forget(self, told: Iterable[str]) -> None:
        """Forget what the log holds now."""
        for item in told:
            self.owed.pop(item, None)


def refused(item: str, error: Refused | Rejected) -> SetItemAside:
    """Return the command that sets an item aside for a refusal of the forge's."""
    if isinstance(error, Refused):
        return for_refusal(item, refusal_of_rest(error))
    return for_refusal(item, refusal_of_push(error.answer.said, ""))


def for_refusal(item: str, found: ForgeRefusal) -> SetItemAside:
    """Return the command that sets an item aside for a refusal that was understood."""
    return SetItemAside(
        item=item,
        why=found.why,
        rule=found.rule,
        helps=found.helps,
        passing=found.passing,
    )


def _failed(item: str, error: Exception) -> SetItemAside:
    what = str(error) or repr(error)
    return SetItemAside(item=item, why=what[:SAID], passing=True)
