"""The dashboard of a repository: beside a running loop, or of any clone's log.

Each address holds a token, without which nobody else on the machine sees anything.
"""

import asyncio
import secrets
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final

from bot import wall_clock
from bot.dashboard import dashboard_source
from bot.dashboard.access_policy import LOCAL_PREFIX
from bot.dashboard.application import serving
from bot.dashboard.dashboard_source import DashboardSource
from bot.door.feed import BRIEF_BYTES
from brat.local.local_mode import Local
from brat.repository.log_reader import Reader, log_repository
from brat.repository.registration import bare_path
from brat.status.local_attention import here
from brat.status.session_views import LAST_BYTES, output_of_session
from brat.terminal.console import say
from convoy.log.record import Reading
from convoy.views.interventions import standing_still

TOKEN_BYTES: Final = 16


def beside(local: Local, port: int) -> AbstractAsyncContextManager[str]:
    """Serve the dashboard of a running loop, with buttons; yield its address.

    If the port is taken, another port is used.
    """
    folder = local.checkout.folder
    loop = local.loop
    source = replace(
        _source(bare_path(folder, local.known), local.known.repository),
        carry_out=local.loop.carry_out,
        output=_printed(folder),
        checks=lambda: loop.context.observed.checks,
        here=lambda: (
            *([standing_still(why)] if (why := loop.standstill) else []),
            *here(local.checkout.top, loop.context.mirror.state, runs=True),
        ),
    )
    return _at_its_address(source, port)


def over(
    log: Path, name: str, port: int, folder: Path
) -> AbstractAsyncContextManager[str]:
    """Serve a read-only dashboard over a log; yield its address."""
    source = replace(_source(log, name), output=_printed(folder))
    return _at_its_address(source, port)


@asynccontextmanager
async def _at_its_address(source: DashboardSource, port: int) -> AsyncIterator[str]:
    token = LOCAL_PREFIX + secrets.token_urlsafe(TOKEN_BYTES)
    async with serving(replace(source, token=token), port) as url:
        yield f"{url}/?token={token}"


def _printed(folder: Path) -> dashboard_source.Output:
    def last(session: dashboard_source.Session) -> str:
        printed = output_of_session(folder, session.name, session.run)
        most = BRIEF_BYTES if session.brief else LAST_BYTES
        return printed.last(running=session.running, colours=True, most=most)

    return last


def alone(repo: Path, port: int) -> None:
    """Serve a read-only dashboard for the repository at `repo` until stopped."""
    repo = repo.resolve()
    log = log_repository(repo)
    source = _source(log, repo.name)
    source = replace(source, here=lambda: here(repo, source.read().state))

    async def served() -> None:
        async with _at_its_address(source, port) as url:
            say(f"dashboard: {url} (read-only; press Ctrl-C to stop)")
            await asyncio.Event().wait()

    asyncio.run(served())


def _source(path: Path, repository: str) -> DashboardSource:
    reader = Reader(path)

    def read() -> Reading:
        reader.read()
        return reader.reading

    return DashboardSource(
        repository=repository,
        read=read,
        log=dashboard_source.log_tail(path, lambda: reader.reading.head),
        history=dashboard_source.LogHistory(path, lambda: reader.reading),
        changes=dashboard_source.changes_in(path),
        clock=wall_clock,
    )
