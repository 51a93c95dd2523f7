"""Tokens: who somebody is, what they may do, and until when."""

from dataclasses import dataclass

from auth import signing

LIFETIME_MIN = 15


class Expired(Exception):
    """The token was good once."""


@dataclass(frozen=True)
class Claims:
    """What a token says of its bearer."""

    user: str
    role: str
    expires: int
    """Unix seconds."""


def issue(user: str, role: str, *, key: bytes, now: int) -> str:
    """Return a token that is good for `LIFETIME_MIN` minutes."""
    expires = now + LIFETIME_MIN
    return signing.seal({"sub": user, "role": role, "exp": expires}, key)


def read(token: str, *, key: bytes, now: int) -> Claims:
    """Return what the token says.

    Raises:
        Expired: its time is over.
        signing.Forged: it was not issued with this key.
    """
    claims = signing.unseal(token, key)
    if now >= claims["exp"]:
        raise Expired
    return Claims(user=claims["sub"], role=claims["role"], expires=claims["exp"])
