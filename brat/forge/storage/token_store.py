"""Tokens: making them, and finding the account of a token."""

import hashlib
import hmac
import secrets
from dataclasses import dataclass

from brat.forge.resources.account_resource import Access, Scope, Token, User
from brat.forge.storage.record_store import Store
from brat.forge.wire.timestamps import Clock, parse


@dataclass(frozen=True, slots=True)
class Caller:
    """The account behind a valid token."""

    user: User
    token: Token


class TokenStore:
    """The tokens of a forge; of each only a digest is kept."""

    def __init__(self, store: Store, clock: Clock) -> None:
        """Keep tokens in `store`."""
        self._store = store
        self._clock = clock

    def add(
        self,
        who: User,
        *,
        scope: Scope = "write",
        repo: int | None = None,
        access: Access | None = None,
    ) -> str:
        """Make a token and return it; it cannot be read again."""
        secret = secrets.token_urlsafe(32)
        with self._store.change():
            number = self._store.next_id()
            self._store.tokens.put(
                Token(
                    id=number,
                    user=who.id,
                    scope=scope,
                    digest=digest(secret),
                    repo=repo,
                    access=access,
                )
            )
        return f"brat_{number}_{secret}"

    def drop(self, token: Token) -> None:
        """Make a token worthless; safe to call twice."""
        with self._store.change():
            if self._store.tokens.get(token.id) is not None:
                self._store.tokens.remove(token)

    def caller(self, secret: str) -> Caller | None:
        """Return the account and token of a secret; None if it is not valid here."""
        _, _, rest = secret.partition("_")
        number, _, key = rest.partition("_")
        token = self._store.tokens.get(int(number)) if number.isdecimal() else None
        if token is None or not hmac.compare_digest(token.digest, digest(key)):
            return None
        if token.access and parse(token.access.expires_at) <= self._clock():
            self.drop(token)
            return None
        who = self._store.users.get(token.user)
        return Caller(who, token) if who is not None else None


def digest(secret: str) -> str:
    """Return a secret's digest. Secrets are long and random: SHA-256 is enough."""
    return hashlib.sha256(secret.encode()).hexdigest()
