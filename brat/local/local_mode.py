"""Local mode: one repository, its forge on loopback, and the loop, for a while.

`serving` starts the forge and the bot, and stops them at the end; in between the loop
runs the requested roles. Sessions that have begun go on running, and the next loop
finds their results, unless a person ends the loop.

A command in the foreground is told to end by Ctrl-C, SIGTERM or SIGHUP. It then ends
the agents that it started, and takes in what they have done: a cancelled CI job, a
closed terminal or `timeout` leaves nobody at work unseen. An attempt that is called off
counts as none, and the next start goes on from its work.
"""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

from bot import wall_clock
from bot.door import feed
from bot.door.webhooks import WEBHOOK_PATH as DOOR
from bot.forge import transport
from bot.forge.github import GitHub
from bot.loop.loop import Loop
from bot.serving import bot_service
from bot.settings.bot_settings import ROLES, Settings, config_in
from brat.forge.service.local_ci import cores
from brat.local.checkout_sync import CheckoutSync
from brat.local.forge_process import forked_ahead, served
from brat.local.other_processes import Elsewhere, carried_out
from brat.local.start_checks import ci_of, model_keys
from brat.repository import registration as registrations
from brat.repository.checkout import Checkout
from brat.repository.forge_files import LABEL
from brat.repository.log_reader import Reader
from brat.repository.registration import BOT_FOLDER, Registration
from brat.terminal.console import Tell, say
from convoy.config import Config
from convoy.owed import Role
from convoy.text import counted

SWEEP_S = 2.0


def configuration(checkout: Checkout) -> Config:
    """Return the checkout's configuration, committed or not; raises `ConfigError`."""
    return config_in(checkout.config)


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
    checkout: Checkout
    known: Registration
    loop: Loop
    sync: CheckoutSync
    forge_alive: Callable[[], bool]
    tell: Tell
    elsewhere: Elsewhere
    begun_at: int
    """Unix ms."""

    def reader(self) -> Reader:
        return Reader(self.sync.bare)


@asynccontextmanager
async def serving(
    checkout: Checkout, roles: tuple[Role, ...], tell: Tell, adopt_log: str = ""
) -> AsyncIterator[Local]:
    """Start the forge and a bot with `roles`, and stop them at the end."""
    folder = checkout.folder
    known = registrations.read(folder)
    config = configuration(checkout)
    Reader(registrations.bare_path(folder, known)).read()  # else it raises
    ci, keys = ci_of(checkout, config, known), model_keys(config)
    async with AsyncExitStack() as stack:
        elsewhere = stack.enter_context(carried_out(folder, roles))
        soon = "witness" in roles
        forge = await stack.enter_async_context(served(folder, ci, keys, soon=soon))
        url, known = forge.url, registrations.read(folder)
        settings = bot_settings(folder, known, url, roles)
        settings = settings.model_copy(update={"adopt_log": adopt_log})
        sync = CheckoutSync(checkout=checkout, known=known, url=url, tell=tell)
        async with (
            bot_service.opened(settings, tell) as loop,
            bot_service.door(loop, feed.free_port(settings.folder)) as port,
        ):
            await point_hook(url, known, port)

            def look_here() -> None:
                """Bring in what the person has committed and configured since."""
                sync.take_up()
                sync.look(loop.context, forge)

            loop.look_here = look_here
            await asyncio.to_thread(loop.look_here)
            yield Local(
                checkout=checkout,
                known=known,
                loop=loop,
                sync=sync,
                forge_alive=forge.alive,
                tell=tell,
                elsewhere=elsewhere,
                begun_at=wall_clock(),
            )
            await loop.release()


END_S: Final = 20.0
"""How long agents may take: a cancelled run has 10 s, as on GitHub, and is killed."""
_LOOK_S: Final = 0.1
_ENDING: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_Result = TypeVar("_Result")


def run_to_end(work: Coroutine[Any, Any, _Result]) -> _Result:
    """Run to the end, or cancel the work at the first signal that asks for it.

    Later ones change nothing: `timeout` and CI send two.

    Raises:
        KeyboardInterrupt: it was Ctrl-C.
        SystemExit: it was another signal; a shell's status for it.
    """
    told: list[signal.Signals] = []
    try:
        with forked_ahead():
            return asyncio.run(_heeding(work, told))
    except asyncio.CancelledError:
        if not told:
            raise
    if told[0] == signal.SIGINT:
        raise KeyboardInterrupt
    say(f"stopped by {told[0].name}")
    raise SystemExit(128 + told[0])


async def _heeding(
    work: Coroutine[Any, Any, _Result], told: list[signal.Signals]
) -> _Result:
    loop, whole = asyncio.get_running_loop(), asyncio.ensure_future(work)  # noqa: TID251  it is awaited here
    terminals = [each.fileno() for each in (sys.stdout, sys.stderr) if each.isatty()]

    def end(number: signal.Signals) -> None:
        if number == signal.SIGHUP:  # to write to the terminal would be an error
            nowhere = os.open(os.devnull, os.O_WRONLY)
            for each in terminals:
                os.dup2(nowhere, each)
            os.close(nowhere)
        if not told:
            told.append(number)
            whole.cancel()

    for number in _ENDING:
        if signal.getsignal(number) != signal.SIG_IGN:  # as under nohup
            loop.add_signal_handler(number, end, number)
    return await whole


@asynccontextmanager
async def ending_agents(local: Local, roles: tuple[Role, ...]) -> AsyncIterator[None]:
    """End the agents of these roles where the block is cut off."""
    try:
        yield
    except (asyncio.CancelledError, TimeoutError):
        try:
            async with asyncio.timeout(END_S):
                await _call_off(local, roles)
        except TimeoutError:
            say(f"some agents did not stop within {END_S:g} s; see: brat session list")
        raise


async def _call_off(local: Local, roles: tuple[Role, ...]) -> None:
    mine, context = {*roles} - local.elsewhere(), local.loop.context
    runs: set[int] = set()
    for _, task in context.mirror.state.running():
        if task.attempt and ("witness" if task.number else "mayor") in mine:
            run = task.attempt.run
            run = run or await context.github.runs.named(task.attempt.nonce)
            runs |= {run} if run else set()
    if not runs:
        return
    local.tell(f"stopping {counted(len(runs), 'agent')}; finished work is kept")
    for run in runs:
        await context.github.runs.cancel(run)
    context.memory.is_closing = True
    while runs:
        seen = await context.github.runs.listed(frozenset(runs))
        runs -= {run.id for run in seen.values() if run.completed}
        await asyncio.sleep(_LOOK_S)
    local.loop.wake.all()
    await bot_service.tick(local.loop)
