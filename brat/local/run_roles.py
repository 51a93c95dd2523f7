"""Run the loop with some roles in local mode, and say what to do next.

That is what waits for a person, all of a command's own convoy and a line for each
other, and the role that has work to do which no process carries out now.
"""

import asyncio
import shlex
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from bot.roles.bot_context import BotContext
from bot.serving import bot_service
from bot.settings.bot_settings import ROLES
from brat.local.local_mode import Local, ci_of, configuration, ending_agents, serving
from brat.local.start_checks import (
    awaited_checks,
    ci_lacks,
    clone_lacks,
    engine_lacks,
    require,
)
from brat.repository import registration as registrations
from brat.repository.checkout import Checkout
from brat.repository.forge_files import labelled_issues
from brat.terminal.console import Tell, write
from convoy.config import Config
from convoy.gate import forbidden, unallowed
from convoy.kinds import is_done, is_stopped
from convoy.model.ids import task_of_item
from convoy.model.state import Convoy, State, Task, asides, convoy_of_item
from convoy.owed import (
    Role,
    Show,
    item_of,
    role_of,
)
from convoy.owed.owed import owed_actions
from convoy.rules.starting import holding, is_kept, kept_by_leases, moment
from convoy.rules.turns import dropped_needs
from convoy.text import shortened
from convoy.views.interventions import unread_issues
from grite.errors import Unavailable


def next_role(
    context: BotContext,
    state: State,
    busy: Collection[Role],
    done: Collection[Role] = (),
) -> Role | None:
    """Return the role to be run next; None: none has work, or all that have it run.

    After what is due come sessions at work, tasks that may start, and what may merge.
    """
    at = moment(state, context.clock())
    observed = replace(context.observed, refs=context.mirror.refs)
    owed = owed_actions(state, observed, context.settings.patience, context.clock())
    found: list[Role] = [
        role
        for each in owed
        if not isinstance(each, Show) and (role := role_of(each)) is not None
        if item_of(each) not in context.troubles
    ]
    works = any(not (c.waits_aside or t.waits_aside) for c, t in state.running())
    tasks = [(convoy, task) for convoy in state.live() for task in convoy.tasks]
    if works or any(
        not is_kept(convoy, task, at, ("turn", "vendor", "day"))
        for convoy, task in tasks
    ):
        found.append("witness")
    if "refinery" not in done and any(
        task.state == "needs-review" and not task.waits_aside
        for convoy, task in tasks
        if not convoy.kept_by
    ):
        found.append("refinery")
    return next((role for role in found if role not in busy), None)


_ONCE: Final = "  once you have fixed the cause: "
_LANDING: Final = "waiting to land"


class _Wait(Struct, frozen=True):
    convoy: str
    """Empty: it belongs to none."""
    what: str
    """In two or three words."""
    task: int
    """0: it is not about one task."""
    lines: tuple[str, ...]
    """What to say of it, whole."""


def tell_waiting(local: Local, own: str) -> bool:
    """Say what needs a person; return whether anything of one's own does.

    `own` is the convoy that the command is about; empty: each is.
    """
    state = local.loop.context.mirror.state
    found = _found(local)
    told = False
    for name, waits in found.items():
        if own in ("", name) or not name:
            told = True
            for line in (line for wait in waits for line in wait.lines):
                local.tell(line)
        else:
            local.tell(_of_other(name, waits))
    failed = any(
        known.state == "failed" and known.ended_at >= local.begun_at
        for name, known in state.convoys.summaries()
        if own in ("", name)
    )
    return told or failed


