"""A decision typed at a terminal: carried out by a bot, by the rules, or by a comment.

If the person named a bot, the decision goes to it (`brat.status.bot_api`).

In a repository that brat serves on this machine, the loop carries it out. In any other
clone it becomes a `/brat` comment on the convoy's issue, and the bot there asks the
forge whether the person may decide this.

A lease that a person takes (`brat lock`), and whose log counts (`brat log adopt`), the
loop of this machine alone decides.
"""

import asyncio
import re
import secrets
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import click
from rich.table import Table

from bot import wall_clock
from bot.requests.verb import Asker, Request
from bot.requests.verb_table import (
    BY_CONVOY_WORD,
    BY_NAME,
    BY_TASK_WORD,
    convoy_buttons,
    endpoint_of,
    request_by_word,
    task_buttons,
)
from brat.local import run_roles
from brat.local.local_mode import serving
from brat.repository import (
    checkout as checkouts,
    registration as registrations,
    remote_forge,
)
from brat.repository.checkout import Checkout
from brat.repository.log_reader import Reader, log_repository
from brat.status.bot_api import BotApi, named_bot
from brat.status.find_task import live_or_named
from brat.status.status_screen import plain_table, print_rows
from brat.terminal.console import say
from convoy.model.state import State
from convoy.views.interventions import short
from grite.errors import BratError

_WAYS: Final = 5


def decided(
    path: Path, convoy: str | None, request: Request, bot: str | None = None
) -> int:
    """Send a person's decision to the bot, loop or issue; return the exit status.

    Safe to repeat: a decision that was carried out already is refused in one sentence.
    Without `convoy` it is the live one, without `bot` (a dashboard's address) the one
    of the person's own settings.
    """
    if (address := named_bot(bot, path)) is not None:
        api = BotApi.of(address, path)
        name = api.meant(convoy)
        if refused := api.decide(name, request):
            say(f"brat: the bot at {api.bot} refused the request: {refused}")
            return run_roles.BLOCKED
        say(f"the bot at {api.bot} carried out: {_named(request, name)}")
        return run_roles.OK
    log = log_repository(path)
    found = live_or_named(Reader(log).read(), convoy)
    if (checkout := checkouts.served_here(path)) is not None:
        asker = Asker(
            by=checkout.person(), convoy=found.name, allowed=True, at_endpoint=True
        )
        return asyncio.run(_by_the_loop(checkout, asker, request))
    endpoint_of(request).check(found, request)
    line = BY_NAME[request.verb].line(request)
    where = remote_forge.say(log, found.issue, line)
    say(f"commented on {where}: {line}; the bot will answer there")
    return run_roles.OK


def _named(request: Request, convoy: str) -> str:
    """Return the words for a decision that was carried out."""
    task = request.arguments.get("task")
    about = f"task {task} of {convoy}" if task else convoy
    return f"{endpoint_of(request).word} {about}"


def decided_about(
    word: str,
    *,
    repo: Path,
    about: str | None,
    convoy: str | None,
    bot: str | None,
    text: str = "",
) -> int:
    """Send the decision about a task's number or a convoy's name, as `decided` does.

    None stands for the only one that waits for it; `text` is for its agent.
    """
    if about is None and named_bot(bot, repo) is None:
        name, number = _waiting(Reader(log_repository(repo)).read(), word, convoy)
        return decided(repo, name, request_by_word(word, number), bot)
    told = (about or "").removeprefix("task-")
    if word in BY_TASK_WORD and told.isdecimal():
        return decided(repo, convoy, request_by_word(word, int(told), text), bot)
    if word not in BY_CONVOY_WORD:
        said = "no task given" if about is None else f"{about!r} is not a task"
        raise BratError(f"{said}; for example: brat {word} 3")
    return decided(repo, about or convoy, request_by_word(word, text=text), bot)


