"""`brat up`, and the loop with one role: `brat witness run` and the like."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Final

from bot.settings.bot_settings import ROLES
from brat.local import run_roles
from brat.local.local_mode import Local
from brat.local.orderly_end import ending_agents, run_to_end
from brat.repository import (
    checkout as checkouts,
)
from brat.status import dashboard_server as dashboards
from brat.terminal.console import say
from convoy.owed import Role

_BY_NAME: Final[dict[str, Role]] = {role: role for role in ROLES}


def up(path: Path, port: int | None) -> int:
    """Run all roles until interrupted; show the dashboard if a port is given."""
    checkout = checkouts.find(path)
    run_roles.checked(checkout)

    @asynccontextmanager
    async def beside(here: Local) -> AsyncIterator[None]:
        async with ending_agents(here, ROLES):
            if port is None:
                yield
                return
            async with dashboards.beside(here, port) as url:
                say(f"dashboard: {url}")
                yield

    run_to_end(run_roles.watch(checkout, ROLES, say, beside=beside))
    return run_roles.OK


def run(role: str, path: Path, *, once: bool, watch: bool) -> int:
    """Run one role; return the exit status."""
    checkout = checkouts.find(path)
    wanted = (_BY_NAME[role],)
    run_roles.checked(checkout, wanted)
    if watch:
        ending = partial(ending_agents, roles=wanted)
        run_to_end(run_roles.watch(checkout, wanted, say, beside=ending))
        return run_roles.OK
    return run_to_end(run_roles.run(checkout, wanted, say, once=once))
