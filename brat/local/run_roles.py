"""Run the loop with some roles in local mode, and say what to do next.

That is what waits for a person, all of a command's own convoy and a line for each
other, and the role that has work to do which no process carries out now.
"""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractAsyncContextManager
from typing import Final

from msgspec.structs import replace

from bot.roles.bot_context import BotContext
from bot.serving import bot_service
from bot.settings.bot_settings import ROLES
from brat.local import start_checks
from brat.local.local_mode import Local, configuration, ending_agents, serving
from brat.repository import registration as registrations
from brat.repository.checkout import Checkout
from brat.repository.forge_files import labelled_issues
from brat.terminal.console import Tell, write
from convoy.config import Config
from convoy.kinds import is_done
from convoy.model.state import Convoy, State, Task
from convoy.owed import Role, Show, item_of, role_of
from convoy.owed.owed import owed_actions
from convoy.planner import not_planned_by
from convoy.rules.starting import is_kept, moment
from convoy.text import numbered, shortened
from convoy.views.interventions import (
    Intervention,
    advice,
    alike,
    interventions,
    same_for,
    short,
    unread_issues,
)
from grite.errors import Unavailable


def next_role(
    context: BotContext, busy: Collection[Role], done: Collection[Role]
) -> Role | None:
    """Return the role to be run next; None: none has work, or all that have it run.

    After what is due come sessions at work, tasks that may start, and what may merge.
    """
    state = context.mirror.state
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
        not is_kept(convoy, task, at, ("turn", "vendor")) for convoy, task in tasks
    ):
        found.append("witness")
    if "refinery" not in done and any(
        task.state == "needs-review" and not task.waits_aside
        for convoy, task in tasks
        if not convoy.kept_by
    ):
        found.append("refinery")
    return next((role for role in found if role not in busy), None)


_SAID_ELSEWHERE: Final = frozenset({"plan_approval", "convoy_failed"})
"""What the news or a command's last line says."""


def waiting(local: Local, state: State) -> tuple[Intervention, ...]:
    """Return what needs a person in this state, and is said by nothing else."""
    context = local.loop.context
    failing = (
        Intervention(kind="set_aside", convoy=state.convoy_of_item(item), why=why)
        for item, why in context.troubles.items()
    )
    found = (*interventions(state, context.clock()), *failing)
    return tuple(each for each in found if each.kind not in _SAID_ELSEWHERE)


def tell_waiting(local: Local, own: str, known: Collection[Intervention] = ()) -> bool:
    """Say what needs a person; return whether anything of one's own does.

    `own` is the convoy that the command is about; empty: each is. What was `known`
    before gets no more than a line for each convoy.
    """
    state = local.loop.context.mirror.state
    mine, others = [], defaultdict[str, dict[str, list[int]]](dict)
    for each in waiting(local, state):
        if (own in ("", each.convoy) or not each.convoy) and each not in known:
            mine.append(each)
        elif each.convoy:
            kind = each.kind.removesuffix("_task").replace("_", " ")
            tasks = others[each.convoy].setdefault(kind, [])
            tasks += [each.task] * bool(each.task)
    for each, alike_ones in alike(mine):
        for line in _lines(state, each):
            local.tell(line)
        if alike_ones:
            local.tell(f"  {same_for(each, alike_ones)}")
    for name, kinds in others.items():
        what = "; ".join(
            f"{kind}: {numbered(tasks)}" if tasks else kind
            for kind, tasks in kinds.items()
        )
        also = "still" if name == own else "also"
        local.tell(f"{name} {also} needs you ({what}): brat status shows why")
    failed = any(
        known.state == "failed" and known.ended_at >= local.begun_at
        for name, known in state.convoys.summaries()
        if own in ("", name)
    )
    return bool(mine) or failed


