"""Collects the events and ref moves of one push, each visible in the draft at once.

Nothing in a draft is true before its push; a conflict discards all of it. A draft is
made of parts, one for each item: a part that fails leaves nothing behind, and a ref
that is refused names its part.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import chain
from typing import Final

from bot.repository.mirror import Mirror
from convoy.events import Command, Refusal, decided
from convoy.events.forge_actions import (
    ActionDone,
    ActionIntended,
    Answer,
    ItemSetAside,
    ItemTakenUp,
    RequestIgnored,
)
from convoy.log.record import record
from convoy.model import ids
from convoy.model.ids import LOG_ITEM
from grite import lease as locks
from grite.errors import BratError
from grite.event import Event as GriteEvent
from grite.remote import RefUpdate

ANSWERS: Final = "answer:"
_NOTED: Final = ANSWERS, "pull:"
"""How the keys begin of actions that may be noted later."""


class NotAdmitted(BratError):
    """A part's refs are left for another push; the part is undone."""


class Draft:
    """A push in the making, over the mirror's state and refs."""

    def __init__(self, mirror: Mirror, actor: bytes, now: int) -> None:
        self.now = now
        """Unix ms."""
        self.state = self.before = mirror.state
        """The state as it will be after the push; `before`: as it was."""
        self.refs = dict(mirror.refs)
        """The remote's refs as they will be after the push."""
        self.intended: set[str] = set()
        """Keys of the actions that the draft announces."""
        self.told: set[str] = set()
        """The items that the draft sets aside or takes up for the bot."""
        self.actor = actor
        self.noted = 0
        """How many notes of its process it begins with."""
        self.commands: list[Command] = []
        """The commands that were accepted."""
        self._mirror = mirror
        self._events: list[GriteEvent] = []
        self._updates: dict[str, RefUpdate] = {}
        self.only: frozenset[str] | None = None
        """The items whose refs may move; None: all."""
        self._item = LOG_ITEM
        self._items: dict[str, tuple[str, ...]] = {}
        """The items that move each ref, one after another."""

    @contextmanager
    def part(self, item: str) -> Iterator[None]:
        """Make what the block does the item's part; an exception undoes all of it."""
        outer, self._item = self._item, item
        before = self.state, dict(self.refs), set(self.intended), len(self._events)
        moved, commands = (dict(self._updates), dict(self._items)), len(self.commands)
        try:
            yield
        except BaseException:
            self.state, self.refs, self.intended, events = before
            del self._events[events:], self.commands[commands:]
            self._updates, self._items = moved
            raise
        finally:
            self._item = outer

    def admits(self, item: str) -> bool:
        """Whether refs of the item may move in this push."""
        return item == LOG_ITEM or self.only is None or item in self.only

    @property
    def parts(self) -> frozenset[str]:
        """The items whose refs move; the log's own are no item's."""
        return frozenset(chain.from_iterable(self._items.values())) - {LOG_ITEM}

    def item_of(self, ref: str) -> str:
        """Return the item whose part moves a ref last; `LOG`: the log's own."""
        return self._items.get(ref, (LOG_ITEM,))[-1]

    @property
    def can_wait(self) -> bool:
        """Whether it holds only answers and what was done.

        If it is lost, the same is found on the forge, by the comment and by its key.
        """
        return not self._updates and all(
            isinstance(each, Answer | RequestIgnored)
            or (isinstance(each, ActionDone) and each.key.startswith(_NOTED))
            for each in self.commands
        )

    def __bool__(self) -> bool:
        return bool(self._events or self._updates)

    def submit(self, command: Command) -> Refusal | None:
        """Decide on `command`; its events join the draft. A refusal changes nothing."""
        decision = decided(command, self.state)
        if isinstance(decision, Refusal):
            return decision
        self.state, events = record(self.state, decision, actor=self.actor, at=self.now)
        self._events += events
        self.intended |= {e.key for e in decision if isinstance(e, ActionIntended)}
        self.commands.append(command)
        return None

    def say(self, number: int, kind: str, about: str, text: str) -> None:
        """Announce a comment on an issue or pull request; see `ids.sign_key`."""
        sign = ids.sign_key(kind, about)
        self.submit(Answer(issue=number, sign=sign, text=text))

    def tell(self, owed: Mapping[str, ItemSetAside | ItemTakenUp], item: str) -> None:
        """Set an item aside, or take it up, once in this draft, if that is owed."""
        if item in owed and item not in self.told:
            self.told.add(item)
            with self.part(LOG_ITEM):
                self.submit(owed[item])

    def claim(self, events: Iterable[GriteEvent]) -> None:
        """Import a session's own events, unchanged; they change no state."""
        self._events += events

    def move(self, ref: str, new: str | None) -> None:
        """Move `ref` (None: delete it) from where the mirror last saw it."""
        if self.refs.get(ref) == new:
            return
        if not self.admits(self._item):
            raise NotAdmitted(f"{self._item} is waiting for another push")
        seen = self._mirror.refs.get(ref)
        if new == seen:  # it was moved there and back
            del self._updates[ref], self._items[ref]
        else:
            self._updates[ref] = RefUpdate(ref, new, seen)
            self._items[ref] = (*self._items.get(ref, ()), self._item)
        if new is None:
            self.refs.pop(ref, None)
        else:
            self.refs[ref] = new

    def keep(self, convoy: str, task: int, attempt: int, commit: str) -> str:
        """Keep a commit of an attempt for good, beside any other; return its ref."""
        ref, beside = ids.attempt_refs(convoy, task, attempt, commit)
        found = ref if self.refs.get(ref) in (None, commit) else beside
        self.move(found, commit)
        return found

    def push(self, *also: RefUpdate) -> None:
        """Push the draft with other ref updates, such as the lease: `Mirror.push`."""
        # Each changed lease is written to its lock ref, where grite looks for it.
        before, after = self._mirror.state.leases, self.state.leases
        for resource in before.keys() - after.keys():
            self.move(locks.ref_of(resource), None)
        for resource, lease in after.items():
            if before.get(resource) != lease:
                lock = locks.Lock(self.actor, lease.nonce, lease.expires, resource)
                commit = self._mirror.write_lock(lock, None, self.now)
                self.move(locks.ref_of(resource), commit)
        updates = {**self._updates, **{update.ref: update for update in also}}
        self._mirror.push(self._events, updates, actor=self.actor)
