"""What one push will carry: events decided on, and ref moves, each seen at once.

Nothing in a draft is true before its push; a conflict throws all of it away.
"""

from collections.abc import Iterable

from bot.repository.mirror import Mirror
from convoy import ids
from convoy.commands import Command
from convoy.decide import Refusal, decide
from convoy.events import ActionIntended
from convoy.record import record
from grite import lease as locks
from grite.event import Event as GriteEvent
from grite.remote import RefUpdate


class Draft:
    """A push in the making, over the mirror's state and refs."""

    def __init__(self, mirror: Mirror, actor: bytes, now: int) -> None:
        self.now = now
        """Unix ms."""
        self.state = mirror.state
        """As it will be after the push."""
        self.refs = dict(mirror.refs)
        """As they will be after the push."""
        self.intended: set[str] = set()
        """Keys of the actions it announces."""
        self.actor = actor
        self._mirror = mirror
        self._events: list[GriteEvent] = []
        self._updates: dict[str, RefUpdate] = {}

    def __bool__(self) -> bool:
        """Whether there is anything to push."""
        return bool(self._events or self._updates)

    def submit(self, command: Command) -> Refusal | None:
        """Decide on `command`; its events join the draft. A refusal changes nothing."""
        decision = decide(self.state, command)
        if isinstance(decision, Refusal):
            return decision
        self.state, events = record(self.state, decision, actor=self.actor, at=self.now)
        self._events += events
        self.intended |= {e.key for e in decision if isinstance(e, ActionIntended)}
        return None

    def claim(self, events: Iterable[GriteEvent]) -> None:
        """Import a session's own events, unchanged; they change no state."""
        self._events += events

    def move(self, ref: str, new: str | None) -> None:
        """Move `ref` (None: delete it) from where the mirror last saw it."""
        if self.refs.get(ref) == new:
            return
        self._updates[ref] = RefUpdate(ref, new, self._mirror.refs.get(ref))
        if new is None:
            self.refs.pop(ref, None)
        else:
            self.refs[ref] = new

    def keep(self, convoy: str, task: int, attempt: int, commit: str) -> None:
        """Keep a commit of an attempt for good; what is kept already stays beside it.

        Its work may be put on another base and be replaced again: none is ever lost.
        """
        ref, beside = ids.attempt_refs(convoy, task, attempt, commit)
        kept = self.refs.get(ref)
        another = kept is not None and kept != commit
        self.move(beside if another else ref, commit)

    def push(self, *also: RefUpdate) -> None:
        """Push all of it with the bot's lease and what else goes, as `Mirror.push`."""
        self._move_locks()
        updates = {**self._updates, **{update.ref: update for update in also}}
        self._mirror.push(self._events, updates, actor=self.actor)

    def _move_locks(self) -> None:
        """Show leases that change hands as lock refs, where grite looks for them."""
        before, after = self._mirror.state.leases, self.state.leases
        for resource in before.keys() - after.keys():
            self.move(locks.ref_of(resource), None)
        for resource, lease in after.items():
            if before.get(resource) != lease:
                lock = locks.Lock(self.actor, lease.nonce, lease.expires, resource)
                commit = locks.write(
                    self._mirror.objects, lock, parent=None, at_ms=self.now
                )
                self.move(locks.ref_of(resource), commit)
