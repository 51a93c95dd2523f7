"""What `brat log` and `brat lock` do."""

import asyncio
import json
from pathlib import Path
from typing import Final, Literal

import msgspec

from bot.clock import wall_clock
from brat import checkout as checkouts, locks, logbook, roles
from brat.console import out, say, write
from brat.local import serving
from brat.places import log_repository
from brat.reading import Reader
from convoy.commands import Command
from convoy.state import State
from grite.errors import BratError

FORMS: Final = ("json", "md")
DONE: Final = {"acquire": "yours", "renew": "yours for longer", "release": "free"}


def show(path: Path, number: int) -> None:
    """Print the newest `number` lines."""
    for line in logbook.newest(log_repository(path), number):
        write(line)


def tail(path: Path, number: int, *, following: bool) -> None:
    """Print the newest lines; with `following` go on until interrupted."""
    show(path, number)
    if following:
        for line in logbook.follow(log_repository(path)):
            write(line)


def export(path: Path, form: str) -> None:
    """Write the whole log.

    Raises:
        BratError: there is no such form.
    """
    if form not in FORMS:
        raise BratError(f"--format {form}: give one of {', '.join(FORMS)}")
    some = logbook.entries(log_repository(path))
    write(logbook.as_json(some) if form == "json" else logbook.as_markdown(some))


def checkpoint(path: Path) -> int:
    """Push a checkpoint; return the exit status."""

    async def pushed() -> int:
        async with serving(checkouts.find(path), (), say) as here:
            head = await here.loop.checkpoint()
            say(f"checkpoint at {head}" if head else "there is no log yet")
            return roles.OK

    return asyncio.run(pushed())


def lock_status(path: Path, *, as_json: bool) -> None:
    """Print the leases."""
    state = Reader(log_repository(path)).read()
    if as_json:
        leases = [msgspec.to_builtins(lease) for lease in state.leases.values()]
        write(json.dumps({"schema_version": 1, "locks": leases}, indent=2))
    elif state.leases:
        out.print(locks.table(state, wall_clock()))
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
                return locks.acquire(resource, holder, now, ttl_s)
            case "renew":
                return locks.renew(state, resource, holder, now, ttl_s)
            case "release":
                return locks.release(state, resource, holder)

    async def asked() -> int:
        async with serving(checkout, (), say) as here:
            state = here.reader().read()
            refused = await here.loop.ask(command(state))
            if refused is not None:
                say(f"brat: {refused.why}")
                return roles.BLOCKED
            say(f"{resource}: {DONE[verb]}")
            return roles.OK

    return asyncio.run(asked())
