"""Asks the forge in which repositories an App is installed.

https://docs.github.com/rest/apps/apps#list-installations-for-the-authenticated-app
https://docs.github.com/rest/apps/installations#list-repositories-accessible-to-the-app-installation
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import httpx
from pydantic import BaseModel, ConfigDict, Field

from bot.forge.app_auth import AppJwt, AppKey
from bot.forge.pace import Pace
from bot.forge.payloads import Account, Repository
from bot.forge.rate_limits import ForgeClock
from bot.forge.rest import Rest
from grite.errors import BratError


class _Answer(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True, hide_input_in_errors=True)


class _Installation(_Answer):
    id: int
    account: Account | None = None
    suspended_at: str | None = None


class _Token(_Answer):
    token: str = Field(repr=False, min_length=1)


class Covered(NamedTuple):
    """A repository in which an App is installed."""

    installation: int
    number: int
    """The forge's id of the repository."""


@dataclass
class Coverage:
    """Where an App is installed."""

    repositories: dict[str, Covered] = field(default_factory=dict)
    """The served repositories by full name."""
    broken: dict[int, str] = field(default_factory=dict)
    """The installations that do not show their repositories, and why."""


def key_of(app_id: str, file: Path) -> AppKey:
    """Read an App's private key.

    Raises:
        BratError: the file cannot be read, or holds no private key.
    """
    try:
        pem = file.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise BratError(f"the App's private key cannot be read: {error}") from error
    return AppKey.from_pem(app_id, pem)


class Installations:
    """The App's view of the forge."""

    def __init__(self, client: httpx.AsyncClient, api_url: str, key: AppKey) -> None:
        self.clock = ForgeClock()
        pace = Pace(clock=self.clock)
        token = AppJwt(key, self.clock)
        self.app = Rest(client, api_url=api_url, token=token, pace=pace)
        """A client with the App's own token."""
        self._client = client
        self._api_url = api_url

    async def coverage(
        self, allows: Callable[[str], bool], serves: Callable[[str], bool]
    ) -> Coverage:
        """Return the served repositories; one broken installation hides no other.

        Args:
            allows: whether an account's installations are served.
            serves: whether a repository is served.

        Raises:
            Unavailable: the forge did not answer.
            Refused: the forge does not accept the App's id and key.
        """
        found = Coverage()
        listed = self.app.each(_Installation, "/app/installations?per_page=100")
        async for one in listed:
            owner = one.account.login if one.account else ""
            if one.suspended_at is None and allows(owner):
                try:
                    covered = await self._covered(one.id)
                except BratError as error:
                    found.broken[one.id] = str(error)
                    continue
                found.repositories |= {
                    repo.full_name: Covered(one.id, repo.id)
                    for repo in covered
                    if serves(repo.full_name)
                }
        return found

    async def _covered(self, installation: int) -> list[Repository]:
        """Return an installation's repositories; the token used only reads names."""
        url = f"/app/installations/{installation}/access_tokens"
        wanted = {"permissions": {"metadata": "read"}}
        made = await self.app.make(_Token, url, wanted)
        rest = Rest(self._client, api_url=self._api_url, token=made.token)
        path = "/installation/repositories?per_page=100"
        try:
            listed = rest.each(Repository, path, "repositories")
            return [repo async for repo in listed]
        finally:
            with suppress(BratError):  # the token only reads names, and expires soon
                await rest.write("DELETE", "/installation/token")
