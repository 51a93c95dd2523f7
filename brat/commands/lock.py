"""`brat lock`: the leases that people hold, beside those of sessions."""

import asyncio
import json
import secrets
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Literal

import msgspec
from rich import box
from rich.table import Table

from bot.settings.clock import wall_clock
from brat.local import run_roles
from brat.local.local_mode import serving
from brat.repository import checkout as checkouts
from brat.repository.log_location import log_repository
from brat.repository.log_reader import Reader
from brat.terminal.console import out, say, write
from convoy.events.command import Command
from convoy.events.leases import FreeLease, RenewLease, TakeLease
from convoy.model.state import Lease, State
from grite.errors import BratError
from grite.resource import validate

DONE: Final = {"acquire": "yours", "renew": "yours for longer", "release": "free"}


def status(path: Path, *, as_json: bool) -> None:
    """Print the leases."""
    state = Reader(log_repository(path)).read()
    if as_json:
        leases = [msgspec.to_builtins(lease) for lease in state.leases.values()]
        write(json.dumps({"schema_version": 1, "locks": leases}, indent=2))
    elif state.leases:
        out.print(_table(state, wall_clock()))
    else:
        say("nobody holds anything")


def lock(
    path: Path, verb: Literal["acquire", "renew", "release"], resource: str, ttl_s: int
) -> int:
    """Ask the loop for a lease; return 1 when the rules forbid it."""
    checkout = checkouts.find(path)
    holder = checkout.person()

    def command(state: State) -> Command:
        now = wall_clock()
        match verb:
            case "acquire":
                return _acquire(resource, holder, now, ttl_s)
            case "renew":
                return _renew(state, resource, holder, now, ttl_s)
            case "release":
                return _release(state, resource, holder)

    async def asked() -> int:
        async with serving(checkout, (), say) as here:
            state = here.reader().read()
            refused = await here.loop.ask(command(state))
            if refused is not None:
                say(f"brat: {refused.why}")
                return run_roles.BLOCKED
            say(f"{resource}: {DONE[verb]}")
            return run_roles.OK

    return asyncio.run(asked())


def _table(state: State, now: int) -> Table:
    made = Table(box=box.SIMPLE)
    for column in ("resource", "holder", "until", ""):
        made.add_column(column, no_wrap=True)
    for lease in sorted(state.leases.values(), key=lambda each: each.resource):
        until = datetime.fromtimestamp(lease.expires / 1000, UTC)
        over = "run out" if lease.expires <= now else ""
        made.add_row(lease.resource, lease.holder, f"{until:%H:%M:%S} UTC", over)
    return made


def _acquire(resource: str, holder: str, now: int, ttl_s: int) -> Command:
    try:
        validate(resource)
    except ValueError as error:
        raise BratError(str(error)) from error
    nonce = secrets.token_hex(8)
    return TakeLease(
        resource=resource, holder=holder, nonce=nonce, now=now, ttl_s=ttl_s
    )


def _renew(state: State, resource: str, holder: str, now: int, ttl_s: int) -> Command:
    nonce = _held(state, resource).nonce
    return RenewLease(
        resource=resource, holder=holder, nonce=nonce, now=now, ttl_s=ttl_s
    )


def _release(state: State, resource: str, holder: str) -> Command:
    nonce = _held(state, resource).nonce
    return FreeLease(resource=resource, holder=holder, nonce=nonce)


def _held(state: State, resource: str) -> Lease:
    lease = state.leases.get(resource)
    if lease is None:
        raise BratError(f"nobody holds {resource}; see `brat lock status`")
    return lease
