"""Run the loop with some roles in local mode, and say what to do next."""

import asyncio
from collections.abc import Awaitable, Callable, Collection
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Final

from bot.serving import bot_service
from bot.settings.bot_settings import ROLES
from brat.local.local_mode import Local, ci_of, configuration, serving
from brat.local.next_role import next_role
from brat.local.orderly_end import ending_agents
from brat.local.start_checks import (
    ci_lacks,
    clone_lacks,
    engine_lacks,
    merge_lacks,
    require,
)
from brat.local.waiting_work import locked, tell_waiting
from brat.repository import registration as registrations
from brat.repository.checkout import Checkout
from brat.repository.labelled_issues import labelled_issues
from brat.terminal.console import Tell
from convoy.config import Config
from convoy.kinds import is_done
from convoy.model.state import Convoy, State
from convoy.owed import Role
from convoy.text import shortened
from convoy.views.interventions import unread_issues
from grite.errors import Unavailable

OK: Final = 0
BLOCKED: Final = 1
TIMED_OUT: Final = 3

_ALL_ROLES: Final = "brat up"

Work = Callable[[Local], Awaitable[None]]


async def run(
    checkout: Checkout, roles: tuple[Role, ...], tell: Tell, *, once: bool
) -> int:
    """Run the roles until nothing is owed, or for one round; return the exit status.

    The sessions of a round are part of it: without their forge they would be lost.
    """
    async with serving(checkout, roles, tell) as local, ending_agents(local, roles):
        if once:
            await local.loop.tick()
            local.loop.context.memory.is_closing = True  # nothing more starts
            while _is_at_work(local, roles):
                await local.loop.wait(again=True)
                await bot_service.tick(local.loop)
        else:
            await until_done(local)
        return report(local, done=() if once else roles)


def _is_at_work(local: Local, roles: tuple[Role, ...]) -> bool:
    """Whether a session of these roles has not ended."""
    return any(
        ("witness" if task.number else "mayor") in roles and not task.waits_aside
        for _, task in local.loop.context.mirror.state.running()
    )


async def watch(
    checkout: Checkout,
    roles: tuple[Role, ...],
    tell: Tell,
    *,
    beside: Callable[[Local], AbstractAsyncContextManager[None]] = lambda _: (
        nullcontext()
    ),
) -> None:
    """Run the roles until interrupted; new commits and issues are taken up.

    Args:
        checkout: the repository.
        roles: the loop's roles.
        tell: is told each change.
        beside: a context that stays open as long as the loop runs.
    """
    async with serving(checkout, roles, tell) as local, beside(local):
        tell(f"watching {checkout.top}; stop with Ctrl-C")
        while True:
            await until_done(local)
            await asyncio.to_thread(local.sync.tell_landed)
            await local.loop.wake.wait(local.loop.context.settings.sweep_s)


async def until_done(local: Local, *, also_locked: bool = False) -> None:
    """Tick until the roles owe nothing, telling each change of a task.

    Args:
        local: the running system.
        also_locked: whether to wait, too, until what only locks keep from starting may
            start: each lock ends at a known time.

    Raises:
        BratError: the forge keeps refusing the same request.
    """
    news = News(local.tell)
    news.skip(local.reader().read())

    def seen() -> None:
        news.tell(local.loop.context.mirror.state)
        if not local.forge_alive():
            log = local.checkout.folder / "forge.log"
            raise Unavailable(f"the local forge ended: see {log}; nothing is lost")

    told: set[str] = set()
    await bot_service.until_done(local.loop, seen=seen)
    while also_locked and (waits := tuple(locked(local))):
        for line in waits:
            if line not in told:
                local.tell(line)
        told |= set(waits)
        await local.loop.wait(again=False)
        await bot_service.until_done(local.loop, seen=seen)


class News:
    """Tells a person what changed, one line a change."""

    def __init__(self, tell: Tell) -> None:
        self._tell = tell
        self._known: dict[tuple[str, int], tuple[str, int]] = {}

    def skip(self, state: State) -> None:
        """Take the present state as known, and tell nothing."""
        for convoy in state.convoys.values():
            self._changed((convoy.name, 0), (convoy.state, 0))
            for task in convoy.tasks:
                self._changed((convoy.name, task.number), (task.state, task.started))

    def tell(self, state: State) -> None:
        """Tell every change since the last call."""
        for convoy in state.convoys.values():
            if self._changed((convoy.name, 0), (convoy.state, 0)):
                why = f": {convoy.why}" if convoy.why else ""
                self._tell(f"{convoy.name} is {convoy.state}{why}")
            for task in convoy.tasks:
                now = (task.state, task.started)
                if self._changed((convoy.name, task.number), now):
                    first = " ".join(task.why.partition("\n\n")[0].split())
                    why = f" ({shortened(first, 120)})" if first else ""
                    self._tell(
                        f"  task {task.number} {task.state}{why}: {task.spec.title}"
                    )

    def _changed(self, key: tuple[str, int], now: tuple[str, int]) -> bool:
        was, self._known[key] = self._known.get(key), now
        return was != now


def report(local: Local, own: str = "", done: Collection[Role] = ()) -> int:
    """Say what waits and what to do next.

    Args:
        local: the running system; from now on its roles count as no longer carried out.
        own: the convoy that the command is about, by name; empty: it is about all.
        done: the roles that have just done all they can.

    Returns:
        1 when something of its own convoys is blocked, failed or refused, else 0.
    """
    stuck = tell_waiting(local, own)
    local.sync.tell_landed()
    state = local.loop.context.mirror.state
    waiting = [
        *unread_issues(labelled_issues(local.checkout.folder), state, (_ALL_ROLES,))
    ]
    for each in waiting:
        local.tell(each.why)
    busy = local.elsewhere()
    role = next_role(local.loop.context, state, busy, done)
    if role is None and "mayor" not in busy and any(each.commands for each in waiting):
        role = "mayor"
    if role is not None:
        local.tell(f"next: {_ALL_ROLES if role == 'mayor' else f'brat {role} run'}")
    return BLOCKED if stuck else OK


def finished(convoy: Convoy) -> int:
    """Return the exit status that a convoy's end stands for."""
    whole = convoy.state == "complete" and all(
        is_done(convoy, task) for task in convoy.tasks
    )
    return OK if whole else BLOCKED


def checked(checkout: Checkout, roles: Collection[Role] = ROLES) -> Config:
    """Return the configuration after checking that these roles can do their work.

    Args:
        checkout: the repository.
        roles: sessions need engines with their keys, merges need CI, and new work
            needs engines, whose keys may be in another terminal, and CI.

    Raises:
        BratError: something is missing; a line for each says what, and how to get it.
    """
    config = configuration(checkout)
    known = registrations.known(checkout.folder)
    lacks = [*clone_lacks(checkout, known)]
    if {"mayor", "witness"} & {*roles}:
        lacks += engine_lacks(checkout, config, keys="witness" in roles)
    if {"mayor", "refinery"} & {*roles}:
        ci = ci_of(checkout, config, known)
        lacks += ci_lacks(checkout, config, ci)
        lacks += merge_lacks(config)
    require(*lacks)
    return config
