"""The lease `repo:bot`: only its holder writes refs, and every push carries it.

It is written anew in each push, so a push by anyone who lost it fails as a whole. It is
freed when nothing is owed. In local mode an operating-system lock on the bot's folder
decides instead, and a dead holder's lease is free at once.
"""

import uuid
from dataclasses import dataclass, field
from typing import Final

from bot.mirror import Mirror
from grite import lease
from grite.errors import BratError
from grite.remote import RefUpdate

RESOURCE: Final = "repo:bot"
TTL_MS: Final = 60_000
SKEW_MS: Final = 300_000
"""A foreign lease counts this much longer than it says: clocks differ."""


class NotHolder(BratError):
    """Another bot holds the lease; this one waits."""


@dataclass
class BotLease:
    """This process's claim to be the one bot that acts."""

    mirror: Mirror
    actor: bytes
    sole: bool
    """Whether a file lock already says that nobody else acts."""
    nonce: str = field(default_factory=lambda: str(uuid.uuid4()))

    @property
    def ref(self) -> str:
        """The lease's ref."""
        return lease.ref_of(RESOURCE)

    @property
    def held(self) -> bool:
        """Whether the lease is on the remote at all, as last seen."""
        return self.ref in self.mirror.refs

    def renewed(self, now: int) -> RefUpdate:
        """Return the move that takes or renews the lease in the next push.

        Raises:
            NotHolder: somebody else's lease has not run out.
        """
        old = self.mirror.refs.get(self.ref)
        if old and not self.sole:
            self._check(old, now)
        lock = lease.Lock(self.actor, self.nonce, now + TTL_MS, RESOURCE)
        new = lease.write(self.mirror.objects, lock, parent=None, at_ms=now)
        return RefUpdate(self.ref, new, old)

    def freed(self) -> RefUpdate:
        """Return the move that gives the lease back."""
        return RefUpdate(self.ref, None, self.mirror.refs.get(self.ref))

    def _check(self, commit: str, now: int) -> None:
        if not self.mirror.has(commit):
            self.mirror.remote.fetch([commit])
        lock = lease.read(self.mirror.objects, commit)
        if lock.nonce != self.nonce and now < lock.expires_ms + SKEW_MS:
            raise NotHolder(
                f"another bot ({lock.owner.hex()[:8]}) holds {RESOURCE} until "
                f"{lock.expires_ms}; this one waits"
            )
