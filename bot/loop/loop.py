"""The loop: observe, fold, plan, act, push; again until nothing is owed.

Level-triggered: all its knowledge comes from the log and from looking at the forge. If
a tick is cut off anywhere, the next tick repeats it, here or in another process. Each
problem is kept until it is over, and says when to try again.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from math import inf
from typing import Final

from filelock import FileLock

from bot import VERSION
from bot.door.inbox import Wake
from bot.forge.pace import Limited
from bot.forge.rest import Refused
from bot.forge.transport import Precedence, going
from bot.loop import effects, pushing
from bot.loop.effects import is_shown
from bot.loop.observe import NEW_CHECKS, observe
from bot.loop.pushing import BotLease, LogRefused, Pushes, RefusedParts
from bot.loop.staging import owed, stage
from bot.repository.draft import ANSWERS
from bot.requests import new_requests
from bot.requests.answers import carry_out
from bot.requests.verb import Asker, Request
from bot.roles.bot_context import (
    BotContext,
    BotDraft,
    LeaseTooOld,
    NotHolder,
    NotYet,
    alone,
)
from bot.text.replies import Reply
from convoy.events.forge_actions import ItemSetAside
from convoy.events.leases import StartBot
from convoy.model.work import Intent
from convoy.owed import Do, Effect, Show, item_of
from grite.errors import BratError, Conflict, GitFailed, Rejected, Unavailable

ROUNDS: Final = 200
"""The most pushes in one tick; a tick that owes more is a fault of the rules."""
PUSHES: Final = "pushes"
"""The name of the trouble that the remote refused too many pushes."""
TOO_MANY_REFUSED: Final = (
    "the remote refused 6 pushes in a minute, so brat pushes only the log for now"
)
EFFECTS_AT_ONCE: Final = 8
PATIENCE_S: Final = 120.0
"""How long every tick may be cut short before a command gives up, and before a
repository stands still."""
ASK_TRIES: Final = 5
"""How often a request is put to the rules while others write to the log."""


class Runaway(BratError):
    """The rules never stop owing actions: a bug in brat."""


@dataclass(kw_only=True)
class Loop:
    """The loop, restricted to the roles in its settings."""

    context: BotContext
    wake: Wake
    lease: BotLease
    tell: Callable[[str], None] = lambda _: None
    """Called with one line for each problem or wait."""
    look_here: Callable[[], None] = lambda: None
    """Brings in what no forge shows, such as a person's checkout; may block, and raises
    `Unavailable` where it cannot be seen now."""
    stays: Callable[[BotContext], bool] = lambda _: False
    """Whether this process, to which nothing is delivered, answers people all the same:
    then each of its ticks is one round, which looks at everything."""
    soon_s: float = inf
    """In how many seconds at most such a process has more to do."""
    _cut: tuple[int, BratError] | None = None
    """Since when ticks are cut short, unix ms, and what cut the last one; None: it was
    whole."""
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    def __post_init__(self) -> None:
        self.troubles = self.context.troubles
        self.troubles.tell = self.tell
        self.pushes = Pushes(context=self.context, wake=self.wake, lease=self.lease)
        self._refused = RefusedParts()
        self.context.hold = self.pushes.hold

    async def tick(self) -> bool:
        """Do all that is owed; safe to cut off. Return whether to try again soon."""
        async with self._alone():
            self.troubles.begin()
            try:
                await asyncio.to_thread(self.look_here)
                await self._rounds(self.wake.take())
            except (Conflict, Unavailable, NotHolder, Refused, GitFailed) as error:
                self.cut_short("tick", error)
                self.wake.suspect()
                if isinstance(error, LogRefused):
                    try:  # the forge may refuse that, too
                        await pushing.tell_of_refused_log(self.context, error)
                    except (Refused, Unavailable) as silent:
                        self.troubles.note("comment", silent, self.context.clock())
                    else:
                        self.troubles.pop("comment", None)
                return True
            self._cut = None
            self.troubles.pop("tick", None)
            self.lease.doubts &= bool(self.troubles)
            return bool(self.troubles) or self.troubles.again

    def cut_short(self, name: str, error: BratError) -> None:
        """Keep what cut a tick short, under the name of a trouble."""
        self._cut = (self._cut or (self.context.clock(), error))[0], error
        self.troubles.note(name, error, self.context.clock())

    @property
    def standstill(self) -> str:
        """Why nothing moves until that changes; empty: it moves."""
        since, error = self._cut or (self.context.clock(), None)
        if isinstance(error, LogRefused):
            return f"the forge refuses the log, so nothing can land: {error}"
        if self.context.clock() - since <= PATIENCE_S * 1000:
            return ""
        return f"no round of the loop has completed for over two minutes: {error}"

    @property
    def retry_s(self) -> float:
        """How long to wait before the next tick, if something went wrong in this."""
        sweep_s = self.context.settings.sweep_s
        return self.troubles.retry_s(self.context.clock(), sweep_s)

    async def wait(self, *, again: bool) -> None:
        """Wait until something may have changed, or a failed action may be retried."""
        sweep_s = self.context.settings.sweep_s
        await self.wake.wait(self.retry_s if again else sweep_s)

    async def carry_out(self, asker: Asker, request: Request) -> Reply:
        """Carry out a person's request and push the resulting events.

        Raises:
            Conflict: others wrote first each time; ask again.
        """
        for _ in range(ASK_TRIES):
            with suppress(Conflict):  # somebody wrote first: decide again
                async with self.deciding() as draft:
                    reply = await carry_out(draft, asker, request)
                    if draft and not reply.why:
                        await self.pushes.push(draft)
                self.wake.all()
                return reply
        raise Conflict("other processes keep changing the log: try again")

    @asynccontextmanager
    async def deciding(self) -> AsyncIterator[BotDraft]:
        """Give a draft over the current log; no tick runs meanwhile."""
        async with self._alone():
            await asyncio.to_thread(self.context.mirror.look)
            self._refuse_unknown()
            draft = self.context.draft()
            _introduce(draft)
            yield draft

    async def release(self) -> None:
        """Give the lease back when nothing is owed; waits for a push under way."""
        if self.lease.held or self.pushes.sending.locked():
            async with self._alone():
                await asyncio.to_thread(self.pushes.free)

    @asynccontextmanager
    async def _alone(self) -> AsyncIterator[None]:
        """Take turns within this process and, by a file lock, with other processes."""
        async with self._turn:
            if not self.context.settings.sole:
                yield
                return
            lock = FileLock(self.context.settings.folder / "lock", thread_local=False)
            await asyncio.to_thread(lock.acquire)
            try:
                yield
            finally:
                lock.release()

    async def _rounds(self, parts: frozenset[str]) -> None:
        context = self.context
        if "refs" in parts or self.context.settings.sole:
            await asyncio.to_thread(context.mirror.look)
            self._tell_notices(context.mirror.notices)
        self._refuse_unknown()
        polls = self.wake.polls = self.stays(context)
        for _ in range(ROUNDS):
            if not polls:
                await self.pushes.wait()
            parts |= self.wake.take()
            look = partial(asyncio.to_thread, context.mirror.look)
            context.observed = await observe(context, parts, look)
            draft, left_s = context.draft(), self.pushes.left_s if polls else 0.0
            known = frozenset(draft.intended)
            accepted = await self._drafted(draft, parts, pushes=not left_s)
            # The next push holds it; the comment and its answer's key find it again.
            waits = polls and bool(draft) and draft.can_wait
            waits &= self.lease.fresh and not self.lease.doubts
            wanted = not waits and (draft or self._refused.only is not None)
            if wanted and left_s:
                await self.pushes.pause(left_s)
                continue
            if wanted and not await self._push(draft):
                continue  # what was refused is left out of the next one
            mine = draft.intended - known
            if self.lease.doubts:  # it may have been given, and not been noted
                mine = {key for key in mine if not key.startswith(ANSWERS)}
            context.memory.fresh |= mine
            self.troubles.forget(draft.told)
            if waits:
                context.memory.noted = draft.commands
            for delivery in accepted:
                context.inbox.done(delivery)
            acted = await self._act(shows=not (polls and wanted))
            if polls:
                again = wanted or acted or self._refused.goes_on(draft.now)
                self.soon_s = 0.0 if again else left_s or inf
                return
            if not draft and not acted and not self._refused.goes_on(draft.now):
                return
            parts = self.wake.take() | (
                frozenset({NEW_CHECKS}) if draft else frozenset()
            )
        raise Runaway(f"a tick did not end in {ROUNDS} rounds: {owed(context)[:3]}")

    def _tell_notices(self, notices: list[str]) -> None:
        for notice in notices:
            self.tell(notice)
        notices.clear()

    async def _drafted(
        self, draft: BotDraft, parts: frozenset[str], *, pushes: bool
    ) -> list[str]:
        """Make the draft; return the deliveries that it answers."""
        _introduce(draft)
        accepted = []
        if "mayor" in self.context.settings.roles:
            accepted = await new_requests.listen(draft, parts)
            self._tell_notices(self.context.inbox.notices)
        for item in [*self.troubles.owed]:
            draft.tell(self.troubles.owed, item)
        if pushes:  # else only what people ask for needs one
            free_at, only = self._refused.free_at(draft.now), self._refused.only
            if free_at <= draft.now:
                self.troubles.pop(PUSHES, None)
            else:  # the remote is not asked too often in a row: no ref moves
                self.troubles.wait(PUSHES, TOO_MANY_REFUSED, free_at)
                only = frozenset()
            await stage(draft, only)
        return accepted

    async def _push(self, draft: BotDraft) -> bool:
        """Push a draft; return whether it arrived.

        Raises:
            LogRefused: the remote refuses the log itself.
        """
        self._refused.check(draft.now)
        try:
            await self.pushes.push(draft)
        except Rejected as error:
            for aside in self._refused.blame(draft, error):
                self.troubles.owed[aside.item] = aside
            return False
        self._refused.taken(draft)
        for item in draft.told:
            told = self.troubles.owed.get(item)
            if isinstance(told, ItemSetAside):
                self.tell(f"{item} is set aside: {told.why}")
        return True

    async def _act(self, *, shows: bool) -> bool:
        """Carry out the effects owed; return whether there is more to do or to note.

        A job that stays shows one part a time, and none without `shows`: each write
        takes a second, in which it sees nothing.
        """
        context, known = self.context, len(self.context.memory.noted)
        wanted = []
        for action in owed(context):
            await asyncio.sleep(0)  # the door answers between two long comments
            if isinstance(action, Effect) and not is_shown(context, action):
                wanted.append(action)
        wanted.sort(key=precedence_of)  # what somebody waits for is not held up
        shown = [effect for effect in wanted if isinstance(effect, Show)]
        polls = self.wake.polls
        if polls and shown:
            shown.sort(key=lambda show: show.part != "comment")  # people read that
            wanted = [effect for effect in wanted if not isinstance(effect, Show)]
            wanted += shown[:1] if shows else ()
        self.troubles.keep_only({item_of(effect) for effect in wanted})
        slots = asyncio.Semaphore(EFFECTS_AT_ONCE)
        context.github.rest.guard = self.lease.check
        try:
            async with asyncio.TaskGroup() as group:
                for effect in wanted:
                    group.create_task(self._effect(effect, slots))
        except* (Conflict, Unavailable, NotHolder, GitFailed) as lost:
            raise lost.exceptions[0] from lost  # all concern the same lease
        finally:
            context.github.rest.guard = lambda: None
        noted = len(context.memory.noted) > known or context.troubles.owed
        more = polls and shown[1:] and item_of(shown[0]) not in self.troubles
        return bool(noted or more or (wanted and self.pushes.interrupted))

    async def _effect(self, effect: Effect, slots: asyncio.Semaphore) -> None:
        item, precedence = item_of(effect), precedence_of(effect)
        async with slots:
            if precedence.can_wait and self.pushes.interrupted:
                return  # somebody waits for the next round, which does this, too
            await self.pushes.hold()
            try:
                with alone(self.context, item), going(precedence):
                    noted = await effects.carry_out_effect(self.context, effect)
                    if noted is not None:
                        self.context.memory.noted.append(noted)
            except (Limited, NotYet, LeaseTooOld) as error:
                self.troubles.note(item, error, self.context.clock(), of_effect=True)

    def _refuse_unknown(self) -> None:
        unknown = self.context.mirror.state.unknown
        if unknown:
            raise NotHolder(
                f"the log contains {unknown[0]}, an event from a newer version of "
                "brat: update this bot, which cannot write to the log until then"
            )


def _introduce(draft: BotDraft) -> None:
    """Register this bot in the log: events of unregistered actors do not count."""
    if draft.actor.hex() not in draft.state.bots:
        draft.submit(StartBot(actor=draft.actor.hex(), version=VERSION))


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