def _waiting(state: State, word: str, convoy: str | None) -> tuple[str, int]:
    """Return the only convoy, or its only task, whose page has a button for the word.

    A task goes before its convoy, which the word would be about as a whole.
    """
    meant = [live_or_named(state, convoy)] if convoy else [*state.live()]
    tasks = [
        (each.name, task.number)
        for each in meant
        for task in each.tasks
        if word in task_buttons(task)
    ]
    whole = [(each.name, 0) for each in meant if word in convoy_buttons(each)]
    found = tasks or whole
    if not found:
        raise BratError(f"there is nothing to {word}; see: brat status")
    if len(found) > 1:
        ways = "; ".join(
            short(state, f"brat {word} {number} --convoy {name}")
            if number
            else f"brat {word} {name}"
            for name, number in found[:_WAYS]
        )
        more = "; ..." if len(found) > _WAYS else ""
        raise BratError(f"{len(found)} are waiting; choose one: {ways}{more}")
    return found[0]


async def _by_the_loop(
    checkout: Checkout, asker: Asker, request: Request, done: str = ""
) -> int:
    """Have the loop carry it out, and say so, or `done`, and what waits now."""
    async with serving(checkout, (), say) as here:
        known = run_roles.waiting(here, here.reader().read())
        reply = await here.loop.carry_out(asker, request)
        if reply.why:
            say(f"brat: {reply.why}")
            return run_roles.BLOCKED
        if done:
            say(done)
            return run_roles.OK
        if request.verb == "cancel" and (number := request.arguments.get("task")):
            context = here.loop.context  # the witness would end its run only later
            for found, task in context.mirror.state.running():
                run = task.attempt.run if task.attempt else None
                if run and (found.name, task.number) == (asker.convoy, number):
                    await context.github.runs.cancel(run)
        say(f"carried out: {_named(request, asker.convoy)}")
        run_roles.report(here, asker.convoy, known=known, goes_by_role=False)
        return run_roles.OK


def show_leases(repo: Path, *, as_json: bool) -> None:
    state, now = Reader(log_repository(repo)).read(), wall_clock()
    leases = [*state.leases.values()]

    def drawn() -> Table:
        table = plain_table("resource", "holder", "until", "")
        for lease in sorted(leases, key=lambda each: each.resource):
            until = datetime.fromtimestamp(lease.expires / 1000, UTC)
            over = "expired" if lease.expires <= now else ""
            table.add_row(lease.resource, lease.holder, f"{until:%H:%M:%S} UTC", over)
        return table

    print_rows("locks", leases, drawn, as_json=as_json, none="no locks are held")


def change_lease(
    verb: str, done: str, repo: Path, resource: str, ttl: int | None = None
) -> int:
    """Have the loop carry out a request for a lease of `ttl` seconds; 1: refused."""
    checkout = checkouts.find(repo)
    asker = Asker(by=checkout.person(), sign=secrets.token_hex(8), allowed=True)
    try:
        request = Request(verb, {"resource": BY_NAME[verb].words[0].read(resource)})
    except ValueError as error:
        raise click.BadParameter(f"{resource} {error}.") from error
    if ttl is not None:
        request.arguments["ttl"] = ttl
    if registrations.known(checkout.folder) is None:
        _refuse_elsewhere(repo, BY_NAME[verb].line(request))
    said = f"{resource}: {done}"
    return asyncio.run(_by_the_loop(checkout, asker, request, said))


def _refuse_elsewhere(path: Path, line: str) -> None:
    """Refuse what only another machine can carry out, if one writes the log."""
    try:
        log_repository(path)
    except BratError:
        return
    raise BratError(
        "another machine writes this log: to send your request there, comment on one "
        f"of the repository's issues: {line}"
    )


def adopt_log(repo: Path, head: str) -> None:
    if re.fullmatch(r"[0-9a-f]{40}|[0-9a-f]{64}", head) is None:
        raise click.BadParameter(
            f"{head[:80]} is not a full commit ID: see brat log show"
        )

    async def adopt() -> None:
        top = checkouts.find(repo)
        async with serving(top, (), say, adopt_log=head) as here:
            mirror = here.loop.context.mirror
            await asyncio.to_thread(mirror.look)
            if not (mirror.head and mirror.log.passes(mirror.head, head)):
                raise BratError(f"{head} is not a commit in the log: see brat log show")
            say(f"the log is now trusted up to {head}")

    asyncio.run(adopt())
