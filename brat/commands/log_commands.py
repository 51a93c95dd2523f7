"""`brat log adopt`: whose log counts; `brat lock`: leases.

The leases are those that people hold, beside those of sessions.
"""

import asyncio
import json
import re
import secrets
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Literal

import click
import msgspec
from rich.table import Table

from bot import wall_clock
from bot.requests import verb
from bot.requests.verb import Asker, Request
from bot.requests.verb_table import BY_NAME
from brat.local import run_roles
from brat.local.local_mode import serving
from brat.repository import checkout as checkouts, registration as registrations
from brat.repository.log_reader import Reader, log_repository
from brat.status.status_screen import plain_table
from brat.terminal.console import out, say, write
from convoy.model.state import State
from grite.errors import BratError


def adopt_log(path: Path, head: str) -> None:
    if re.fullmatch(r"[0-9a-f]{40}|[0-9a-f]{64}", head) is None:
        raise click.BadParameter(
            f"{head[:80]} is not a full commit ID: see brat log show"
        )

    async def adopt() -> None:
        top = checkouts.find(path)
        async with serving(top, (), say, adopt_log=head) as here:
            mirror = here.loop.context.mirror
            await asyncio.to_thread(mirror.look)
            if not (mirror.head and mirror.log.passes(mirror.head, head)):
                raise BratError(f"{head} is not a commit in the log: see brat log show")
            say(f"the log is now trusted up to {head}")

    asyncio.run(adopt())


Word = Literal["acquire", "renew", "release"]
DONE: Final = {"acquire": "locked", "renew": "renewed", "release": "released"}
_VERBS: Final = {"acquire": "lock", "renew": "renew", "release": "unlock"}


def show_leases(path: Path, *, as_json: bool) -> None:
    state = Reader(log_repository(path)).read()
    if as_json:
        leases = [msgspec.to_builtins(lease) for lease in state.leases.values()]
        write(json.dumps({"schema_version": 1, "locks": leases}, indent=2))
    elif state.leases:
        out.print(_table(state, wall_clock()))
    else:
        say("no locks are held")


def change_lease(
    path: Path, word: Word, resource: str, ttl_s: int | None = None
) -> int:
    """Have the loop carry out a request for a lease; return 1 when it is refused."""
    checkout = checkouts.find(path)
    asker = Asker(by=checkout.person(), sign=secrets.token_hex(8), allowed=True)
    request = _request(word, resource, ttl_s)
    if registrations.known(checkout.folder) is None and _has_log(path):
        line = BY_NAME[request.verb].line(request)
        raise BratError(
            "another machine writes this log: to send your request there, comment on "
            f"one of the repository's issues: {line}"
        )

    async def asked() -> int:
        async with serving(checkout, (), say) as here:
            reply = await here.loop.carry_out(asker, request)
            if reply.why:
                say(f"brat: {reply.why}")
                return run_roles.BLOCKED
            say(f"{resource}: {DONE[word]}")
            return run_roles.OK

    return asyncio.run(asked())


def _has_log(path: Path) -> bool:
    try:
        log_repository(path)
    except BratError:
        return False
    return True


def _request(word: Word, resource: str, ttl_s: int | None) -> Request:
    """Return what a comment would ask for in the same words."""
    given = {"resource": resource} | ({} if ttl_s is None else {"ttl": f"{ttl_s}s"})
    read = {"resource": verb.read_resource, "ttl": verb.read_ttl}
    arguments = {}
    for name, typed in given.items():
        try:
            arguments[name] = read[name](typed)
        except ValueError as error:
            raise click.BadParameter(f"{typed} {error}.") from error
    return Request(_VERBS[word], arguments)


def _table(state: State, now: int) -> Table:
    made = plain_table("resource", "holder", "until", "")
    for lease in sorted(state.leases.values(), key=lambda each: each.resource):
        until = datetime.fromtimestamp(lease.expires / 1000, UTC)
        over = "expired" if lease.expires <= now else ""
        made.add_row(lease.resource, lease.holder, f"{until:%H:%M:%S} UTC", over)
    return made
