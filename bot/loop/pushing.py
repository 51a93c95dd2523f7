"""The one way to the remote: pushes with the lease, their pace, and what is refused.

Only the holder of the lease `repo:bot` writes, and every push carries it. Each push
writes the lease anew and expects the previous one, so the push of a bot that lost the
lease fails as a whole. The lease is freed when nothing is owed. Two machines' clocks
are never compared to decide that a holder is dead: the same lease has to stand for a
whole TTL by this process's monotonic clock. The lease of a process that is known to be
dead stands only until what it had sent has arrived. In local mode an operating-system
lock on the bot's folder decides instead, and a dead holder's lease is free at once.

A lease binds nobody unless an allowed key signed it, and unless it names the log's
newest commit or the one before: an old lease cannot be pushed again to stop the bot.

Of a refused push the part is found that the remote refuses, and all others go on. Most
remotes name the ref they refuse. Where none is named, halves are tried: first the log
alone, then what was never refused, then groups that get smaller until one item is left
in a group. That the log itself is refused it cannot hold: an issue says so.
"""

import asyncio
import uuid
from collections import deque
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from threading import Lock
from time import monotonic
from typing import ClassVar, Final

from bot.door.inbox import Wake
from bot.forge.refusals import refusal_of_push
from bot.repository.draft import Draft
from bot.repository.mirror import Mirror
from bot.requests import new_requests
from bot.requests.verb import convoy_of
from bot.roles.bot_context import BotContext, LeaseTooOld, NotHolder
from bot.text.convoy_comment import with_box_note
from bot.text.notices import log_refused
from convoy.events.forge_actions import ItemSetAside
from convoy.model import ids
from convoy.model.ids import LOG_ITEM, task_item
from grite import lease
from grite.errors import Conflict, Corrupt, Rejected
from grite.remote import RefUpdate
from grite.resource import BOT as RESOURCE

TTL_S: Final = 60
FRESH_S: Final = TTL_S / 3
"""A lease older than this is renewed before the bot acts under it."""
SPARE_S: Final = 10.0
"""How long one write may take: nothing is sent under a lease that ends sooner."""
MINUTE_PUSHES: Final = 6
"""GitHub's "recommended maximum limit" of pushes a minute to one repository, "to avoid
throttling and performance issues". It is no gap, and no refusal beyond it is documented
https://docs.github.com/repositories/creating-and-managing-repositories/repository-limits
"""


@dataclass
class BotLease:
    """This process's claim to be the one bot that acts."""

    ref: ClassVar[str] = lease.ref_of(RESOURCE)
    mirror: Mirror
    actor: bytes
    sole: bool = False
    """Whether a file lock already ensures that no other bot acts."""
    ticking: Callable[[], float] = monotonic
    """Seconds of a clock that never goes back."""
    dead: frozenset[str] = frozenset()
    """The nonces of processes that are dead; see `bot.settings.bot_folder`."""
    nonce: str = field(default_factory=lambda: str(uuid.uuid4()))
    doubts: bool = False
    """Whether a holder that did not free it may have done what the log does not say."""
    pushed_at: deque[float] = field(default_factory=lambda: deque(maxlen=MINUTE_PUSHES))
    """When this process pushed last."""
    _pushed: tuple[str, float] = ("", 0.0)
    """Our newest lease on the remote, and when it was pushed."""
    _watched: tuple[str, float] = ("", 0.0)
    """Somebody else's lease, and when it was first seen."""

    @property
    def held(self) -> bool:
        """Whether the lease on the remote, as last seen, is ours."""
        commit = self.mirror.refs.get(self.ref)
        return commit is not None and (self.sole or commit == self._pushed[0])

    @property
    def fresh(self) -> bool:
        return self.held and self.age_s < FRESH_S

    @property
    def age_s(self) -> float:
        return self.ticking() - self._pushed[1]

    def check(self) -> None:
        """Check that the lease lasts long enough for one write.

        Raises:
            LeaseTooOld: it may end before the write arrives; nothing was sent.
        """
        if not self.sole and not (self.held and self.age_s < TTL_S - SPARE_S):
            raise LeaseTooOld(f"the lease on {RESOURCE} must be renewed first")

    def renewed(self, now: int) -> RefUpdate:
        """Return the ref update that takes or renews the lease in the next push.

        Raises:
            NotHolder: somebody else's lease may still be alive.
        """
        old = self.mirror.refs.get(self.ref)
        parent = None
        if old is not None:
            # Ours may have come in a push whose answer was lost.
            known = None if old == self._pushed[0] else self._read(old)
            if old == self._pushed[0] or (known and known.nonce == self.nonce):
                parent = old
            elif not self.sole:
                self._check(known, old)
                self.doubts = True
        expires_ms, head = now + TTL_S * 1000, self.mirror.head
        lock = lease.Lock(self.actor, self.nonce, expires_ms, RESOURCE, head)
        return RefUpdate(self.ref, self.mirror.write_lock(lock, parent, now), old)

    def pushed(self, update: RefUpdate) -> None:
        self._pushed = (update.new or "", self.ticking())
        self.pushed_at.append(self._pushed[1])

    def freed(self) -> RefUpdate:
        return RefUpdate(self.ref, None, self.mirror.refs.get(self.ref))

    def _check(self, lock: lease.Lock | None, commit: str) -> None:
        if lock is None or lock.log_head not in self.mirror.newest_heads():
            return
        if commit != self._watched[0]:
            self._watched = (commit, self.ticking())
        waited_s = self.ticking() - self._watched[1]
        stands_s = SPARE_S if lock.nonce in self.dead else TTL_S
        if waited_s >= stands_s:
            return
        raise NotHolder(
            f"another bot ({lock.owner.hex()[:8]}) holds {RESOURCE}. Unless it renews "
            f"its lease, this bot takes over in {stands_s - waited_s:.0f} s"
        )

    def _read(self, commit: str) -> lease.Lock | None:
        if not self.mirror.has(commit):
            self.mirror.remote.fetch([commit])
        try:
            return lease.read(self.mirror.objects, commit, self.mirror.authority)
        except Corrupt:
            return None


