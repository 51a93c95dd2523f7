"""What a person decides at a terminal: by a bot, by the rules here, or by a comment.

Where the person named a bot, its interface is asked. In a repository that brat serves
on this machine it goes through the loop; in a clone of any other it is said as a
`/brat` comment on the convoy's issue, and the bot there asks the forge whether this
person may.
"""

import asyncio
from contextlib import suppress
from pathlib import Path
from typing import Final

from bot import deeds
from bot.deeds import Deed
from brat import (
    bot_api,
    checkout as checkouts,
    elsewhere,
    registration as registrations,
    roles,
)
from brat.bot_api import BotApi
from brat.checkout import Checkout
from brat.console import say
from brat.local import Local, serving
from brat.places import log_repository
from brat.reading import Reader
from brat.status.find import live_or_named
from convoy.commands import BlockTask, Command
from convoy.decide import Refusal
from convoy.state import Convoy
from grite.errors import BratError, Conflict

TRIES: Final = 5
"""So often it is put to the rules while the log moves."""


def decided(path: Path, convoy: str | None, deed: Deed, bot: str | None = None) -> int:
    """Put what a person decides to whoever rules here; return the exit status.

    Safe to repeat: what was done is refused, in one sentence.

    Args:
        path: a folder of the repository, or of a clone of it.
        convoy: its name; None: the live one.
        deed: what of it.
        bot: the address of a bot's dashboard; None: as the person's own settings say.

    Raises:
        BratError: there is no such convoy or task, or it cannot be said.
    """
    if (address := bot_api.named(bot, path)) is not None:
        return _by_a_bot(BotApi.of(address, path), convoy, deed)
    checkout = _served_here(path)
    if checkout is not None:
        bare = registrations.bare_path(
            checkout.folder, registrations.read(checkout.folder)
        )
        found = live_or_named(Reader(bare).read(), convoy)
        return asyncio.run(_by_the_loop(checkout, found, deed))
    log = log_repository(path)
    found = live_or_named(Reader(log).read(), convoy)
    deeds.command(deed, found, "")  # what cannot be is said here
    where = elsewhere.say(log, found.issue, deed.comment)
    say(f"said on {where}: {deed.comment}; the bot answers there")
    return roles.OK


def _by_a_bot(api: BotApi, convoy: str | None, deed: Deed) -> int:
    name = api.meant(convoy)
    if refused := api.decide(name, deed):
        say(f"brat: the bot at {api.bot} refuses: {refused}")
        return roles.BLOCKED
    about = f"task {deed.task} of {name}" if deed.task else name
    say(f"done by the bot at {api.bot}: {deed.verb} {about}")
    return roles.OK


def _served_here(path: Path) -> Checkout | None:
    """Return the checkout, if brat has its forge on this machine."""
    try:
        checkout = checkouts.find(path)
        registrations.read(checkout.folder)
    except BratError:
        return None
    return checkout


async def _by_the_loop(checkout: Checkout, convoy: Convoy, deed: Deed) -> int:
    command = deeds.command(deed, convoy, checkout.person())
    async with serving(checkout, (), say) as here:
        refused = await _asked(here, command)
        if refused is not None:
            say(f"brat: {refused.why}")
            return roles.BLOCKED
        if isinstance(command, BlockTask):
            await _cancelled(here, command)
        roles.report(here)
        return roles.OK


async def _asked(here: Local, command: Command) -> Refusal | None:
    for _ in range(TRIES):
        with suppress(Conflict):  # somebody wrote first: it is decided anew
            return await here.loop.ask(command)
    raise Conflict("the log keeps moving; try again")


async def _cancelled(here: Local, stopped: BlockTask) -> None:
    """End a stopped task's run at once; whoever runs the witness would, later."""
    desk = here.loop.desk
    for convoy, task in desk.mirror.state.running():
        if (convoy.name, task.number) == (stopped.convoy, stopped.task):
            attempt = task.attempt
            if attempt is not None and attempt.run:
                await desk.github.runs.cancel(attempt.run)
