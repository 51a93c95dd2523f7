"""A GitHub App's private key, and its installation's tokens for one repository.

The key never leaves its object, and no message quotes it. Each token has only the
needed rights and opens only one repository. It is used for most of its hour, and is
revoked at the end.
https://docs.github.com/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-json-web-token-jwt-for-a-github-app
https://docs.github.com/rest/apps/apps#create-an-installation-access-token-for-an-app
"""

import asyncio
import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass, field
from http import HTTPStatus
from types import MappingProxyType
from typing import Final, Self

import httpx
import jwt
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from pydantic import AwareDatetime, Field

from bot.forge.pace import REAL_TIME, ForgeClock, Pace, Time
from bot.forge.payloads import Secret
from bot.forge.rest import Refused, Rest
from bot.settings.bot_settings import Common
from grite.errors import BratError, Unavailable

BACKDATED_S: Final = 60
"""Backdating keeps a forge whose clock is behind from seeing a future token."""
SIGNED_FOR_S: Final = 540
"""GitHub allows ten minutes from `iat` in all."""
MOVED_S: Final = 2.0
"""A smaller change of the clock's offset only comes from an answer's delay."""


@dataclass(frozen=True, kw_only=True)
class AppKey:
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
                f"cannot read the private key of the App {app_id}: use the .pem file "
                "that you downloaded from the App's settings"
            )
        return cls(app_id=app_id, private_key=key)


def app_key_of(settings: Common) -> AppKey | None:
    """Return the App's key; None: the bot has a token instead."""
    if settings.app_id is None or settings.private_key_file is None:
        return None
    try:
        pem = settings.private_key_file.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise BratError(f"cannot read the App's private key: {error}") from error
    return AppKey.from_pem(settings.app_id, pem)


class AppJwt:
    """The App's own tokens: signed here, valid for minutes, for `/app/...` only."""

    def __init__(self, app: AppKey, clock: ForgeClock) -> None:
        self._app = app
        self._clock = clock
        self._offset_s = clock.offset_s

    async def token(self) -> str:
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


MARGIN_S: Final = 300
"""How long before its expiry a token is renewed."""
REVOKE_S: Final = 5.0

RIGHTS: Final = (
    ("actions", "write", "start and cancel runs, read their artifacts and logs"),
    ("checks", "write", "read CI's verdicts, show a task's progress"),
    ("contents", "write", "branches, candidates, the log, merging"),
    ("issues", "write", "comments, labels, sub-issues"),
    ("metadata", "read", "GitHub requires it"),
    ("pull_requests", "write", "open and queue them, answer and resolve threads"),
    ("statuses", "read", "read CI results reported as commit statuses"),
)
PERMISSIONS: Final[Mapping[str, str]] = MappingProxyType(
    {name: level for name, level, _ in RIGHTS}
)
"""The permissions that the bot needs, and in `RIGHTS` what for.

What changes workflow files is pushed and merged only with `WORKFLOWS`, too, which an
App may lack.

https://docs.github.com/rest/authentication/permissions-required-for-github-apps
"""
WORKFLOWS: Final[Mapping[str, str]] = MappingProxyType({"workflows": "write"})
FIXES: Final[Mapping[int, str]] = MappingProxyType(
    {
        401: "check that the App's id matches its private key",
        403: "check whether the App's installation is suspended",
        404: "check the App's id, and whether the App is installed on {repository}",
        422: "give the installation access to {repository}, grant the App "
        "{permissions}, and accept the new permissions in the installation",
    }
)

_log: Final = logging.getLogger(__name__)


class AppToken(Secret):
    token: str = Field(repr=False, min_length=1)
    expires_at: AwareDatetime


class _Installed(Secret):
    id: int


class _App(Secret):
    slug: str


@dataclass(frozen=True, kw_only=True)
class Grant:
    repository: str
    """`owner/name`: the only repository that the token opens."""
    repository_id: int = 0
    """Its id: a token asked for by it opens no other one that took the name. 0: not
    known yet."""
    permissions: Mapping[str, str] = field(default_factory=lambda: PERMISSIONS)
    installation: int | None = None
    """Looked up when None."""


@dataclass(eq=False)
class AppTokens:
    """A source of tokens; as a context manager it revokes the last one at the end.

    Safe to use from many tasks at once: one requests a token, the others wait for it.
    """

    client: httpx.AsyncClient
    _: KW_ONLY
    api_url: str
    app: AppKey
    grant: Grant
    time: Time = REAL_TIME

    def __post_init__(self) -> None:
        self.clock = ForgeClock(self.time)
        self._asking = asyncio.Lock()
        self._installation = self.grant.installation
        self._made: AppToken | None = None
        self._more = WORKFLOWS if self.grant.permissions == PERMISSIONS else {}
        # Its own pace: a caller waiting for a token may hold the lane for writes.
        self._rest = Rest(
            self.client,
            api_url=self.api_url,
            token=AppJwt(self.app, self.clock),
            pace=Pace(time=self.time, clock=self.clock),
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.revoke()

    async def login(self) -> str:
        with self._explained():
            return f"{(await self._rest.read(_App, '/app')).slug}[bot]"

    async def token(self) -> str:
        """Return a token that is valid for at least some minutes."""
        async with self._asking:
            if self._made is None or self._left_s(self._made) < MARGIN_S:
                try:
                    with self._explained():
                        self._made = await self._asked()
                except Unavailable:  # the old one may be good for some minutes
                    if self._made is None or self._left_s(self._made) <= 0:
                        raise
            return self._made.token

    def spoiled(self, token: str) -> bool:
        """Forget a token that the forge rejected; return True: another may work."""
        if self._made is not None and self._made.token == token:
            self._made = None
        return True

    async def revoke(self) -> None:
        """Revoke the last token; safe to call twice."""
        made, self._made = self._made, None
        if made is None:
            return
        pace = Pace(time=self.time)
        rest = Rest(self.client, api_url=self.api_url, token=made.token, pace=pace)
        try:
            async with asyncio.timeout(REVOKE_S):
                await rest.write("DELETE", "/installation/token")
        except (Unavailable, Refused, TimeoutError) as error:
            # The token expires within the hour, and nobody else has it.
            _log.warning("cannot revoke the App's token: %s", error)

    def _left_s(self, made: AppToken) -> float:
        return made.expires_at.timestamp() - self.clock.now()

    async def _asked(self) -> AppToken:
        if self._installation is None:
            where = f"/repos/{self.grant.repository}/installation"
            self._installation = (await self._rest.read(_Installed, where)).id
        url = f"/app/installations/{self._installation}/access_tokens"
        body: dict[str, object] = {}
        if self.grant.repository_id:
            body["repository_ids"] = [self.grant.repository_id]
        else:
            body["repositories"] = [self.grant.repository.partition("/")[2]]
        while True:
            wanted = {**self.grant.permissions, **self._more}
            try:
                return await self._rest.make(
                    AppToken, url, {**body, "permissions": wanted}
                )
            except Refused as refused:
                if self._more and refused.status == HTTPStatus.UNPROCESSABLE_ENTITY:
                    self._more = {}  # the installation lacks it
                    continue
                self._installation = self.grant.installation  # it may be installed anew
                raise

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except Refused as refused:
            fix = FIXES.get(refused.status)
            if fix is None:
                raise
            asked = ", ".join(f"{k}: {v}" for k, v in self.grant.permissions.items())
            advice = fix.format(repository=self.grant.repository, permissions=asked)
            said = f"{refused.said}; {advice}"
            raise Refused(refused.what, refused.status, said) from refused
