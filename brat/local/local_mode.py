"""Local mode: one repository, its forge on loopback, and the loop, for a while.

`serving` starts the forge and the bot, and stops them at the end; in between the loop
runs the requested roles. Sessions that have begun go on running, and the next loop
finds their results, unless a person ends the loop (`orderly_end`).
"""

import shlex
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from bot import wall_clock
from bot.door import session_access
from bot.door.webhooks import WEBHOOK_PATH as DOOR
from bot.forge import transport
from bot.forge.github import GitHub
from bot.loop.loop import Loop
from bot.roles.bot_context import BotContext
from bot.serving import bot_service
from bot.settings.bot_settings import ROLES, Settings, config_in
from brat.forge.resources.repository_resource import Ci
from brat.forge.service.machine_cores import cores
from brat.local.checkout_config import CheckoutConfig
from brat.local.checkout_sync import CheckoutSync
from brat.local.forge_process import ServeOptions, judge_by, served
from brat.local.model_keys import model_keys
from brat.local.roles_elsewhere import Elsewhere, carried_out
from brat.repository import registration as registrations
from brat.repository.checkout import Checkout
from brat.repository.labelled_issues import LABEL
from brat.repository.log_reader import Reader
from brat.repository.registration import BOT_FOLDER, Registration
from brat.terminal.console import Tell
from convoy.config import Config
from convoy.owed import Role

SWEEP_S = 2.0


def configuration(checkout: Checkout) -> Config:
    """Return the configuration in the checkout, committed or not.

    Raises:
        ConfigError: it has faults; the message has a line for each.
    """
    return config_in(checkout.config)


def ci_command(config: Config) -> str | None:
    """Return the configured CI command as a person would type it."""
    match config.ci.command:
        case ():
            return None
        case ("sh", "-c", text):
            return text
        case argv:
            return shlex.join(argv)


def ci_of(checkout: Checkout, config: Config, known: Registration | None) -> Ci:
    """Return the CI settings: as configured, as `brat init` found, or as found now."""
    command = ci_command(config) or (known.ci_command if known else None)
    if command is None and (proposal := checkout.propose_ci()):
        command = proposal.command
    top = str(checkout.top)
    return Ci(
        command=command,
        timeout_s=config.ci.timeout,
        slots=config.ci.slots,
        checkout=top,
        egress=config.ci.egress,
        box=config.runner.box,
    )


def bot_settings(
    folder: Path, known: Registration, url: str, roles: tuple[Role, ...] = ROLES
) -> Settings:
    """Return the settings of this machine's only bot for the repository."""
    return Settings(
        repository=known.repository,
        api_url=f"{url}/api/v3",
        git_url=url,
        token=known.bot_token,
        secret=known.secret,
        folder=folder / BOT_FOLDER,
        label=LABEL,
        roles=roles,
        push_gap_s=0,
        settle_s=0,
        sweep_s=SWEEP_S,
        session_slack_s=15,
        check_start_s=15,
        artifact_grace_s=0,
        cores=cores(),
        sole=True,
    )


async def point_hook(url: str, known: Registration, port: int) -> None:
    """Point the forge's webhook at the bot's port; safe to call twice."""
    async with transport.async_client(10) as client:
        answer = await client.patch(
            f"{url}/api/v3/repos/{known.repository}/hooks/{known.hook}/config",
            headers={"Authorization": f"Bearer {known.person_token}"},
            json={"url": f"http://127.0.0.1:{port}{DOOR}"},
        )
        answer.raise_for_status()


@asynccontextmanager
async def person(url: str, known: Registration) -> AsyncIterator[GitHub]:
    """Yield a client of the forge that uses the person's token."""
    async with transport.async_client(30) as client:
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
    sync: CheckoutSync
    forge_alive: Callable[[], bool]
    tell: Tell
    elsewhere: Elsewhere
    begun_at: int
    """Unix ms."""

    def reader(self) -> Reader:
        """Return a reader of the forge's log."""
        return Reader(registrations.bare_path(self.checkout.folder, self.known))


@asynccontextmanager
async def serving(
    checkout: Checkout,
    roles: tuple[Role, ...],
    tell: Tell,
    adopt_log: str = "",
) -> AsyncIterator[Local]:
    """Start the forge and a bot with `roles`, and stop them at the end.

    Args:
        checkout: the repository.
        roles: the bot's roles.
        tell: is told of every fault and wait.
        adopt_log: the commit at which to take the log over; see the bot's settings.

    Raises:
        BratError: the repository was not initialised, or its configuration is faulty,
            or a process did not start.
    """
    folder = checkout.folder
    known = registrations.read(folder)
    config = configuration(checkout)
    Reader(registrations.bare_path(folder, known)).read()  # else it raises
    ci, keys = ci_of(checkout, config, known), model_keys(config)
    options = ServeOptions(ci, keys)
    async with AsyncExitStack() as stack:
        elsewhere = stack.enter_context(carried_out(folder, roles))
        forge = await stack.enter_async_context(served(folder, known, options))
        url, known = forge.url, registrations.read(folder)
        settings = bot_settings(folder, known, url, roles)
        settings = settings.model_copy(update={"adopt_log": adopt_log})
        sync = CheckoutSync(checkout=checkout, known=known, url=url, tell=tell)
        async with (
            bot_service.opened(settings, tell) as loop,
            bot_service.door(loop, session_access.free_port(settings.folder)) as port,
        ):
            await point_hook(url, known, port)
            file = CheckoutConfig(
                file=checkout.config,
                bare=sync.bare,
                ci_now=lambda: ci_of(checkout, configuration(checkout), known),
                ci=ci,
                tell_forge=partial(judge_by, url, known, options),
                tell=tell,
            )
            loop.look_here = partial(_look_here, loop.context, sync, file)
            await loop.look()
            local = Local(
                checkout=checkout,
                known=known,
                url=url,
                loop=loop,
                sync=sync,
                forge_alive=forge.alive,
                tell=tell,
                elsewhere=elsewhere,
                begun_at=wall_clock(),
            )
            yield local
            await loop.release()


def _look_here(context: BotContext, sync: CheckoutSync, config: CheckoutConfig) -> None:
    """Bring in what the person has committed and configured since; at each tick."""
    sync.take_up()
    config.look(context)
