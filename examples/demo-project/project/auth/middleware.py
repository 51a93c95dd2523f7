"""Look at a request's headers and say who sends it."""

from collections.abc import Mapping
from dataclasses import dataclass

from auth import signing, tokens


@dataclass(frozen=True)
class Denied:
    """The request must not go on; `why` may be shown."""

    why: str


def authenticate(
    headers: Mapping[str, str], *, key: bytes, now: int
) -> tokens.Claims | Denied:
    """Return the sender's claims, or why there are none."""
    scheme, _, token = headers.get("Authorization", "").partition(" ")
    # The scheme's case does not matter: https://www.rfc-editor.org/rfc/rfc9110#section-11.1
    if scheme != "Bearer":
        return Denied("no bearer token")
    try:
        return tokens.read(token.strip(), key=key, now=now)
    except tokens.Expired:
        return Denied("the token has expired")
    except signing.Forged:
        return Denied("the token is not ours")
