"""The one way to the remote: each push takes or renews the bot's lease."""

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Lock
from typing import Final

from bot.context.bot_context import BotContext
from bot.loop.bot_lease import BotLease
from bot.repository.draft import Draft
from grite.errors import Conflict, Rejected
from grite.remote import RefUpdate

CHECKPOINT_EVENTS: Final = 2_000
"""A checkpoint is due after this many events: a fresh clone folds about as many."""


@dataclass(kw_only=True)
class LeasedPush:
    """Pushes drafts of one bot; for one event loop."""

    context: BotContext
    lease: BotLease
    _checkpoints: bool = True
    """Whether the remote has not refused a checkpoint yet."""
    _renewing: asyncio.Lock = field(default_factory=asyncio.Lock)
    _sending: Lock = field(default_factory=Lock)

    async def push(self, draft: Draft, kept: tuple[RefUpdate, ...] = ()) -> None:
        """Push a draft with the lease; an empty draft pushes only the lease.

        Args:
            draft: the events and ref moves.
            kept: a checkpoint to push along; without one, it is made when due.

        Raises:
            Conflict: somebody else wrote first.
            NotHolder: somebody else may hold the lease.
            Rejected: the remote refuses a ref, or the whole push.
        """
        mirror = self.context.mirror
        update = await asyncio.to_thread(self.lease.renewed, draft.now)
        if (
            self._checkpoints
            and not kept
            and mirror.since_checkpoint >= CHECKPOINT_EVENTS
        ):
            kept = await asyncio.to_thread(mirror.checkpoint, draft.now)
        try:
            await asyncio.to_thread(self._send, draft, update, kept)
        except Rejected as error:
            if not {each.ref for each in error.answer.refused} & {k.ref for k in kept}:
                raise
            self._checkpoints = False  # they only make readers faster
            await asyncio.to_thread(self._send, draft, update, ())

    def _send(
        self, draft: Draft, update: RefUpdate, kept: tuple[RefUpdate, ...]
    ) -> None:
        """Push and note the push in one thread: a cancellation cannot come between."""
        with self._sending:
            draft.push(update, *kept)
            self.lease.pushed(update)

    async def hold(self) -> None:
        """Renew the lease if it is not fresh: slow effects may outlast it."""
        async with self._renewing:
            if not self.lease.fresh:
                await self.push(self.context.draft())

    @property
    def may_hold(self) -> bool:
        """Whether there may be a lease to free, even from a push under way."""
        return self.lease.held or self._sending.locked()

    def free(self) -> None:
        """Wait for a push under way, then give the lease back; blocking."""
        with self._sending:
            if self.lease.held:
                update = self.lease.freed()
                moves = {update.ref: update}
                # Another process, say in another terminal, may have taken it over.
                with suppress(Conflict):
                    self.context.mirror.push((), moves, actor=self.context.actor)