def _lines(state: State, found: Intervention) -> Iterator[str]:
    """Yield what waits, and the commands that help."""
    convoy = state.convoys.get(found.convoy)
    task = convoy.task(found.task) if convoy and found.task else None
    why, _, more = found.why.partition("\n\n")
    which = short(state, f"{found.task} --convoy {found.convoy}")
    if task:
        why = f"{found.convoy}: task {task.number} is {task.state}: {why}"
        why += f" (details: brat why {which})" * bool(more)
    elif convoy:
        why = f"{convoy.name} is {convoy.shown_state}: {why}"
    yield why
    if task and task.state == "blocked" and task.cause == "failed":
        yield f"  to see its agent's output: brat session tail {which}"
        again = f"brat retry {which} TEXT"
        yield f"  to try it again and tell its agent something: {again}"
    for line in advice(found):
        yield f"  {line}"


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
    beside: Callable[[Local], AbstractAsyncContextManager[None]],
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

    `also_locked` waits, too, for what only people's locks keep from starting: each ends
    at a known time.
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
    context = local.loop.context
    while also_locked and (locks := _locks(context)):
        for line in (
            line for each in locks for line in _lines(context.mirror.state, each)
        ):
            if line not in told:
                local.tell(line)
                told.add(line)
        await local.loop.wait(again=False)
        await bot_service.until_done(local.loop, seen=seen)


def _locks(context: BotContext) -> list[Intervention]:
    found = interventions(context.mirror.state, context.clock())
    return [each for each in found if each.kind == "lock_conflict"]


class News:
    def __init__(self, tell: Tell, state: State) -> None:
        """Take the present state as known."""
        self._tell = tell
        self._known = {key: now for key, now, _, _ in _standing(state)}
        self._about = ""
        """The convoy that the lines before were about."""

    def tell(self, state: State) -> None:
        for key, now, convoy, task in _standing(state):
            before = self._known.get(key)
            if before == now:
                continue
            self._known[key] = now
            if task is None:
                why = f": {convoy.why}" if convoy.why else ""
                self._tell(f"{convoy.name} is {convoy.shown_state}{why}")
                if convoy.state == "active" and before in (None, ("planning", 0)):
                    self._tell_plan(convoy)
            else:
                if self._about != convoy.name:
                    self._tell(f"{convoy.name}:")
                first = " ".join(task.why.partition("\n\n")[0].split())
                if task.state == "running" and task.started > 1:
                    first = f"attempt {task.started}"
                why = f" ({shortened(first, 120)})" if first else ""
                said = f"task {task.number} {task.state}{why}: {task.spec.title}"
                self._tell(f"  {said}")
            self._about = convoy.name

    def _tell_plan(self, convoy: Convoy) -> None:
        """Tell what a plan that nobody looks at before it starts should have been."""
        planner, why = convoy.settings.planner, convoy.unplanned
        unplanned = (not_planned_by(planner, why),) if why else ()
        for each in (*unplanned, *convoy.warnings):
            self._tell(f"  warning: {each}")


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
    known: Collection[Intervention] = (),
    goes_by_role: bool = True,
) -> int:
    """Say what waits and what to do next; `local` has no roles carried out from now on.

    `own` is the convoy that the command is about; empty: each is. `done` are the roles
    that have just done all they can, `known` is what waited before; whoever does not go
    on role by role is told of the command for all. Returns 1 when something of its own
    convoys is blocked, failed or refused, else 0.
    """
    stuck = tell_waiting(local, own, known)
    local.sync.tell_landed()
    state = local.loop.context.mirror.state
    unread = [
        *unread_issues(labelled_issues(local.checkout.folder), state, (_ALL_ROLES,))
    ]
    for each in unread:
        local.tell(each.why)
    busy = local.elsewhere()
    role = next_role(local.loop.context, busy, done)
    if role is None and "mayor" not in busy and any(each.commands for each in unread):
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
    lacks = [*start_checks.clone_lacks(checkout, known)]
    if {"mayor", "witness"} & {*roles}:
        lacks += start_checks.engine_lacks(checkout, config, keys="witness" in roles)
    if {"mayor", "refinery"} & {*roles}:
        ci = start_checks.ci_of(checkout, config, known)
        lacks += start_checks.ci_lacks(checkout, config, ci)
    start_checks.require(*lacks)
    notes = [*start_checks.uncounted_costs(config)] if "witness" in roles else []
    notes += start_checks.awaited_checks(config) if "refinery" in roles else ()
    for lack in notes:
        write(f"note: {lack.said}: {lack.mend}")
    return config
