"""Checks the OpenID Connect token of a GitHub job, claim by claim.

The token is the forge's word on one job, and counts only once. The forge's key must
have signed it for this bot, it must not have expired, and it must name the repository,
the workflow file on the default branch, and the attempt's run in the log.
https://docs.github.com/actions/reference/security/oidc
"""

import asyncio
import hashlib
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import httpx
import jwt

from grite.errors import Unavailable

ALGORITHM: Final = "RS256"
LEEWAY_S: Final = 60
"""How far the forge's clock and ours may differ."""
KEYS_LAST_S: Final = 3600.0
KEYS_AGAIN_S: Final = 30.0
"""The least time between two fetches of the keys, even if a key is unknown."""
_NEEDED: Final = ("aud", "exp", "iat", "iss", "jti", "nbf")
_GITHUB: Final = "https://token.actions.githubusercontent.com"


class Untrusted(Exception):
    """The token does not prove the job's identity; the message says why."""


def issuer_of(api_url: str) -> str:
    """Return the issuer of a forge's job tokens, given the address of its API.

    https://docs.github.com/enterprise-server@latest/actions/reference/security/oidc
    https://docs.github.com/enterprise-cloud@latest/admin/data-residency/feature-overview-for-github-enterprise-cloud-with-data-residency
    """
    parts = urlsplit(api_url)
    host = parts.netloc
    if host == "api.github.com":
        return _GITHUB
    if host.startswith("api.") and host.endswith(".ghe.com"):
        return f"https://token.actions.{host.removeprefix('api.')}"
    return f"{parts.scheme}://{host}/_services/token"


class Issuer:
    """The forge's issuer of tokens, and the tokens already used."""

    def __init__(
        self, client: httpx.AsyncClient, url: str, audience: str, used: Path
    ) -> None:
        """Trust the keys that `url` publishes; the file `used` survives a restart."""
        self._client = client
        self._url = url.rstrip("/")
        self._audience = audience
        self._used = _Used(used)
        self._keys: dict[str, jwt.PyJWK] = {}
        self._old_at = self._again_at = time.monotonic()
        self._fetching = asyncio.Lock()

    async def check(self, token: str, wanted: Mapping[str, str]) -> None:
        """Check that a token has the wanted claims; a token counts once.

        Raises:
            Untrusted: a claim or the signature is wrong, or the token was used before.
            Unavailable: the keys cannot be fetched.
        """
        try:
            name = jwt.get_unverified_header(token).get("kid")
        except jwt.PyJWTError:
            raise Untrusted("the token is not a JSON Web Token") from None
        if not isinstance(name, str):
            raise Untrusted("the token does not say which key signed it")
        key = await self._key(name)
        try:
            claims: dict[str, Any] = jwt.decode(
                token,
                key,
                algorithms=[ALGORITHM],
                issuer=self._url,
                audience=self._audience,
                leeway=LEEWAY_S,
                options={"require": list(_NEEDED), "strict_aud": True},
            )
        except jwt.PyJWTError as error:
            raise Untrusted(f"the token is not valid: {error}") from None
        for claim, value in wanted.items():
            if claims.get(claim) != value:
                said = f"the token's {claim} does not match this session's job"
                raise Untrusted(said)
        if not self._used.first(str(claims["jti"]), int(claims["exp"]) + LEEWAY_S):
            raise Untrusted("the token has already been used")

    async def _key(self, name: str) -> jwt.PyJWK:
        async with self._fetching:
            now = time.monotonic()
            wants = name not in self._keys or now >= self._old_at
            if wants and now >= self._again_at:
                self._again_at = now + KEYS_AGAIN_S
                await self._fetch()
        found = self._keys.get(name)
        if not self._keys:
            raise Unavailable(f"cannot fetch the keys of the issuer {self._url}")
        if found is None:
            raise Untrusted(
                "the token is signed with a key that the issuer does not have"
            )
        return found

    async def _fetch(self) -> None:
        url = f"{self._url}/.well-known/jwks"
        try:
            answer = await self._client.get(url)
            answer.raise_for_status()
            found = jwt.PyJWKSet.from_dict(answer.json())
        except (httpx.HTTPError, jwt.PyJWTError, ValueError, AttributeError) as error:
            raise Unavailable(f"cannot fetch the keys at {url}: {error}") from error
        self._keys = {each.key_id: each for each in found if each.key_id}
        self._old_at = time.monotonic() + KEYS_LAST_S


class _Used:
    """The file of used tokens until they expire: one line each, time and digest."""

    def __init__(self, file: Path) -> None:
        self._file = file
        lines = file.read_text().splitlines() if file.exists() else []
        known = (line.partition(" ") for line in lines)
        self._until = {n: int(at) for at, _, n in known if at.isdigit() and n}
        self._write()

    def first(self, token: str, until: int) -> bool:
        """Note that a token was used; return whether this was its first use."""
        name = hashlib.sha256(token.encode()).hexdigest()
        if name in self._until:
            return False
        self._until[name] = until
        self._write()
        return True

    def _write(self) -> None:
        now = time.time_ns() // 10**9
        self._until = {n: at for n, at in self._until.items() if at >= now}
        beside = self._file.with_suffix(".new")
        beside.touch(mode=0o600)
        beside.write_text("".join(f"{at} {n}\n" for n, at in self._until.items()))
        beside.replace(self._file)
