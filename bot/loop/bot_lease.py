"""The lease `repo:bot`: only its holder writes, and every push carries it.

Each push writes the lease anew and expects the previous one, so the push of a bot that
lost the lease fails as a whole. The lease is freed when nothing is owed. Two machines'
clocks are never compared to decide that a holder is dead: the same lease has to stand
for a whole TTL by this process's monotonic clock. The lease of a process that is known
to be dead stands only until what it had sent has arrived. In local mode an
operating-system lock on the bot's folder decides instead, and a dead holder's lease is
free at once.

A lease binds nobody unless an allowed key signed it, and unless it names the log's
newest commit or the one before: an old lease cannot be pushed again to stop the bot.
"""

import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from time import monotonic
from typing import Final

from bot.context.lease_errors import LeaseTooOld, NotHolder
from bot.repository.mirror import Mirror
from grite import lease
from grite.errors import Corrupt
from grite.remote import RefUpdate
from grite.resource import BOT as RESOURCE

TTL_S: Final = 60
SKEW_S: Final = 300
"""How far two clocks may differ, for a process that cannot watch for a whole TTL."""
FRESH_S: Final = TTL_S / 3
"""A lease older than this is renewed before the bot acts under it."""
SPARE_S: Final = 10.0
"""How long one write may take: nothing is sent under a lease that ends sooner."""


@dataclass
class BotLease:
    """This process's claim to be the one bot that acts."""

    mirror: Mirror
    actor: bytes
    sole: bool = False
    """Whether a file lock already ensures that no other bot acts."""
    once: bool = False
    """Whether the process ends after one tick: it then trusts clocks within SKEW_S."""
    ticking: Callable[[], float] = monotonic
    """Seconds of a clock that never goes back."""
    dead: frozenset[str] = frozenset()
    """The nonces of processes that are dead; see `bot.settings.bot_folder`."""
    nonce: str = field(default_factory=lambda: str(uuid.uuid4()))
    _pushed: tuple[str, float] = ("", 0.0)
    """Our newest lease on the remote, and when it was pushed."""
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
        """Whether the lease is ours and was pushed less than FRESH_S ago."""
        return self.held and self.age_s < FRESH_S

    @property
    def age_s(self) -> float:
        """How long ago this process last pushed the lease."""
        return self.ticking() - self._pushed[1]

    def check(self) -> None:
        """Check that the lease lasts long enough for one write.

        Raises:
            LeaseTooOld: it may end before the write arrives; nothing was sent.
        """
        if not self.sole and not (self.held and self.age_s < TTL_S - SPARE_S):
            raise LeaseTooOld(
                f"{RESOURCE} has to be renewed before anything is written"
            )

    def renewed(self, now: int) -> RefUpdate:
        """Return the ref update that takes or renews the lease in the next push.

        Raises:
            NotHolder: somebody else's lease may still be alive.
        """
        old = self.mirror.refs.get(self.ref)
        parent = None
        if old is not None and self._is_ours(old):
            parent = old
        elif old is not None and not self.sole:
            self._check(old, now)
        expires_ms, head = now + TTL_S * 1000, self.mirror.head
        lock = lease.Lock(self.actor, self.nonce, expires_ms, RESOURCE, head)
        new = lease.write(
            self.mirror.objects,
            lock,
            parent=parent,
            at_ms=now,
            writer=self.mirror.writer,
        )
        return RefUpdate(self.ref, new, old)

    def pushed(self, update: RefUpdate) -> None:
        """Note that a push with this ref update arrived."""
        self._pushed = (update.new or "", self.ticking())

    def freed(self) -> RefUpdate:
        """Return the ref update that gives the lease back."""
        return RefUpdate(self.ref, None, self.mirror.refs.get(self.ref))

    def _is_ours(self, commit: str) -> bool:
        """Whether this process wrote the lease, even in a push with a lost answer."""
        if commit == self._pushed[0]:
            return True
        lock = self._read(commit)
        return lock is not None and lock.nonce == self.nonce

    def _check(self, commit: str, now: int) -> None:
        lock = self._read(commit)
        if lock is None or lock.log_head not in self.mirror.newest_heads():
            return
        if self.once and now >= lock.expires_ms + SKEW_S * 1000:
            return
        if commit != self._watched[0]:
            self._watched = (commit, self.ticking())
        waited_s = self.ticking() - self._watched[1]
        stands_s = SPARE_S if lock.nonce in self.dead else TTL_S
        if waited_s >= stands_s:
            return
        raise NotHolder(
            f"another bot ({lock.owner.hex()[:8]}) holds {RESOURCE}; if its lease does "
            f"not move, this one takes over in {stands_s - waited_s:.0f} s"
        )

    def _read(self, commit: str) -> lease.Lock | None:
        """Return the lease in a commit; None: it holds none that counts."""
        if not self.mirror.has(commit):
            self.mirror.remote.fetch([commit])
        try:
            return lease.read(self.mirror.objects, commit, self.mirror.authority)
        except Corrupt:
            return None