CHECKPOINT_EVENTS: Final = 2_000
"""A checkpoint is due after this many events: a fresh clone folds about as many."""
ASKED_GAP_S: Final = 2.0
"""The least time between two pushes while people wait for answers."""
MINUTE_S: Final = 60.0
HURRIED: Final = 5
"""After so many pushes within a minute, the rest is spread over what is left of it."""


@dataclass(kw_only=True)
class Pushes:
    """Pushes drafts of one bot, each in its time; for one event loop."""

    context: BotContext
    wake: Wake
    lease: BotLease
    pause: Callable[[float], Coroutine[None, None, None]] = asyncio.sleep
    _kept: int = 0
    """How many requests the door had kept when the round began."""
    _checkpoints: bool = True
    """Whether the remote has not refused a checkpoint yet."""
    _renewing: asyncio.Lock = field(default_factory=asyncio.Lock)
    sending: Lock = field(default_factory=Lock)
    """Held while a push is under way."""

    async def push(self, draft: Draft) -> None:
        """Push a draft with the lease, and a checkpoint when one is due.

        An empty draft pushes only the lease.

        Raises:
            Conflict: somebody else wrote first.
            NotHolder: somebody else may hold the lease.
            Rejected: the remote refuses a ref, or the whole push.
        """
        mirror = self.context.mirror
        update = await asyncio.to_thread(self.lease.renewed, draft.now)
        kept: tuple[RefUpdate, ...] = ()
        if self._checkpoints and mirror.reading.events >= CHECKPOINT_EVENTS:
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
        with self.sending:
            draft.push(update, *kept)
            self.lease.pushed(update)
            del self.context.memory.noted[: draft.noted]

    async def hold(self) -> None:
        """Renew the lease if it is not fresh: slow effects may outlast it."""
        async with self._renewing:
            if not self.lease.fresh:
                await self.push(self.context.draft())

    def free(self) -> None:
        """Wait for a push under way, then give the lease back; blocking."""
        with self.sending:
            if self.lease.held:
                # Another process, say in another terminal, may have taken it over.
                with suppress(Conflict):
                    self.context.draft().push(self.lease.freed())
                    self.context.memory.noted.clear()
                self.lease.pushed_at.append(self.lease.ticking())

    async def wait(self) -> None:
        """Wait until the bot may push again, a short time if people wait."""
        self._kept = self.wake.kept
        if self.lease.held:
            whole_s = self.context.settings.push_gap_s - self.lease.age_s
            # Where nobody rings, a request that nobody has seen may wait.
            asked = self.wake.polls or (
                "mayor" in self.context.settings.roles
                and new_requests.waits(self.context)
            )
            if whole_s > 0 and not asked:  # nor longer than until a request comes
                async with asyncio.TaskGroup() as group:
                    pause = group.create_task(self.pause(whole_s))
                    hear = group.create_task(self.wake.more_kept(self._kept))
                    ends = asyncio.FIRST_COMPLETED
                    await asyncio.wait((pause, hear), return_when=ends)
                    pause.cancel(), hear.cancel()
            if self.left_s > 0:
                await self.pause(self.left_s)
        self._kept = self.wake.kept

    @property
    def left_s(self) -> float:
        """How long the next push has to wait, whoever waits for it."""
        gap_s, now = self.context.settings.push_gap_s, self.lease.ticking()
        window_s = MINUTE_S + 1  # the forge counts when a push reaches it
        sent = [at for at in self.lease.pushed_at if at > now - window_s]
        if not (sent and gap_s):
            return 0.0
        least_s = min(gap_s, ASKED_GAP_S)
        if len(sent) >= HURRIED:
            shares = MINUTE_PUSHES + 1 - len(sent)
            least_s = max(least_s, (sent[0] + window_s - sent[-1]) / shares)
        return max(sent[-1] + least_s - now, 0.0)

    @property
    def interrupted(self) -> bool:
        """Whether somebody has asked for something since the round began."""
        return self.wake.kept != self._kept


