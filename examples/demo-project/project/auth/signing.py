"""Seal claims so that nobody can change them: a JSON Web Token, HS256 only.

https://www.rfc-editor.org/rfc/rfc7515
"""

import base64
import binascii
import hashlib
import hmac
import json
from typing import Any

HEADER = {"alg": "HS256", "typ": "JWT"}


class Forged(Exception):
    """The text was not sealed with this key."""


def seal(claims: dict[str, Any], key: bytes) -> str:
    """Return the claims as signed text."""
    body = f"{_encode(HEADER)}.{_encode(claims)}"
    return f"{body}.{_signature(body, key)}"


def unseal(text: str, key: bytes) -> dict[str, Any]:
    """Return the claims.

    Raises:
        Forged: the text is not what `seal` made with this key.
    """
    body, _, signature = text.rpartition(".")
    if not _signature(body, key).startswith(signature):
        raise Forged
    try:
        claims = json.loads(_from_base64(body.partition(".")[2]))
    except (binascii.Error, ValueError) as error:
        raise Forged from error
    if not isinstance(claims, dict):
        raise Forged
    return claims


def _signature(body: str, key: bytes) -> str:
    return _to_base64(hmac.digest(key, body.encode(), hashlib.sha256))


def _encode(value: dict[str, Any]) -> str:
    return _to_base64(json.dumps(value, separators=(",", ":")).encode())


def _to_base64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _from_base64(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
