"""The loop: observe, fold, plan, act, push; again until nothing is owed.

Level-triggered. Everything it knows comes from the log and from looking; a tick that is
cut off anywhere is done again by the next one, here or in another process.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from threading import Lock
from typing import Final

from filelock import FileLock

from bot import effects
from bot.desk import Desk
from bot.door import listening
from bot.forge.rest import Limited, Refused
from bot.lease import BotLease, NotHolder
from bot.observe import observe
from bot.repository.draft import Draft
from bot.staging import owed, stage
from bot.version import VERSION
from bot.wake import Wake
from convoy.actions import Effect, Show
from convoy.commands import Command, NoteDone, StartBot
from convoy.decide import Refusal
from convoy.queue import startable
from grite.errors import BratError, Conflict, GitFailed, Unavailable
from grite.remote import RefUpdate

ROUNDS: Final = 200
"""Pushes in one tick at most; a tick that owes more is a fault of the rules."""
EFFECTS_AT_ONCE: Final = 8
CHECKPOINT_EVENTS: Final = 2_000
"""A fresh clone folds at most about this many events."""
RETRY_S: Final = 1.0


class Runaway(BratError):
    """The rules owe without end: a fault of ours."""


@dataclass(kw_only=True)
class Loop:
    """The one loop, restricted to the roles of its settings."""

    desk: Desk
    wake: Wake
    lease: BotLease
    tell: Callable[[str], None] = lambda _: None
    """Is told one line for each thing that goes wrong or waits."""
    pause: Callable[[float], Awaitable[None]] = asyncio.sleep
    """Waits so many seconds."""
    resume_at: int = 0
    """Unix ms; the forge wants to be left alone until then."""
    _noted: list[NoteDone] = field(default_factory=list)
    _failed: set[str] = field(default_factory=set)
    """Effects that went wrong, by the names of their troubles."""
    _renewing: asyncio.Lock = field(default_factory=asyncio.Lock)
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    _sending: Lock = field(default_factory=Lock)

    def __post_init__(self) -> None:
        """Lend the desk the lease."""
        self.desk.hold = self._hold

    # --- a tick ---------------------------------------------------------------------

    async def tick(self) -> bool:
        """Do all that is owed now; return whether to try again soon.

        Safe to cut off anywhere and to call again.
        """
        async with self._alone():
            try:
                await self._rounds(self.wake.take())
            except (Conflict, Unavailable, NotHolder, Refused, GitFailed) as error:
                self._note_trouble("tick", error)
                self.wake.suspect()
                return True
            self.desk.troubles.pop("tick", None)
            return bool(self.desk.troubles)

    @property
    def retry_s(self) -> float:
        """How long to wait before a tick that was cut short is done again.

        Where the forge only wants no writes for a while, it is looked at meanwhile.
        """
        desk = self.desk
        left_s = (self.resume_at - desk.clock()) / 1000
        if "tick" not in desk.troubles:
            left_s = min(left_s, desk.settings.sweep_s)
        return max(RETRY_S, left_s)

    async def ask(self, command: Command) -> Refusal | None:
        """Put a person's command to the rules and push what it leads to.

        Raises:
            Conflict: somebody else wrote first; ask again.
            Unavailable: the forge did not answer.
        """
        async with self._alone():
            await asyncio.to_thread(self.desk.mirror.look)
            self._refuse_unknown()
            draft = Draft(self.desk.mirror, self.desk.actor, self.desk.clock())
            refused = draft.submit(command)
            if draft:
                await self._push(draft)
        return refused

    async def checkpoint(self) -> str | None:
        """Push the folded state beside the log; return the commit it was folded to.

        None: there is no log yet. Safe to call again.

        Raises:
            Conflict: somebody else wrote first; ask again.
            Unavailable: the forge did not answer.
        """
        async with self._alone():
            mirror = self.desk.mirror
            await asyncio.to_thread(mirror.look)
            now = self.desk.clock()
            kept = await asyncio.to_thread(mirror.checkpoint, now)
            if not kept:
                return None
            draft = Draft(mirror, self.desk.actor, now)
            update = await asyncio.to_thread(self.lease.renewed, now)
            await asyncio.to_thread(draft.push, update, *kept)
            self.lease.pushed(update)
            return mirror.head

    def owes(self) -> bool:
        """Whether this loop's roles have anything to do or to wait for."""
        state = self.desk.mirror.state
        roles = self.desk.settings.roles
        sessions = any(
            ("witness" if task.number else "mayor") in roles
            for _, task in state.running()
        )
        judging = "refinery" in roles and any(
            task.candidate for convoy in state.live() for task in convoy.tasks
        )
        landing = "refinery" in roles and any(
            convoy.candidate for convoy in state.live()
        )
        waiting = "witness" in roles and any(
            task.not_before and startable(convoy, task)
            for convoy in state.live()
            for task in convoy.tasks
        )
        planning = "mayor" in roles and any(
            convoy.mayor is not None and convoy.mayor.state == "queued"
            for convoy in state.live()
        )
        more = any(not isinstance(action, Show) for action in owed(self.desk))
        return sessions or judging or landing or waiting or planning or more

    async def release(self) -> None:
        """Give the bot's lease back; call when nothing is owed.

        Also after a tick was cancelled: a push that was under way is waited for.
        """
        if self.lease.held or self._sending.locked():
            async with self._alone():
                await asyncio.to_thread(self._free)

    def _free(self) -> None:
        with self._sending:
            if self.lease.held:
                update = self.lease.freed()
                moves = {update.ref: update}
                # Who took it over in the meantime, as from another terminal, has it.
                with suppress(Conflict):
                    self.desk.mirror.push((), moves, actor=self.desk.actor)

    @asynccontextmanager
    async def _alone(self) -> AsyncIterator[None]:
        """Take turns within this process, and where a file decides, with others."""
        async with self._turn:
            if not self.desk.settings.sole:
                yield
                return
            lock = FileLock(self.desk.settings.folder / "lock", thread_local=False)
            await asyncio.to_thread(lock.acquire)
            try:
                yield
            finally:
                lock.release()

    # --- rounds: look, stage, push, effects -----------------------------------------

    async def _rounds(self, parts: frozenset[str]) -> None:
        desk = self.desk
        if "refs" in parts or self.desk.settings.sole:
            await asyncio.to_thread(desk.mirror.look)
            for notice in desk.mirror.notices:
                self.tell(notice)
            desk.mirror.notices.clear()
        self._refuse_unknown()
        for _ in range(ROUNDS):
            await self._pace()
            parts |= self.wake.take()
            desk.observed = await observe(desk, parts)
            draft = Draft(desk.mirror, desk.actor, desk.clock())
            accepted = await self._requests(draft, parts)
            for command in self._noted:
                draft.submit(command)
            self._noted.clear()
            await stage(desk, draft)
            if draft:
                await self._push(draft)
                desk.fresh |= draft.intended
            for delivery in accepted:
                desk.inbox.done(delivery)
            acted = await self._effects()
            if not draft and not acted:
                return
            parts = self.wake.take() | (frozenset({"checks"}) if draft else frozenset())
        raise Runaway(f"{ROUNDS} rounds in one tick: {owed(desk)[:3]}")

    async def _pace(self) -> None:
        """Wait until the forge may be pushed to again, before anything is planned."""
        gap_s = self.desk.settings.push_gap_s
        if self.lease.held and (left_s := gap_s - self.lease.age_s) > 0:
            await self.pause(left_s)

    async def _push(self, draft: Draft) -> None:
        """Push a draft with the lease; with an empty one, only the lease."""
        mirror = self.desk.mirror
        update = await asyncio.to_thread(self.lease.renewed, draft.now)
        kept: tuple[RefUpdate, ...] = ()
        if mirror.since_checkpoint >= CHECKPOINT_EVENTS:
            kept = await asyncio.to_thread(mirror.checkpoint, draft.now)
        await asyncio.to_thread(self._send, draft, update, kept)

    def _send(
        self, draft: Draft, update: RefUpdate, kept: tuple[RefUpdate, ...]
    ) -> None:
        """Push, and note it in the same thread: nothing can be cancelled between."""
        with self._sending:
            draft.push(update, *kept)
            self.lease.pushed(update)

    def _refuse_unknown(self) -> None:
        unknown = self.desk.mirror.state.unknown
        if unknown:
            raise NotHolder(
                f"the log holds {unknown[0]}, written by a newer bot: update this one; "
                "until then it only reads"
            )

    async def _requests(self, draft: Draft, parts: frozenset[str]) -> list[str]:
        if draft.actor.hex() not in draft.state.bots:
            draft.submit(StartBot(actor=draft.actor.hex(), version=VERSION))
        if "mayor" not in self.desk.settings.roles:
            return []
        return await listening.listen(self.desk, draft, parts)

    # --- effects --------------------------------------------------------------------

    async def _effects(self) -> bool:
        """Do what the forge is owed; return whether the log has something to note."""
        desk = self.desk
        wanted = [
            action
            for action in owed(desk)
            if isinstance(action, Effect) and not effects.is_shown(desk, action)
        ]
        self._forget_troubles({repr(effect) for effect in wanted})
        slots = asyncio.Semaphore(EFFECTS_AT_ONCE)
        desk.github.guard(self.lease.check)
        try:
            async with asyncio.TaskGroup() as group:
                for effect in wanted:
                    group.create_task(self._effect(effect, slots))
        except* (Conflict, Unavailable, NotHolder, GitFailed) as lost:
            raise lost.exceptions[0] from lost  # all tell of the same lease
        finally:
            desk.github.guard(lambda: None)
        return bool(self._noted)

    async def _hold(self) -> None:
        """Renew the lease if it is not fresh: a paced group may outlast it."""
        async with self._renewing:
            if not self.lease.fresh:
                desk = self.desk
                await self._push(Draft(desk.mirror, desk.actor, desk.clock()))

    async def _effect(self, effect: Effect, slots: asyncio.Semaphore) -> None:
        async with slots:
            await self._hold()
            name = repr(effect)
            try:
                noted = await effects.perform(self.desk, effect)
            except (Refused, Unavailable) as error:
                self._failed.add(name)
                self._note_trouble(name, error)
                return
            self.desk.troubles.pop(name, None)
            if noted is not None:
                self._noted.append(noted)

    def _forget_troubles(self, owed_still: set[str]) -> None:
        """Drop what went wrong with effects that nobody owes any more."""
        troubles = self.desk.troubles
        for name in troubles.keys() & self._failed - owed_still:
            del troubles[name]
        self._failed &= owed_still

    def _note_trouble(self, name: str, error: BratError) -> None:
        if isinstance(error, Limited):
            self.resume_at = max(self.resume_at, error.retry_at)
        why = str(error)
        if self.desk.troubles.get(name) != why:
            self.desk.troubles[name] = why
            self.tell(why)