def _found(local: Local) -> dict[str, list[_Wait]]:
    """Return what waits by the names of its convoys; by no name: what has none."""
    context = local.loop.context
    state = context.mirror.state
    live = tuple(state.live())
    found: dict[str, list[_Wait]] = {convoy.name: [] for convoy in live}
    for convoy in live:
        found[convoy.name] += _of_convoy(convoy, named=len(live) > 1)
        if convoy.state == "paused" and not state.paused_by:
            because = f": {convoy.why}" if convoy.why else ""
            said = f"{convoy.name} is paused{because}"
            mend = f"  to go on: brat convoy resume {convoy.name}"
            found[convoy.name].append(_Wait(convoy.name, "paused", 0, (said, mend)))
    for item, aside in asides(state):
        name = convoy_of_item(state, item)
        lines: tuple[str, ...] = (f"{item} is set aside: {aside.why}",)
        lines += (f"{_ONCE}brat convoy retry {name}",) if name else ()
        _, task = task_of_item(item) or ("", 0)
        found.setdefault(name, []).append(_Wait(name, "set aside", task, lines))
    for item, why in context.troubles.items():
        name = convoy_of_item(state, item)
        found.setdefault(name, []).append(_Wait(name, "failing", 0, (why,)))
    for wait in _locked(local):
        found.setdefault(wait.convoy, []).append(wait)
    return {name: waits for name, waits in found.items() if waits}


def _of_convoy(convoy: Convoy, *, named: bool) -> Iterator[_Wait]:
    """Yield what only a person puts right; `named`: its commands name the convoy."""
    name = convoy.name
    which = f" --convoy {name}" if named else ""
    for task in (task for task in convoy.tasks if is_stopped(convoy, task)):
        why, _, more = task.why.partition("\n\n")
        rest = f" (details: brat why {task.number}{which})" if more else ""
        wants = unallowed(task, convoy.settings.gate)
        said = f"{name}: task {task.number} is blocked: {why}{rest}"
        whose = f"{task.number}{which}"
        mends = (f"  to allow it: brat task allow {whose}",) * (not forbidden(wants))
        if not wants and dropped_needs(convoy, task):
            mends = ()
        elif not wants:
            mends = (f"  to try it again: brat task retry {whose}",)
            if task.cause == "failed":
                shown = f"  to see its agent's output: brat session tail {whose}"
                mends = (shown, *mends)
        drop = f"  to continue without it: brat task drop {whose}"
        yield _Wait(name, "blocked", task.number, (said, *mends, drop))
    if convoy.sync.stalled:
        said = f"{name} is waiting to land: {convoy.sync.stalled}"
        yield _Wait(name, _LANDING, 0, (said, f"{_ONCE}brat convoy retry {name}"))
    if convoy.settled and convoy.landing_waits:
        said = f"{name}: {convoy.offer} is waiting for {convoy.landing_waits}"
        yield _Wait(name, _LANDING, 0, (said,))


def _locked(local: Local) -> Iterator[_Wait]:
    """Yield each task that locks alone keep from starting."""
    context, person = local.loop.context, local.checkout.person()
    for convoy, task, leases in kept_by_leases(context.mirror.state, context.clock()):
        lines = tuple(
            f"{convoy.name}: task {task.number} waits for {holding(lease)}; to start "
            f"it sooner: brat lock release {shlex.quote(lease.resource)}"
            + f" (only by {lease.holder})"
            * (lease.holder != person)
            for lease in leases
        )
        yield _Wait(convoy.name, "locked", task.number, lines)


def _of_other(name: str, waits: Sequence[_Wait]) -> str:
    kinds: dict[str, list[str]] = {}
    for wait in waits:
        numbers = kinds.setdefault(wait.what, [])
        if wait.task and str(wait.task) not in numbers:
            numbers.append(str(wait.task))
    what = "; ".join(
        f"{kind}: task {', task '.join(numbers)}" if numbers else kind
        for kind, numbers in kinds.items()
    )
    return f"{name} also needs you ({what}): brat status shows why"


OK: Final = 0
BLOCKED: Final = 1
TIMED_OUT: Final = 3

_ALL_ROLES: Final = "brat up"


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
            while any(
                ("witness" if task.number else "mayor") in roles
                and not task.waits_aside
                for _, task in local.loop.context.mirror.state.running()
            ):
                await local.loop.wait(again=True)
                await bot_service.tick(local.loop)
        else:
            await until_done(local)
        return report(local, done=() if once else roles)


