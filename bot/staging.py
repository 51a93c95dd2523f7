"""Staging: everything that git is owed goes into one draft, pass by pass.

What one action makes true, the next pass plans on, so that a request, its plan, its
branch and its first sessions go out in a single push.
"""

import asyncio
from typing import Final

from msgspec.structs import replace

from bot.desk import Desk
from bot.orders.landing import answered_for, stand
from bot.orders.vouching import vouched
from bot.repository.draft import Draft
from bot.roles import calling, deacon, handin, mayor, planning, refinery, witness
from convoy.actions import (
    Action,
    Align,
    Begin,
    BeginPlan,
    Block,
    Build,
    BuildConvoy,
    Call,
    Choose,
    Collect,
    CreateBase,
    Defer,
    Expire,
    Land,
    LandConvoy,
    MakePlan,
    Pause,
    Prove,
    Reject,
    Reorder,
    Split,
    Staged,
    Sweep,
    Try,
    role_of,
)
from convoy.plan import plan

PASSES: Final = 20
"""More than any chain of consequences has; what is left comes with the next push."""


def owed(desk: Desk, draft: Draft | None = None) -> tuple[Action, ...]:
    """Return what these roles owe, seen from a draft or from what is true now.

    A bot that was stopped owes only what people are told.
    """
    roles = () if desk.settings.stopped else desk.settings.roles
    state = draft.state if draft is not None else desk.mirror.state
    refs = draft.refs if draft is not None else desk.mirror.refs
    now = draft.now if draft is not None else desk.clock()
    observed = replace(desk.observed, refs=refs)
    return tuple(
        action
        for action in plan(state, observed, desk.settings.pace, now)
        if (role := role_of(action)) is None or role in roles
    )


async def stage(desk: Desk, draft: Draft) -> None:
    """Put all that git is owed into the draft; nothing leaves this machine.

    Raises:
        Unavailable: a result could not be fetched from the forge.
    """
    witness.note(desk, draft)
    done: set[Action] = set()
    known: set[str] = set()
    for _ in range(PASSES):
        new = [
            action
            for action in owed(desk, draft)
            if isinstance(action, Staged) and action not in done
        ]
        if not new:
            return
        for action in new:
            done.add(action)
            if isinstance(action, Collect):
                await _collect(desk, draft, action)
            elif await _may_still(desk, draft, action, known):
                await asyncio.to_thread(perform, desk, draft, action)
        if any(isinstance(action, Align) for action in new):
            return  # the branches must be there before the base moves


async def _may_still(desk: Desk, draft: Draft, action: Staged, known: set[str]) -> bool:
    """Whether those on whose word it is done may still give it."""
    match action:
        case Begin():
            return await vouched(desk, draft, action, known)
        case Land():
            return await stand(desk, draft, action)
        case LandConvoy():
            return await answered_for(desk, draft, action)
        case _:
            return True


async def _collect(desk: Desk, draft: Draft, action: Collect) -> None:
    got = await witness.fetch(desk, action)
    if got is not None:
        await asyncio.to_thread(handin.collect, desk, draft, action, got)


def perform(  # noqa: C901, PLR0912, PLR0915  one arm a kind
    desk: Desk, draft: Draft, action: Staged
) -> None:
    """Put one action into the draft; blocking.

    Raises:
        TypeError: it is a `Collect`, whose result has to be fetched first.
    """
    match action:
        case MakePlan():
            mayor.make_plan(desk, draft, action)
        case BeginPlan():
            planning.begin_plan(desk, draft, action)
        case CreateBase():
            mayor.create_base(draft, action)
        case Reorder():
            mayor.reorder(draft, action)
        case Split():
            planning.split(draft, action)
        case Begin():
            witness.begin(desk, draft, action)
        case Build():
            refinery.build(desk, draft, action)
        case Try():
            refinery.try_out(draft, action)
        case Prove():
            refinery.prove(desk, draft, action)
        case Choose():
            refinery.choose(draft, action)
        case BuildConvoy():
            refinery.build_convoy(desk, draft, action)
        case Align():
            refinery.align(draft, action)
        case Land():
            refinery.land(desk, draft, action)
        case LandConvoy():
            refinery.land_convoy(desk, draft, action)
        case Reject():
            refinery.reject(draft, action)
        case Defer():
            witness.defer(draft, action)
        case Block():
            refinery.block(draft, action)
        case Pause():
            witness.pause(desk, draft, action)
        case Call():
            calling.call(draft, action)
        case Sweep():
            deacon.sweep(draft, action)
        case Expire():
            deacon.expire(draft, action)
        case Collect():
            raise TypeError("a result is fetched first: see _collect")
