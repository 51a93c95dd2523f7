"""The agents at work: for how long, what each printed last, and what was used."""

import asyncio
from collections.abc import Iterable

from msgspec import Struct

from bot.dashboard.dashboard_source import DashboardSource, newest_session
from convoy.model.session_result import dollars, tokens
from convoy.model.state import Convoy, Task


class Agent(Struct, frozen=True, kw_only=True):
    """One session that runs."""

    convoy: Convoy
    task: Task
    engine: str
    begun: int
    """Unix ms."""
    last_line: str
    tokens: str
    """What the task's earlier attempts used; empty: nothing is known."""
    money: str


async def at_work(
    source: DashboardSource, running: Iterable[tuple[Convoy, Task]]
) -> tuple[Agent, ...]:
    """Return the agents of these tasks, in the same order."""
    return tuple([await _agent(source, convoy, task) for convoy, task in running])


async def _agent(source: DashboardSource, convoy: Convoy, task: Task) -> Agent:
    printed = await asyncio.to_thread(_last_line, source, convoy, task)
    engine = convoy.settings.engines.get(task.spec.engine)
    used = tokens(task.used)
    return Agent(
        convoy=convoy,
        task=task,
        engine=engine.type if engine else task.spec.engine,
        begun=task.attempt.at if task.attempt else 0,
        last_line=printed,
        tokens=f"{used:,}" if used else "",
        money=dollars(task.used.usd) if task.used.usd else "",
    )


def _last_line(source: DashboardSource, convoy: Convoy, task: Task) -> str:
    if source.output is None or task.newest_run is None:
        return ""
    said = source.output(newest_session(convoy, task))
    return next((line for line in reversed(said.splitlines()) if line.strip()), "")