async def watch(
    checkout: Checkout,
    roles: tuple[Role, ...],
    tell: Tell,
    *,
    beside: Callable[[Local], AbstractAsyncContextManager[None]] = lambda _: (
        nullcontext()
    ),
) -> None:
    """Run the roles until interrupted; new commits and issues are taken up."""
    async with serving(checkout, roles, tell) as local, beside(local):
        tell(f"watching {checkout.top}; press Ctrl-C to stop")
        while True:
            await until_done(local)
            await asyncio.to_thread(local.sync.tell_landed)
            await local.loop.wake.wait(local.loop.context.settings.sweep_s)


async def until_done(local: Local, *, also_locked: bool = False) -> None:
    """Tick until the roles owe nothing, telling each change of a task.

    `also_locked` waits, too, for what only locks keep from starting: each ends at a
    known time.
    """
    news = News(local.tell, local.reader().read())

    def seen() -> None:
        news.tell(local.loop.context.mirror.state)
        if not local.forge_alive():
            log = local.checkout.folder / "forge.log"
            raise Unavailable(
                f"the local forge has stopped, but no work is lost: see {log}"
            )

    told: set[str] = set()
    await bot_service.until_done(local.loop, seen=seen)
    while also_locked and (waits := tuple(_locked(local))):
        for line in (line for wait in waits for line in wait.lines):
            if line not in told:
                local.tell(line)
                told.add(line)
        await local.loop.wait(again=False)
        await bot_service.until_done(local.loop, seen=seen)


class News:
    def __init__(self, tell: Tell, state: State) -> None:
        """Take the present state as known."""
        self._tell = tell
        self._known = {key: now for key, now, _, _ in _standing(state)}

    def tell(self, state: State) -> None:
        for key, now, convoy, task in _standing(state):
            if self._known.get(key) == now:
                continue
            self._known[key] = now
            if task is None:
                why = f": {convoy.why}" if convoy.why else ""
                self._tell(f"{convoy.name} is {convoy.shown_state}{why}")
            else:
                first = " ".join(task.why.partition("\n\n")[0].split())
                why = f" ({shortened(first, 120)})" if first else ""
                said = f"task {task.number} {task.state}{why}: {task.spec.title}"
                self._tell(f"  {said}")


def _standing(
    state: State,
) -> Iterator[tuple[tuple[str, int], tuple[str, int], Convoy, Task | None]]:
    """Yield each convoy and task, under a key of its own, with where it stands."""
    for convoy in state.convoys.values():
        yield (convoy.name, 0), (convoy.state, 0), convoy, None
        for task in convoy.tasks:
            key = (convoy.name, task.number)
            yield key, (task.state, task.started), convoy, task


def report(
    local: Local,
    own: str = "",
    done: Collection[Role] = (),
    *,
    goes_by_role: bool = True,
) -> int:
    """Say what waits and what to do next; `local` has no roles carried out from now on.

    `own` is the convoy that the command is about; empty: each is. `done` are the roles
    that have just done all they can; whoever does not go on role by role is told of the
    command for all. Returns 1 when something of its own convoys is
    blocked, failed or refused, else 0.
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
        is_for_all = role == "mayor" or not goes_by_role
        local.tell(f"next: {_ALL_ROLES if is_for_all else f'brat {role} run'}")
    return BLOCKED if stuck else OK


def finished(convoy: Convoy) -> int:
    whole = convoy.state == "complete" and all(
        is_done(convoy, task) for task in convoy.tasks
    )
    return OK if whole else BLOCKED


def checked(checkout: Checkout, roles: Collection[Role] = ROLES) -> Config:
    """Return the configuration after checking that these roles can do their work."""
    config = configuration(checkout)
    known = registrations.known(checkout.folder)
    lacks = [*clone_lacks(checkout, known)]
    if {"mayor", "witness"} & {*roles}:
        lacks += engine_lacks(checkout, config, keys="witness" in roles)
    if {"mayor", "refinery"} & {*roles}:
        ci = ci_of(checkout, config, known)
        lacks += ci_lacks(checkout, config, ci)
    require(*lacks)
    for lack in awaited_checks(config) if "refinery" in roles else ():
        write(f"note: {lack.said}: {lack.mend}")
    return config
