"""Staging: puts every owed log event and ref move into one draft, pass by pass.

Each pass plans on the results of the previous pass, so that a request, its plan, its
branch and its first sessions go out in a single push. Whether people still want what is
about to be done, the forge is asked again.
"""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from bot.loop.observe import judged
from bot.repository.draft import Draft
from bot.requests import answers
from bot.roles import by_hand, deacon, mayor, refinery, result_artifact, witness
from bot.roles.authorization import convoy_may_land, may_land, may_start
from bot.roles.bot_context import BotContext, BotDraft, alone
from convoy import owed as actions
from convoy.owed.owed import owed_actions
from convoy.rules.starting import PASSING, is_kept, moment

_SOON: Final = PASSING - {"day"}
PASSES: Final = 20
"""More than any chain of actions needs; the next push carries any actions left."""


def owed(context: BotContext, draft: Draft | None = None) -> tuple[actions.Action, ...]:
    """Return the owed actions by a draft or the state; stopped, only messages."""
    roles = () if context.settings.stopped else context.settings.roles
    state = draft.state if draft is not None else context.state
    refs = draft.refs if draft is not None else context.mirror.refs
    now = draft.now if draft is not None else context.clock()
    observed = replace(context.observed, refs=refs)
    return tuple(
        action
        for action in owed_actions(state, observed, context.settings.patience, now)
        if (role := actions.role_of(action)) is None or role in roles
        if isinstance(action, actions.Collect) or not context.memory.is_closing
    )


def owes(context: BotContext) -> bool:
    """Whether these roles have anything to do or to wait for."""
    state = context.mirror.state
    live = [convoy for convoy in state.live() if not convoy.waits_aside]
    tasks = [(convoy, task) for convoy in live for task in convoy.tasks]
    running = [task for _, task in state.running() if not task.waits_aside]
    at = moment(state, context.clock())
    waits = {
        "mayor": any(not task.number for task in running)
        or any(c.mayor is not None and c.mayor.state == "queued" for c in live),
        "witness": any(task.number for task in running)
        or any(t.not_before and not is_kept(c, t, at, _SOON) for c, t in tasks),
        "refinery": any(t.candidate and not t.waits_aside for _, t in tasks)
        or any(c.sync.candidate or (c.candidate and not c.landing_waits) for c in live),
    }
    return any(waits.get(role) for role in context.settings.roles) or any(
        not isinstance(action, actions.Show) for action in owed(context)
    )


async def stage(draft: BotDraft, only: frozenset[str] | None = None) -> None:
    """Put every owed staged action into the draft; nothing leaves this machine.

    Each action is a part of the draft: one that fails leaves nothing behind. In this
    push only refs of the items in `only` may move; None: all.
    """
    draft.only = only
    witness.note_heard(draft)
    mayor.take_settings(draft)
    mayor.follow_default_branch(draft)
    done: set[actions.Action] = set()
    known: set[str] = set()
    for _ in range(PASSES):
        new = [
            action
            for action in owed(draft.bot, draft)
            if isinstance(action, actions.Staged) and action not in done
        ]
        if not new:
            return
        for action in new:
            done.add(action)
            item = actions.item_of(action)
            with alone(draft.bot, item, draft), draft.part(item):
                if isinstance(action, actions.Collect):
                    got = await result_artifact.fetch(draft.bot, action)
                    take_in = partial(witness.collect, draft, action)
                    if got is not None:
                        await asyncio.to_thread(take_in, got)
                elif await may_still(draft, action, known):
                    await asyncio.to_thread(PERFORMED[type(action)], draft, action)
        if any(isinstance(action, actions.Align) for action in new):
            return  # the branches must be there before the base moves


PERFORMED: Final[dict[type[Struct], Callable[[BotDraft, Any], object]]] = {
    actions.MakePlan: mayor.make_plan,
    actions.Begin: witness.begin,
    actions.Build: refinery.build,
    actions.Try: refinery.try_out,
    actions.Prove: refinery.prove,
    actions.BuildSync: refinery.build_sync,
    actions.LandSync: refinery.land_sync,
    actions.BuildConvoy: refinery.build_convoy,
    actions.Land: refinery.land,
    actions.LandConvoy: refinery.land_convoy,
    actions.AskMerge: refinery.ask_merge,
    actions.TakeLanded: refinery.take_landed,
    actions.Stall: refinery.stall,
    actions.Hear: by_hand.hear,
    actions.HearPush: by_hand.hear_push,
    actions.Pause: witness.pause,
    actions.Align: refinery.align,
    actions.Reject: refinery.reject,
    actions.LookAgain: refinery.reject,
    actions.Call: by_hand.call_people,
    actions.Sweep: deacon.sweep_branches,
    actions.CreateBase: refinery.create_base,
    actions.AlignConvoy: refinery.align_convoy,
    actions.Note: lambda draft, action: draft.submit(action.command),
}
"""What puts each action but `Collect` into a draft; blocking."""


async def may_still(draft: BotDraft, action: actions.Staged, known: set[str]) -> bool:
    """Whether who authorized an action still may; `known` are logins found to."""
    match action:
        case actions.Begin() if action.task:
            return await may_start(draft, action, known)
        case actions.HearPush(task=0):
            look = partial(judged, draft.bot, draft.state.convoys[action.convoy])
            return not await by_hand.took_merge(draft, action, look)
        case actions.Align():
            return await by_hand.is_wanted(draft, action.convoy)
        case actions.Land():
            return await _is_wanted(
                draft, action.convoy, action.tasks
            ) and await may_land(draft, action)
        case actions.LandConvoy() | actions.AskMerge():
            return await _is_wanted(draft, action.convoy) and await convoy_may_land(
                draft, action
            )
        case _:
            return True


async def _is_wanted(draft: BotDraft, name: str, tasks: tuple[int, ...] = ()) -> bool:
    """Look just before a landing whether a person says no, by hand or by a label."""
    if not await by_hand.is_wanted(draft, name):
        return False
    await answers.observe_labels(draft)
    convoy = draft.state.convoys[name]
    return not convoy.held and not any(
        task.held for task in convoy.tasks if task.number in tasks
    )
