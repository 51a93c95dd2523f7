"""Carries out the effects that are owed, side by side, each alone."""

import asyncio
from dataclasses import dataclass, field
from typing import Final

from bot.context.alone import alone
from bot.context.bot_context import BotContext
from bot.context.item_failures import NotYet
from bot.context.lease_errors import LeaseTooOld, NotHolder
from bot.effects import intents
from bot.effects.projections import is_shown
from bot.forge.pace import Limited
from bot.forge.transport import Precedence, going
from bot.loop.leased_push import LeasedPush
from bot.loop.push_pacing import PushPacing
from bot.loop.staging import owed
from bot.loop.troubles import Troubles
from convoy.events.forge_actions import NoteDone
from convoy.model.work import Intent
from convoy.owed import Do, Effect, item_of_effect
from grite.errors import Conflict, GitFailed, Unavailable

EFFECTS_AT_ONCE: Final = 8


@dataclass(kw_only=True)
class EffectRound:
    """One round of effects after another; for one event loop."""

    context: BotContext
    leased: LeasedPush
    troubles: Troubles
    pacing: PushPacing
    noted: list[NoteDone] = field(default_factory=list)
    """What was done and the log does not hold yet."""

    async def carry_out(self) -> bool:
        """Carry out the effects owed; return whether the log has something to note."""
        context = self.context
        wanted = [
            action
            for action in owed(context)
            if isinstance(action, Effect) and not is_shown(context, action)
        ]
        wanted.sort(key=precedence_of)  # what somebody waits for is not held up
        self.troubles.keep_only({item_of_effect(effect) for effect in wanted})
        slots = asyncio.Semaphore(EFFECTS_AT_ONCE)
        context.github.guard(self.leased.lease.check)
        try:
            async with asyncio.TaskGroup() as group:
                for effect in wanted:
                    group.create_task(self._effect(effect, slots))
        except* (Conflict, Unavailable, NotHolder, GitFailed) as lost:
            raise lost.exceptions[0] from lost  # all concern the same lease
        finally:
            context.github.guard(lambda: None)
        noted = self.noted or context.memory.failures.owed
        return bool(noted or (wanted and self.pacing.interrupted))

    async def _effect(self, effect: Effect, slots: asyncio.Semaphore) -> None:
        item, precedence = item_of_effect(effect), precedence_of(effect)
        async with slots:
            if precedence.can_wait and self.pacing.interrupted:
                return  # somebody waits for the next round, which does this, too
            await self.leased.hold()
            try:
                with alone(self.context, item), going(precedence):
                    noted = await intents.perform(self.context, effect)
                    if noted is not None:
                        self.noted.append(noted)
            except (Limited, NotYet, LeaseTooOld) as error:
                self.troubles.note(item, error, of_effect=True)


def precedence_of(effect: Effect) -> Precedence:
    """Return how long an effect may be made to wait.

    Writes go one after another, on GitHub a second apart: pull requests, labels and
    edits would hold up the sessions that start in the same round. A convoy's comment is
    posted once, and answers the person who asked for the convoy.
    """
    match effect:
        case Do(intent=Intent(kind="answer" | "comment")):
            return Precedence.ANSWER
        case Do(intent=Intent(kind="dispatch")):
            return Precedence.START
        case _:
            return Precedence.REST
