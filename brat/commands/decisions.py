"""A decision typed at a terminal: carried out by a bot, by the rules, or by a comment.

If the person named a bot, the decision goes to its interface. In a repository that
brat serves on this machine, the loop carries it out. In any other clone it becomes a
`/brat` comment on the convoy's issue, and the bot there asks the forge whether the
person may decide this.
"""

import asyncio
from pathlib import Path

from bot.requests.verb import Asker, Request
from bot.requests.verb_table import BY_NAME, endpoint_of
from brat.commands import bot_api
from brat.commands.bot_api import BotApi
from brat.local import run_roles
from brat.local.local_mode import Local, serving
from brat.repository import (
    checkout as checkouts,
    registration as registrations,
    remote_forge,
)
from brat.repository.checkout import Checkout
from brat.repository.log_location import log_repository
from brat.repository.log_reader import Reader
from brat.status.find_task import live_or_named
from brat.terminal.console import say
from convoy.model.state import Convoy
from grite.errors import BratError


def decided(
    path: Path, convoy: str | None, request: Request, bot: str | None = None
) -> int:
    """Send a person's decision to the bot, loop or issue; return the exit status.

    Safe to repeat: a decision that was carried out already is refused in one sentence.

    Args:
        path: a folder of the repository, or of a clone of it.
        convoy: its name; None: the live one.
        request: the decision.
        bot: the address of a bot's dashboard; None: as the person's own settings say.

    Raises:
        BratError: there is no such convoy or task, or the decision cannot be sent.
    """
    if (address := bot_api.named(bot, path)) is not None:
        return _by_a_bot(BotApi.of(address, path), convoy, request)
    checkout = _served_here(path)
    if checkout is not None:
        bare = registrations.bare_path(
            checkout.folder, registrations.read(checkout.folder)
        )
        found = live_or_named(Reader(bare).read(), convoy)
        return asyncio.run(_by_the_loop(checkout, found, request))
    log = log_repository(path)
    found = live_or_named(Reader(log).read(), convoy)
    endpoint_of(request).check(found, request)
    line = BY_NAME[request.verb].line(request)
    where = remote_forge.say(log, found.issue, line)
    say(f"said on {where}: {line}; the bot answers there")
    return run_roles.OK


def _by_a_bot(api: BotApi, convoy: str | None, request: Request) -> int:
    name = api.meant(convoy)
    if refused := api.decide(name, request):
        say(f"brat: the bot at {api.bot} refuses: {refused}")
        return run_roles.BLOCKED
    task = request.arguments.get("task")
    about = f"task {task} of {name}" if task else name
    say(f"done by the bot at {api.bot}: {endpoint_of(request).word} {about}")
    return run_roles.OK


def _served_here(path: Path) -> Checkout | None:
    """Return the checkout, if brat has its forge on this machine."""
    try:
        checkout = checkouts.find(path)
    except BratError:
        return None
    return checkout if registrations.known(checkout.folder) else None


async def _by_the_loop(checkout: Checkout, convoy: Convoy, request: Request) -> int:
    asker = Asker(
        by=checkout.person(), convoy=convoy.name, allowed=True, at_endpoint=True
    )
    async with serving(checkout, (), say) as here:
        reply = await here.loop.carry_out(asker, request)
        if reply.why:
            say(f"brat: {reply.why}")
            return run_roles.BLOCKED
        if request.verb == "cancel" and "task" in request.arguments:
            await _end_run(here, convoy.name, request.arguments["task"])
        run_roles.report(here, convoy.name)
        return run_roles.OK


async def _end_run(here: Local, convoy: str, number: int) -> None:
    """End a stopped task's run at once; the witness would end it only later."""
    context = here.loop.context
    for found, task in context.mirror.state.running():
        if (found.name, task.number) == (convoy, number):
            attempt = task.attempt
            if attempt is not None and attempt.run:
                await context.github.runs.cancel(attempt.run)