Group = frozenset[str]
BUDGET: Final = 6
"""How many pushes the remote may refuse in a minute."""
MINUTE_MS: Final = 60_000


class LogRefused(Rejected):
    """The remote refuses the log itself: nothing can land."""


@dataclass(kw_only=True)
class RefusedParts:
    """What one process knows of the pushes that were refused; for one event loop."""

    _groups: list[Group] = field(default_factory=list)
    """The groups still to be tried, each in a push of its own."""
    _log: tuple[int, LogRefused] | None = None
    """Until when the log is not pushed, unix ms, and why."""
    _refused_at: list[int] = field(default_factory=list)
    """When pushes were refused in the last minute, unix ms."""

    @property
    def only(self) -> Group | None:
        """The items whose refs may move in the next push; None: all."""
        return self._groups[0] if self._groups else None

    def free_at(self, now: int) -> int:
        """Return when the next push may be sent after the refused ones, unix ms."""
        self._refused_at = [at for at in self._refused_at if at > now - MINUTE_MS]
        over = len(self._refused_at) - BUDGET
        return self._refused_at[over] + MINUTE_MS if over >= 0 else now

    def goes_on(self, now: int) -> bool:
        """Whether another group may be tried now; else the minute is waited for."""
        return self.only is not None and self.free_at(now) <= now

    def check(self, now: int) -> None:
        """Check that the log may be pushed: less than a minute ago it was refused.

        Raises:
            LogRefused: as then.
        """
        if self._log is not None and now < self._log[0]:
            raise self._log[1]

    def taken(self, draft: Draft) -> None:
        """Note that a push arrived; its group holds nothing that is refused."""
        if draft.only == self.only:
            del self._groups[:1]

    def blame(self, draft: Draft, error: Rejected) -> tuple[ItemSetAside, ...]:
        """Return the items to set aside after a refused push.

        None at all: the next, smaller group is tried.

        Raises:
            LogRefused: the log's own refs are refused.
        """
        self._refused_at.append(draft.now)
        answer = error.answer
        named = {draft.item_of(each.ref): each for each in answer.refused}
        if LOG_ITEM in named or not draft.parts:
            self._groups.clear()
            refused = LogRefused(error.argv, error.status, error.stderr, answer)
            self._log = draft.now + MINUTE_MS, refused
            raise refused
        if named:
            standing = _standing(draft)
            blamed = {
                draft.item_of(each.ref): each
                for each in answer.refused
                if draft.refs.get(each.ref) not in standing
            }
            above = frozenset(named.keys() - blamed.keys())
            self._groups = [group - named.keys() for group in self._groups]
            if above and not blamed:  # what they stand on is tried without them
                self._groups = [draft.parts - above, above, *self._groups]
            return tuple(
                refusal_of_push(each.said or answer.said, each.ref, item)
                for item, each in blamed.items()
            )
        parts, first = draft.parts, not self._groups
        del self._groups[:1]
        if first:
            again = frozenset(item for item in parts if draft.state.aside_of(item))
            fresh = parts - again
            both = [fresh, again] if fresh and again else _halves(parts)
            self._groups = [frozenset(), *both]
            return ()
        if len(parts) == 1:
            return tuple(refusal_of_push(answer.said, "", item) for item in parts)
        self._groups = [*_halves(parts), *self._groups]
        return ()


def _standing(draft: Draft) -> frozenset[str]:
    """Return the candidates that stand on, and hold, others of the same push.

    What the push lands has its candidate in the state before it alone.
    """
    made = {
        candidate.commit: (task_item(convoy.name, number), candidate.base)
        for state in (draft.before, draft.state)
        for convoy in state.live()
        for number, candidate in (
            (0, convoy.candidate),
            *((task.number, task.candidate) for task in convoy.tasks),
        )
        if candidate is not None
    }
    return frozenset(
        commit
        for commit, (_, base) in made.items()
        if base in made and made[base][0] in draft.parts
    )


def _halves(parts: Group) -> tuple[Group, ...]:
    listed = sorted(parts)
    middle = len(listed) // 2
    return tuple(frozenset(half) for half in (listed[:middle], listed[middle:]) if half)


async def tell_of_refused_log(context: BotContext, refused: LogRefused) -> None:
    """Comment on an issue that waits, once a day, found again by its marker."""
    day = datetime.fromtimestamp(context.clock() / 1000, UTC)
    key = f"log-refused/{day:%Y-%m-%d}"
    asked = [each.issue for each in context.inbox.requests().values()]
    asked += [each.issue for each in context.inbox.remarks().values()]
    live = [convoy.issue for convoy in context.mirror.state.live()]
    issue = next(reversed(asked or live), None)  # the one that asked last
    if issue is None or key in context.memory.shown:
        return
    if await context.github.said(issue, key, context.login) is None:
        why = refusal_of_push(refused.answer.said, "refs/grite/wal")
        convoy = convoy_of(context.mirror.state, issue)
        text = with_box_note(log_refused(why.why, why.helps), convoy)
        await context.github.say(issue, f"{ids.marker(key)}\n{text}")
    context.memory.shown[key] = issue
