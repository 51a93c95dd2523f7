"""What vouches for jobs in tests: keys, and tokens for who shows a job's secret.

It stands where https://token.actions.githubusercontent.com stands for GitHub's jobs.
"""

import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any
from uuid import uuid4

import jwt
from aiohttp import web
from cryptography.hazmat.primitives.asymmetric import rsa

from bot.door.listening import listening
from tests.world.given_secrets import given

ASKS = given("made-up-secret-of-one-job")
LASTS_S = 300
NONE: Mapping[str, object] = {}


@cache
def pair() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(65537, 2048)


@dataclass
class Vouching:
    claims: dict[str, Any]
    """What its tokens say of the job."""
    url: str = ""
    key: rsa.RSAPrivateKey = field(default_factory=pair)
    kid: str = "first"
    asked: list[str] = field(default_factory=list)
    """Whom tokens were asked for."""
    keys_asked: int = 0
    broken: bool = False

    @property
    def asks_url(self) -> str:
        return f"{self.url}/idtoken?api-version=2.0"

    def token(
        self,
        audience: str,
        changes: Mapping[str, object] = NONE,
        *,
        key: Any = None,  # noqa: ANN401  of any kind
        algorithm: str = "RS256",
        header: Mapping[str, Any] | None = None,
    ) -> str:
        """Return a token; a change to None leaves a claim out."""
        now = int(time.time())
        told = {
            "iss": self.url,
            "aud": audience,
            "iat": now,
            "nbf": now,
            "exp": now + LASTS_S,
            "jti": str(uuid4()),
            **self.claims,
            **changes,
        }
        return jwt.encode(
            {name: value for name, value in told.items() if value is not None},
            self.key if key is None else key,
            algorithm,
            headers=dict(header or {"kid": self.kid}),
        )

    async def _keys(self, _request: web.Request) -> web.Response:
        self.keys_asked += 1
        if self.broken:
            raise web.HTTPBadGateway
        told = jwt.algorithms.RSAAlgorithm.to_jwk(self.key.public_key(), as_dict=True)
        return web.json_response({"keys": [{**told, "kid": self.kid, "alg": "RS256"}]})

    async def _give(self, request: web.Request) -> web.Response:
        if request.headers.get("Authorization") != f"bearer {ASKS}":
            raise web.HTTPUnauthorized
        audience, run = request.query["audience"], request.query.get("run")
        self.asked.append(audience)
        said = self.token(audience, {"run_id": run} if run else NONE)
        return web.json_response({"count": 1, "value": said})


@asynccontextmanager
async def vouching(**claims: object) -> AsyncIterator[Vouching]:
    """Serve an issuer on loopback."""
    here = Vouching(claims)
    app = web.Application()
    app.router.add_get("/.well-known/jwks", here._keys)  # noqa: SLF001  its own
    app.router.add_get("/idtoken", here._give)  # noqa: SLF001  its own
    async with listening(app, "127.0.0.1", 0) as port:
        here.url = f"http://127.0.0.1:{port}"
        yield here
