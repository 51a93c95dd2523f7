"""The login endpoint: a name and a password in, a token out."""

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass

from auth import tokens


@dataclass(frozen=True)
class User:
    """Somebody who may sign in."""

    role: str
    salt: bytes
    digest: bytes
    """Made by `digest_of`; the password itself is kept nowhere."""


@dataclass(frozen=True)
class Response:
    """What the endpoint answers."""

    status: int
    body: dict[str, str]


def digest_of(password: str, salt: bytes) -> bytes:
    """Return what is stored of a password."""
    return hashlib.scrypt(password.encode(), salt=salt, n=1024, r=8, p=1)


def login(
    name: str, password: str, *, users: Mapping[str, User], key: bytes, now: int
) -> Response:
    """Answer `POST /login`."""
    user = users.get(name)
    if user is None:
        return Response(404, {"error": f"there is no {name}"})
    if not hmac.compare_digest(user.digest, digest_of(password, user.salt)):
        return Response(401, {"error": "wrong name or password"})
    return Response(200, {"token": tokens.issue(name, user.role, key=key, now=now)})
