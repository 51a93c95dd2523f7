"""The settings of `brat bot serve`: one JSON file that only its owner can read."""

import secrets
from ipaddress import IPv4Network, IPv6Network
from pathlib import Path
from typing import Annotated, Final, Self

from pydantic import Field, model_validator

from bot.settings.bot_settings import (
    REPOSITORY,
    Common,
    Settings,
    from_environment,
)
from bot.settings.forge_hosts import GITHUB, api_url_of
from bot.settings.origins import Origins
from bot.settings.quota import Quota

ORIGIN: Final = r"^https://[^/?#@\s]+$"
CLIENT_ID: Final = "BRAT_CLIENT_ID"
CLIENT_SECRET: Final = "BRAT_CLIENT_SECRET"  # noqa: S105  the variable's name
STOP_FILE: Final = "stopped"
SECRET_CHARS: Final = 16


class ServiceSettings(Common):
    """The settings of one service for many repositories."""

    api_url: str = api_url_of(GITHUB)
    git_url: str = "https://github.com"
    repositories: tuple[Annotated[str, Field(pattern=REPOSITORY)], ...] = ()
    """The repositories served; empty: all where an allowed owner installed the App."""
    allowed_owners: tuple[str, ...] = ()
    """The accounts whose installations are served: anybody can install a public App."""
    quota: Quota = Quota()
    address: str = "127.0.0.1"
    port: int = Field(default=8080, ge=0, le=65_535)
    allowed_networks: tuple[IPv4Network | IPv6Network, ...] = ()
    """The networks from which deliveries may come; empty: all."""
    trusted_proxies: int = Field(default=0, ge=0, le=16)
    """How many proxies in front of the door are trusted with X-Forwarded-For."""
    metrics_port: int | None = Field(default=None, ge=0, le=65_535)
    dashboard_port: int | None = Field(default=None, ge=0, le=65_535)
    """The dashboard's port; None: there is no dashboard."""
    dashboard_url: str = Field(default="", pattern=r"^(https://[^/?#@]+)?$")
    """The dashboard's public address: the proxy there speaks TLS."""
    client_id: str = Field(default_factory=from_environment(CLIENT_ID))
    """The App's client id, with which people sign in to the dashboard."""
    client_secret: str = Field(
        default_factory=from_environment(CLIENT_SECRET), repr=False
    )
    api_token: str = Field(default="", pattern=r"^(\S{16,})?$", repr=False)
    """A program with this token may read and decide everything; empty: none may."""
    roster_s: float = Field(default=300.0, gt=0)
    """How often to look for the App's installations and for lost deliveries."""

    @model_validator(mode="after")
    def _somewhere(self) -> Self:
        if self.secret and len(self.secret) < SECRET_CHARS:
            raise ValueError(f"secret: give at least {SECRET_CHARS} characters")
        if self.token and not self.repositories:
            raise ValueError("repositories: a bot with a token is told which it serves")
        if not self.repositories and not self.allowed_owners:
            raise ValueError(
                "allowed_owners: name the accounts that are served (a stranger can "
                "install a public App), or list repositories"
            )
        if self.dashboard_port is not None and not (
            self.dashboard_url and self.client_id and self.client_secret
        ):
            raise ValueError(
                "dashboard_port: people sign in there, so give dashboard_url, and the "
                "App's client_id and client_secret, too"
            )
        return self

    @property
    def origins(self) -> Origins:
        """The networks from which deliveries may come, and the trusted proxies."""
        return Origins(networks=self.allowed_networks, proxies=self.trusted_proxies)

    def allows(self, owner: str) -> bool:
        """Whether installations by an account are served."""
        allowed = {each.casefold() for each in self.allowed_owners}
        listed = {each.casefold().partition("/")[0] for each in self.repositories}
        return owner.casefold() in (allowed or listed)

    def serves(self, repository: str) -> bool:
        """Whether a repository is served, wherever the App is installed."""
        name = repository.casefold()
        owner, _, short = name.partition("/")
        listed = {each.casefold() for each in self.repositories}
        if not short.strip("."):  # it also names a folder
            return False
        return self.allows(owner) and (not listed or name in listed)

    def of(self, repository: str, installation: int | None, number: int) -> Settings:
        """Return the settings of the bot in one repository.

        Args:
            repository: its full name now.
            installation: of the App there; None: there is no App, or it is looked up.
            number: the forge's id of the repository, which names its folder.
        """
        own = {name: getattr(self, name) for name in Common.model_fields}
        own["secret"] = self.secret or secrets.token_hex(SECRET_CHARS)
        return Settings(
            **{**own, "folder": self.folder / "repositories" / str(number)},
            repository=repository,
            repository_id=number,
            key_folder=self.folder,
            installation=installation,
            quota=self.quota,
            stop_file=self.stop_file,
            pages=f"{self.dashboard_url}/{repository}" if self.dashboard_url else "",
        )

    @property
    def stop_file(self) -> Path:
        """While this file exists, nothing starts and nothing lands."""
        return self.folder / STOP_FILE
