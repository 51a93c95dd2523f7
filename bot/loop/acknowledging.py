"""Reacts to a command the moment it arrives, beside the loop.

The reaction needs no lease and is not paced: it may be repeated and announces nothing.
What goes wrong here is said once, and stops nothing: the tick reacts to what had none.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

from bot.context.answer_allowance import allowance
from bot.context.bot_context import BotContext
from bot.context.recent_comments import RecentComments
from bot.door.inbox import Remark, Wake
from bot.forge.transport import Precedence, going
from bot.requests import comments
from convoy.model import ids

AT_ONCE: Final = 4
"""How many comments are read at once: hostile text takes seconds."""


@asynccontextmanager
async def acknowledging(
    context: BotContext, wake: Wake, tell: Callable[[str], None]
) -> AsyncIterator[None]:
    """React to commands while the block lasts.

    Args:
        context: the bot's.
        wake: tells when the door has kept a request.
        tell: called with a line for each new kind of failure.
    """
    own = _Acknowledging(context=context, wake=wake, tell=tell)
    try:
        async with asyncio.TaskGroup() as group:
            looking = group.create_task(own.keep_looking(), name="acknowledging")
            try:
                yield
            finally:
                looking.cancel()
    except BaseExceptionGroup as only:  # the block's: looking never fails
        raise only.exceptions[0] from None


@dataclass(kw_only=True)
class _Acknowledging:
    context: BotContext
    wake: Wake
    tell: Callable[[str], None]
    _seen: RecentComments = field(default_factory=RecentComments)
    _slots: asyncio.Semaphore = field(
        default_factory=lambda: asyncio.Semaphore(AT_ONCE)
    )
    _said: str = ""

    async def keep_looking(self) -> None:
        """React to each waiting command once, until cancelled."""
        async with asyncio.TaskGroup() as group:
            kept = self.wake.kept
            while True:
                for remark in self._waiting():
                    if not remark.edited and self._seen.add(remark.comment):
                        group.create_task(self._react(remark))
                kept = await self.wake.more_kept(kept)

    def _waiting(self) -> list[Remark]:
        try:
            return [*self.context.inbox.remarks().values()]
        except OSError as error:  # another process has just finished a file
            self._note(f"the inbox cannot be read: {error}")
            return []

    async def _react(self, remark: Remark) -> None:
        try:
            async with self._slots:
                with going(Precedence.ANSWER):
                    if await self._is_answered(remark):
                        await comments.acknowledge(self.context, remark.comment)
        except Exception as error:  # noqa: BLE001  the tick meets it, too, and logs it
            self._note(f"a command cannot be acknowledged: {error}")

    async def _is_answered(self, remark: Remark) -> bool:
        """Whether a comment is a command that will be carried out, or refused."""
        context = self.context
        if not await comments.commands(context, context.mirror.state, remark):
            return False
        key = ids.answer_key(remark.comment)
        return await allowance(context, remark.by, key) == "answered"

    def _note(self, why: str) -> None:
        if why != self._said:
            self._said = why
            self.tell(why)
