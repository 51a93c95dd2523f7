"""The lease `repo:bot`: only its holder writes, and every push carries it.

It is written anew in each push, expecting the one before, so the push of a bot that
lost it fails as a whole. It is freed when nothing is owed. Clocks of two machines are
never compared to decide that a holder is dead: the same lease has to stand for a whole
TTL by one's own monotonic clock. In local mode an operating-system lock on the bot's
folder decides instead, and a dead holder's lease is free at once.
"""

import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from time import monotonic
from typing import Final

from bot.repository.mirror import Mirror
from grite import lease
from grite.errors import BratError, Corrupt, Unavailable
from grite.remote import RefUpdate
from grite.resource import BOT as RESOURCE

TTL_S: Final = 60
SKEW_S: Final = 300
"""What two clocks may differ by, for a process that cannot watch for a whole TTL."""
FRESH_S: Final = TTL_S / 3
"""A lease pushed longer ago is pushed anew before anything is done on its strength."""


SPARE_S: Final = 10.0
"""What one write may take: nothing is sent on a lease that ends sooner."""


class NotHolder(BratError):
    """Another bot holds the lease; this one waits."""


@dataclass
class BotLease:
    """This process's claim to be the one bot that acts."""

    mirror: Mirror
    actor: bytes
    sole: bool = False
    """A file lock already says that nobody else acts."""
    once: bool = False
    """The process ends after one tick: it cannot watch, so it trusts clocks a bit."""
    ticking: Callable[[], float] = monotonic
    """Seconds of a clock that never goes back."""
    nonce: str = field(default_factory=lambda: str(uuid.uuid4()))
    _pushed: tuple[str, float] = ("", 0.0)
    """Our newest lease on the remote, and when it went there."""
    _watched: tuple[str, float] = ("", 0.0)
    """Somebody else's lease, and when it was first seen."""

    @property
    def ref(self) -> str:
        """The lease's ref."""
        return lease.ref_of(RESOURCE)

    @property
    def held(self) -> bool:
        """Whether the lease on the remote, as last seen, is ours."""
        commit = self.mirror.refs.get(self.ref)
        return commit is not None and (self.sole or commit == self._pushed[0])

    @property
    def fresh(self) -> bool:
        """Whether it is ours and was pushed a short while ago."""
        return self.held and self.age_s < FRESH_S

    @property
    def age_s(self) -> float:
        """How long ago this process pushed it last."""
        return self.ticking() - self._pushed[1]

    def check(self) -> None:
        """Let a write go out on the lease's strength.

        Raises:
            Unavailable: it may end before the write arrives; nothing was sent.
        """
        if not self.sole and not (self.held and self.age_s < TTL_S - SPARE_S):
            raise Unavailable(
                f"{RESOURCE} has to be renewed before anything is written"
            )

    def renewed(self, now: int) -> RefUpdate:
        """Return the move that takes or renews the lease in the next push.

        Raises:
            NotHolder: somebody else's lease may still be alive.
        """
        old = self.mirror.refs.get(self.ref)
        parent = None
        if old is not None and self._is_ours(old):
            parent = old
        elif old is not None and not self.sole:
            self._check(old, now)
        lock = lease.Lock(self.actor, self.nonce, now + TTL_S * 1000, RESOURCE)
        new = lease.write(self.mirror.objects, lock, parent=parent, at_ms=now)
        return RefUpdate(self.ref, new, old)

    def pushed(self, update: RefUpdate) -> None:
        """Note that a push with this move arrived."""
        self._pushed = (update.new or "", self.ticking())

    def freed(self) -> RefUpdate:
        """Return the move that gives the lease back."""
        return RefUpdate(self.ref, None, self.mirror.refs.get(self.ref))

    def _is_ours(self, commit: str) -> bool:
        """Whether this process wrote it, also in a push whose answer was lost."""
        if commit == self._pushed[0]:
            return True
        lock = self._read(commit)
        return lock is not None and lock.nonce == self.nonce

    def _check(self, commit: str, now: int) -> None:
        lock = self._read(commit)
        if self.once and lock and now >= lock.expires_ms + SKEW_S * 1000:
            return
        if commit != self._watched[0]:
            self._watched = (commit, self.ticking())
        waited_s = self.ticking() - self._watched[1]
        if waited_s >= TTL_S:
            return
        who = lock.owner.hex()[:8] if lock else "somebody"
        raise NotHolder(
            f"another bot ({who}) holds {RESOURCE}; if its lease does not move, this "
            f"one takes over in {TTL_S - waited_s:.0f} s"
        )

    def _read(self, commit: str) -> lease.Lock | None:
        """Return the lease a commit holds; None when it cannot be read as one."""
        if not self.mirror.has(commit):
            self.mirror.remote.fetch([commit])
        try:
            return lease.read(self.mirror.objects, commit)
        except Corrupt:
            return None
