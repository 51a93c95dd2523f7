"""A command in the foreground that is told to end: by Ctrl-C, SIGTERM or SIGHUP.

It ends the agents that it started, and takes in what they have done: a cancelled CI
job, a closed terminal or `timeout` leaves nobody at work unseen. An attempt that is
called off counts as none, and the next start goes on from its work.
"""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any, Final, TypeVar

from bot.serving import bot_service
from brat.local.local_mode import Local
from brat.terminal.console import say
from convoy.owed import Role
from convoy.text import counted

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
        if number == signal.SIGHUP:
            _let_go(terminals)
        if not told:
            told.append(number)
            whole.cancel()

    for number in _ENDING:
        if signal.getsignal(number) != signal.SIG_IGN:  # as under nohup
            loop.add_signal_handler(number, end, number)
    return await whole


def _let_go(terminals: list[int]) -> None:
    """Write what is said to nowhere: the terminal is gone, and would be an error."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for each in terminals:
        os.dup2(nowhere, each)
    os.close(nowhere)


@asynccontextmanager
async def ending_agents(local: Local, roles: tuple[Role, ...]) -> AsyncIterator[None]:
    """End the agents of these roles where the block is cut off.

    Args:
        local: the running system.
        roles: this process's own; what another process carries out too goes on.
    """
    try:
        yield
    except (asyncio.CancelledError, TimeoutError):
        try:
            async with asyncio.timeout(END_S):
                await _call_off(local, roles)
        except TimeoutError:
            say(f"not all agents ended within {END_S:g} s: brat top shows them")
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
    local.tell(f"ending {counted(len(runs), 'agent')}; what is done is kept")
    for run in runs:
        await context.github.runs.cancel(run)
    context.memory.is_closing = True
    while runs:
        seen = await context.github.runs.listed(frozenset(runs))
        runs -= {run.id for run in seen.values() if run.completed}
        await asyncio.sleep(_LOOK_S)
    local.loop.wake.all()
    await bot_service.tick(local.loop)
