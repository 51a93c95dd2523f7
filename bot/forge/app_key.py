"""A GitHub App's private key, and the tokens (JWT) that are signed with it.

The key never leaves this object, and no message quotes it.
https://docs.github.com/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-json-web-token-jwt-for-a-github-app
"""

from dataclasses import dataclass, field
from typing import Final, Self

import jwt
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from bot.forge.forge_clock import ForgeClock
from grite.errors import BratError

BACKDATED_S: Final = 60
"""Backdating keeps a forge whose clock is behind from seeing a future token."""
SIGNED_FOR_S: Final = 540
"""GitHub allows ten minutes from `iat` in all."""
MOVED_S: Final = 2.0
"""A smaller change of the clock's offset only comes from an answer's delay."""


@dataclass(frozen=True, kw_only=True)
class AppKey:
    """An App's identity, and the key that proves it."""

    app_id: str
    """The App's id or client id."""
    private_key: RSAPrivateKey = field(repr=False)

    @classmethod
    def from_pem(cls, app_id: str, pem: str) -> Self:
        """Read the key that GitHub gave for the App.

        Raises:
            BratError: the text is no private RSA key, or the key has a password.
        """
        try:
            key = load_pem_private_key(pem.encode(), password=None)
        except (ValueError, TypeError, UnsupportedAlgorithm):
            key = None
        if not isinstance(key, RSAPrivateKey):
            raise BratError(
                f"the private key of the App {app_id} cannot be read: it must be the "
                ".pem file as it was downloaded from the App's settings"
            )
        return cls(app_id=app_id, private_key=key)


class AppJwt:
    """The App's own tokens: signed here, valid for minutes, for `/app/...` only."""

    def __init__(self, app: AppKey, clock: ForgeClock) -> None:
        self._app = app
        self._clock = clock
        self._offset_s = clock.offset_s

    async def token(self) -> str:
        """Return a newly signed token."""
        self._offset_s = self._clock.offset_s
        now = int(self._clock.now())
        claims = {
            "iat": now - BACKDATED_S,
            "exp": now + SIGNED_FOR_S,
            "iss": self._app.app_id,
        }
        return jwt.encode(claims, self._app.private_key, algorithm="RS256")

    def spoiled(self, token: str) -> bool:  # noqa: ARG002  only the clock matters
        """Return whether the forge's clock has moved since the token was signed."""
        return abs(self._clock.offset_s - self._offset_s) > MOVED_S
