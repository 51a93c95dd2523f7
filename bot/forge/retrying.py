"""When a write whose answer was lost may be done again.

A forge can show a write late: who looks at once finds nothing, and does it twice. So
what may have been done is looked for until it had time to show, and only then repeated.
"""

from dataclasses import dataclass

from bot.desk import Desk
from grite.errors import Unavailable


class Unsettled(Unavailable):
    """It may have been done a moment ago, and is looked for again before it is."""


@dataclass(frozen=True)
class Try:
    """One try at an announced action."""

    key: str
    look: bool
    """Whether it may have been done already."""
    settled: bool
    """Whether what was done would be seen by a look that begins now."""

    def repeat(self) -> None:
        """Call when the look found nothing, before the action is done.

        Raises:
            Unsettled: it is too early to believe the look.
        """
        if self.look and not self.settled:
            raise Unsettled(f"{self.key} may have been done: it is looked for again")


def another_try(desk: Desk, key: str) -> Try:
    """Begin a try at an announced action.

    Only what this process announced itself was surely not done before. A process of
    one tick cannot wait; it starts long after the one before.
    """
    look = key not in desk.fresh
    desk.fresh.discard(key)
    now = desk.clock()
    since = desk.tried.setdefault(key, 0 if desk.settings.once else now)
    return Try(key, look, settled=now - since >= desk.settings.settle_s * 1000)


def quiet_try(desk: Desk, key: str) -> Try:
    """Begin a try at what is not announced: done before only by this process."""
    since = desk.tried.get(key)
    if since is None:
        return Try(key, look=False, settled=True)
    settled = desk.clock() - since >= desk.settings.settle_s * 1000
    return Try(key, look=True, settled=settled)


def failed_try(desk: Desk, key: str) -> None:
    """Note that a try got no answer: what it did may show from now on."""
    desk.tried[key] = desk.clock()
