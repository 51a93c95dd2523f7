"""`brat log`: lines, a follow mode, export, and a checkpoint."""

import asyncio
import re
from pathlib import Path
from typing import Final

from brat.local import run_roles
from brat.local.local_mode import serving
from brat.repository import checkout as checkouts, log_export
from brat.repository.log_location import log_repository
from brat.terminal.console import say, write
from grite.errors import BratError

FORMS: Final = ("json", "md")


def show(path: Path, number: int) -> None:
    """Print the newest `number` lines."""
    for line in log_export.newest(log_repository(path), number):
        write(line)


def tail(path: Path, number: int, *, following: bool) -> None:
    """Print the newest lines; with `following`, print new ones until interrupted."""
    show(path, number)
    if following:
        for line in log_export.follow(log_repository(path)):
            write(line)


def export(path: Path, form: str) -> None:
    """Write the whole log to standard output.

    Raises:
        BratError: there is no such form.
    """
    if form not in FORMS:
        raise BratError(f"--format {form}: give one of {', '.join(FORMS)}")
    some = log_export.entries(log_repository(path))
    write(log_export.as_json(some) if form == "json" else log_export.as_markdown(some))


def adopt(path: Path, head: str) -> int:
    """Take the log over at a commit; return the exit status.

    Raises:
        BratError: that is no commit of the log which does not count yet.
    """
    if re.fullmatch(r"[0-9a-f]{40}|[0-9a-f]{64}", head) is None:
        raise BratError(f"{head[:80]} is no full commit id: see brat log show")

    async def adopted() -> int:
        top = checkouts.find(path)
        async with serving(top, (), say, adopt_log=head) as here:
            mirror = here.loop.context.mirror
            await asyncio.to_thread(mirror.look)
            if not (mirror.head and mirror.log.passes(mirror.head, head)):
                raise BratError(f"{head} is no commit of the log: see brat log show")
            say(f"the log counts up to {head}")
            return run_roles.OK

    return asyncio.run(adopted())


def checkpoint(path: Path) -> int:
    """Push a checkpoint; return the exit status."""

    async def pushed() -> int:
        async with serving(checkouts.find(path), (), say) as here:
            head = await here.loop.checkpoint()
            say(f"checkpoint at {head}" if head else "there is no log yet")
            return run_roles.OK

    return asyncio.run(pushed())
