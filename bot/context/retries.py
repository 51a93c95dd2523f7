"""Decides when a write whose answer was lost may be repeated.

A forge can show a write late: an immediate look finds nothing, and a repeat would write
twice. So a write is repeated only after it has had time to show and was not found.
"""

from dataclasses import dataclass

from bot.context.bot_context import BotContext
from bot.context.item_failures import Unsettled


@dataclass(frozen=True)
class Try:
    """One try at an announced action."""

    key: str
    look: bool
    """Whether the action may have been done already, and has to be looked for."""
    settled: bool
    """Whether a look that begins now would see an earlier try's result."""

    def repeat(self) -> None:
        """Check that the action may be done; call after a look found nothing.

        Raises:
            Unsettled: it is too early to believe the look.
        """
        if self.look and not self.settled:
            raise Unsettled(f"{self.key} may have been done: it is looked for again")


def another_try(context: BotContext, key: str) -> Try:
    """Begin a try at an announced action.

    Only a fresh announcement of this process was surely not carried out before. A
    one-tick process does not wait: it starts long after the previous one.
    """
    look = key not in context.memory.fresh
    context.memory.fresh.discard(key)
    now = context.clock()
    since = context.memory.tried.setdefault(key, 0 if context.settings.once else now)
    return Try(key, look, settled=now - since >= context.settings.settle_s * 1000)


def quiet_try(context: BotContext, key: str) -> Try:
    """Begin a try at an unannounced action, which only this process may have tried."""
    since = context.memory.tried.get(key)
    if since is None:
        return Try(key, look=False, settled=True)
    settled = context.clock() - since >= context.settings.settle_s * 1000
    return Try(key, look=True, settled=settled)


def failed_try(context: BotContext, key: str) -> None:
    """Note that a try got no answer: its result may show from now on."""
    context.memory.tried[key] = context.clock()
