"""Local mode: one repository, its forge on loopback, and the loop, for a while.

`serving` starts what is needed and stops it; in between the loop runs with the roles
that were asked for. Nothing is left running, but sessions that have begun: they finish,
and the next loop finds what they left.
"""

import asyncio
import re
import shlex
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import httpx
from msgspec.structs import replace

from bot import service
from bot.door import PATH as DOOR
from bot.github import GitHub
from bot.loop import Loop
from bot.settings import ROLES, Settings
from brat import processes, registration as registrations
from brat.checkout import Checkout
from brat.forge.records import Ci
from brat.reading import Reader
from brat.registration import BOT_FOLDER, FORGE_FOLDER, Registration
from convoy.actions import Role
from convoy.config import Config, load
from grite import git

SWEEP_S = 2.0
Tell = Callable[[str], None]


def configuration(checkout: Checkout) -> Config:
    """Return the configuration as it lies in the checkout.

    Raises:
        ConfigError: one line for each fault.
    """
    text = checkout.config.read_text() if checkout.config.exists() else ""
    return load(text, source=str(checkout.config))


def ci_command(config: Config) -> str | None:
    """Return the configured CI command as a person would type it."""
    match config.ci.command:
        case ():
            return None
        case ("sh", "-c", text):
            return text
        case argv:
            return shlex.join(argv)


def ci_of(config: Config, known: Registration) -> Ci:
    """Return how candidates are judged: as configured, else as init proposed."""
    command = ci_command(config) or known.ci_command
    return Ci(command=command, timeout_s=config.ci.timeout)


def bot_settings(
    folder: Path, known: Registration, url: str, roles: tuple[Role, ...] = ROLES
) -> Settings:
    """Return the settings of a bot that has this machine for itself."""
    return Settings(
        repository=known.repository,
        api_url=f"{url}/api/v3",
        git_url=url,
        token=known.bot_token,
        secret=known.secret,
        folder=folder / BOT_FOLDER,
        roles=roles,
        sweep_s=SWEEP_S,
        session_slack_s=15,
        check_start_s=15,
        artifact_grace_s=0,
        sole=True,
    )


async def point_hook(url: str, known: Registration, port: int) -> None:
    """Let the forge deliver to the bot's door on this port; safe to call twice."""
    async with httpx.AsyncClient(trust_env=False, timeout=10) as client:
        answer = await client.patch(
            f"{url}/api/v3/repos/{known.repository}/hooks/{known.hook}/config",
            headers={"Authorization": f"Bearer {known.person_token}"},
            json={"url": f"http://127.0.0.1:{port}{DOOR}"},
        )
        answer.raise_for_status()


@asynccontextmanager
async def person(url: str, known: Registration) -> AsyncIterator[GitHub]:
    """Give the forge as the person sees it, with the person's token."""
    async with httpx.AsyncClient(trust_env=False, timeout=30) as client:
        yield GitHub(
            client,
            api_url=f"{url}/api/v3",
            repository=known.repository,
            token=known.person_token,
        )


@dataclass(frozen=True, kw_only=True)
class Local:
    """A running local system."""

    checkout: Checkout
    known: Registration
    url: str
    loop: Loop
    tell: Tell

    def take_up(self) -> None:
        """Bring the person's newest commits to the forge, by git's ordinary push.

        Commits that do not stand on what has landed wait for the person's next pull.
        """
        checkout, branch = self.checkout, self.known.branch
        spec = f"refs/heads/{branch}:refs/heads/{branch}"
        pushed = git.run(
            ["push", "--quiet", "--no-verify", self._repository_url, spec],
            cwd=checkout.top,
            env=git.authorization(self.known.person_token),
            check=False,
        )
        if pushed.status == 0 or self._holds_tip():
            return
        if re.search("non-fast-forward|fetch first", pushed.stderr):
            self.tell(f"{branch} has commits of its own; first run: {self.pull_line()}")
        else:
            self.tell(f"your commits were not taken up: {pushed.stderr.strip()}")

    def has_news(self) -> bool:
        """Whether the forge's branch holds commits that the checkout has not."""
        branch = f"refs/heads/{self.known.branch}"
        bare = registrations.bare_path(self.checkout.folder, self.known)
        tip = git.run(["rev-parse", branch], cwd=bare).stdout.decode().strip()
        args = ["merge-base", "--is-ancestor", tip, branch]
        return git.run(args, cwd=self.checkout.top, check=False).status != 0

    def reader(self) -> Reader:
        """Return a reader of the forge's log."""
        return Reader(registrations.bare_path(self.checkout.folder, self.known))

    def pull_line(self) -> str:
        """Return the command that brings the landed work into the checkout."""
        return pull_line(self.checkout, self.known)

    @property
    def _repository_url(self) -> str:
        return f"{self.url}/{self.known.repository}.git"

    def _holds_tip(self) -> bool:
        """Whether the forge's branch contains all that the person has."""
        where, branch = self.checkout.top, f"refs/heads/{self.known.branch}"
        tip = git.run(["rev-parse", branch], cwd=where).stdout.decode().strip()
        bare = registrations.bare_path(self.checkout.folder, self.known)
        args = ["merge-base", "--is-ancestor", tip, branch]
        return git.run(args, cwd=bare, check=False).status == 0


def pull_line(checkout: Checkout, known: Registration) -> str:
    """Return the command that brings the landed work into the checkout."""
    bare = registrations.bare_path(checkout.folder, known)
    where = (
        bare.relative_to(checkout.top) if bare.is_relative_to(checkout.top) else bare
    )
    return f"git pull --no-rebase {where} {known.branch}"


@asynccontextmanager
async def serving(
    checkout: Checkout, roles: tuple[Role, ...], tell: Tell
) -> AsyncIterator[Local]:
    """Start the forge and a bot with `roles`, and stop them at the end.

    Raises:
        BratError: the repository was not initialised, or its configuration is faulty,
            or a process did not start.
    """
    folder = checkout.folder
    known = registrations.read(folder)
    config = configuration(checkout)
    registrations.set_ci(folder, known, ci_of(config, known))
    log = folder / "forge.log"
    with processes.forge(folder / FORGE_FOLDER, known.port, log=log) as url:
        known = replace(known, port=urlsplit(url).port or 0)
        registrations.write(folder, known)
        settings = bot_settings(folder, known, url, roles)
        if checkout.config.exists() and not checkout.config_is_committed():
            tell(f"using {checkout.config} as it lies there, not as committed")
            settings = settings.model_copy(update={"config_file": checkout.config})
        async with (
            service.opened(settings, tell) as loop,
            service.door(loop, 0) as port,
        ):
            await point_hook(url, known, port)
            local = Local(checkout=checkout, known=known, url=url, loop=loop, tell=tell)
            await asyncio.to_thread(local.take_up)
            yield local
