"""The forge that a clone came from, and a person's comments on it.

A token is sent only to its own host: github.com and ghe.com get the tokens that `gh`
knows, any other host only a token that is named as an enterprise server's.
https://cli.github.com/manual/gh_help_environment
"""

import asyncio
import os
import re
import subprocess
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import pygit2
from msgspec import Struct

from bot.forge import transport
from bot.forge.github import GitHub
from bot.forge.transport import DEADLINE_S
from bot.settings.hosts import api_url_of, is_cloud
from grite import trusted_programs
from grite.errors import BratError
from grite.outbound import is_local

GH_S: Final = 10.0
_TOKENS: Final = ("GH_TOKEN", "GITHUB_TOKEN")
_ENTERPRISE: Final = ("GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN")
_URL: Final = re.compile(
    r"(?:(?P<scheme>https?|ssh|git)://(?:[^@/]+@)?(?P<host>[\w.-]+)(?P<port>:\d+)?/"
    r"|[\w.-]+@(?P<scp>[\w.-]+):)(?P<name>[\w.-]+/[\w.-]+?)(?:\.git)?/?",
    re.ASCII,
)


class Origin(Struct, frozen=True):
    host: str
    api_url: str
    repository: str

    @property
    def web(self) -> str:
        api = urlsplit(self.api_url)
        place = api.netloc.removeprefix("api.") if is_cloud(self.host) else api.netloc
        return f"{api.scheme}://{place}/{self.repository}"

    @property
    def variables(self) -> tuple[str, ...]:
        """The environment variables that may hold a token for this host."""
        return _TOKENS if is_cloud(self.host) else _ENTERPRISE


def origin_of(clone: Path) -> Origin:
    repository = pygit2.Repository(str(clone))
    names = {remote.name for remote in repository.remotes}
    url = str(repository.remotes["origin"].url or "") if "origin" in names else ""
    found = _URL.fullmatch(url)
    if found is None:
        raise BratError(
            f"{clone} has no remote `origin` that points to a repository on a forge"
        )
    host = str(found["host"] or found["scp"]).lower()
    if is_local(host) and found["scheme"] == "http":
        there = f"http://{host}{found['port'] or ''}"
        return Origin(host, f"{there}/api/v3", found["name"])
    port = (found["port"] or "") if found["scheme"] == "https" else ""
    return Origin(host, api_url_of(f"{host}{port}"), found["name"])


def is_near(bot: str) -> bool:
    """Whether a bot's address is on this machine; anywhere else it needs TLS.

    Raises `BratError`: it is no address of a bot.
    """
    parts = urlsplit(bot)
    near = parts.scheme == "http" and is_local(parts.hostname or "")
    if not parts.hostname or not (near or parts.scheme == "https"):
        raise BratError(
            f"{bot} is not a bot's address: use https://HOST or http://localhost:PORT"
        )
    return near


def token_for(origin: Origin) -> str:
    """Return the person's token for a forge, or ""."""
    environment = os.environ  # noqa: TID251  a person's own terminal
    tokens = (environment.get(name, "") for name in origin.variables)
    return next(filter(None, tokens), "") or _known_to_gh(origin.host)


def say(clone: Path, issue: int, text: str) -> str:
    """Comment on an issue of the clone's forge; return the issue's address."""
    origin = origin_of(clone)
    token = token_for(origin)
    if not token:
        wanted = " or ".join(origin.variables)
        raise BratError(
            "this repository's bot is not running here, so the request must be a "
            f"comment: set {wanted} to a token for {origin.host} (or sign in with gh), "
            f"or post it yourself on issue #{issue} of {origin.repository}: {text}"
        )

    async def said() -> None:
        async with transport.async_client(DEADLINE_S) as client:
            name, url = origin.repository, origin.api_url
            github = GitHub(client, api_url=url, repository=name, token=token)
            await github.say(issue, text)

    asyncio.run(said())
    return f"{origin.repository}#{issue}"


def _known_to_gh(host: str) -> str:
    """Return the token that GitHub's `gh` keeps for a host, or "".

    https://cli.github.com/manual/gh_auth_token
    """
    gh = trusted_programs.found("gh")
    if not Path(gh).is_absolute():
        return ""
    asked = [gh, "auth", "token", "--hostname", host]
    try:
        said = subprocess.run(
            asked, capture_output=True, text=True, timeout=GH_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return said.stdout.strip() if said.returncode == 0 else ""
