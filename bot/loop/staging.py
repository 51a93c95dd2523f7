"""Staging: puts every owed log event and ref move into one draft, pass by pass.

Each pass plans on the results of the previous pass, so that a request, its plan, its
branch and its first sessions go out in a single push.
"""

import asyncio
from typing import Final

from msgspec.structs import replace

from bot.context.alone import alone
from bot.context.bot_context import BotContext
from bot.loop.authority import may_still
from bot.repository.draft import Draft
from bot.roles import (
    by_hand,
    calling,
    deacon,
    dispatch,
    handin,
    mayor,
    merged_by_forge,
    part_landing,
    refinery,
    target_merges,
    work_on_trial,
)
from convoy.events.forge_actions import SetItemAside, TakeItemUp
from convoy.events.hold_events import TakeBackWork
from convoy.events.target_events import ChooseLanding, WaitToLand
from convoy.model.ids import convoy_item
from convoy.owed import (
    Action,
    Align,
    AlignConvoy,
    AskMerge,
    Begin,
    BeginPlan,
    Block,
    Build,
    BuildConvoy,
    BuildSync,
    Call,
    Choose,
    ChooseWay,
    ClearWork,
    Collect,
    CreateBase,
    Defer,
    DropPart,
    Expire,
    Faulty,
    HearBase,
    HearDequeue,
    HearIssue,
    Land,
    LandConvoy,
    LandPart,
    LandSync,
    LookAgain,
    MakePlan,
    OfferPart,
    OpenAnother,
    Pause,
    Prove,
    Reject,
    Show,
    Split,
    Staged,
    Stall,
    Sweep,
    TakeBack,
    TakeLanded,
    TakeOut,
    TakePart,
    TakeUp,
    Try,
    Wait,
    item_of,
    role_of,
)
from convoy.owed.owed import owed_actions
from convoy.rules.starting import startable
from convoy.rules.target import OpenAnotherPull

PASSES: Final = 20
"""More than any chain of actions needs; the next push carries any actions left."""


def owed(context: BotContext, draft: Draft | None = None) -> tuple[Action, ...]:
    """Return the actions these roles owe, by a draft's state or the current state.

    A stopped bot owes only actions that belong to no role: messages to people.
    """
    roles = () if context.settings.stopped else context.settings.roles
    state = draft.state if draft is not None else context.mirror.state
    refs = draft.refs if draft is not None else context.mirror.refs
    now = draft.now if draft is not None else context.clock()
    observed = replace(context.observed, refs=refs)
    return tuple(
        action
        for action in owed_actions(state, observed, context.settings.patience, now)
        if (role := role_of(action)) is None or role in roles
        if isinstance(action, Collect) or not context.memory.is_closing
    )


def owes(context: BotContext) -> bool:
    """Whether these roles have anything to do or to wait for."""
    roles = context.settings.roles
    live = [c for c in context.mirror.state.live() if not c.waits_aside]
    tasks = [(convoy, task) for convoy in live for task in convoy.tasks]
    return (
        any(
            ("witness" if task.number else "mayor") in roles
            for _, task in context.mirror.state.running()
            if not task.waits_aside
        )
        or (
            "refinery" in roles
            and any(task.candidate and not task.waits_aside for _, task in tasks)
        )
        or (
            "refinery" in roles
            and any(
                convoy.sync.candidate or (convoy.candidate and not convoy.landing_waits)
                for convoy in live
            )
        )
        or (
            "witness" in roles
            and any(task.not_before and startable(c, task) for c, task in tasks)
        )
        or (
            "mayor" in roles
            and any(c.mayor is not None and c.mayor.state == "queued" for c in live)
        )
        or any(not isinstance(action, Show) for action in owed(context))
    )


async def stage(
    context: BotContext, draft: Draft, only: frozenset[str] | None = None
) -> None:
    """Put every owed staged action into the draft; nothing leaves this machine.

    Each action is a part of the draft: one that fails leaves nothing behind.

    Args:
        context: the bot's.
        draft: takes the events and ref moves.
        only: the items whose refs may move in this push; None: all.
    """
    draft.only = only
    dispatch.note(context, draft)
    mayor.take_settings(context, draft)
    done: set[Action] = set()
    known: set[str] = set()
    for _ in range(PASSES):
        new = [
            action
            for action in owed(context, draft)
            if isinstance(action, Staged) and action not in done
        ]
        if not new:
            return
        for action in new:
            done.add(action)
            item = item_of(action)
            with alone(context, item, draft), draft.part(item):
                await _staged(context, draft, action, known)
        if any(isinstance(action, Align) for action in new):
            return  # the branches must be there before the base moves


async def _staged(
    context: BotContext, draft: Draft, action: Staged, known: set[str]
) -> None:
    if isinstance(action, Collect):
        await _collect(context, draft, action)
    elif await may_still(context, draft, action, known):
        await asyncio.to_thread(perform, context, draft, action)


async def _collect(context: BotContext, draft: Draft, action: Collect) -> None:
    got = await dispatch.fetch(context, action)
    if got is not None:
        await asyncio.to_thread(handin.collect, context, draft, action, got)


def perform(  # noqa: C901, PLR0912, PLR0915  one arm a kind
    context: BotContext, draft: Draft, action: Staged
) -> None:
    """Put one action into the draft; blocking.

    Raises:
        TypeError: the action is a `Collect`; its result has to be fetched first.
    """
    match action:
        case MakePlan():
            mayor.make_plan(context, draft, action)
        case BeginPlan():
            dispatch.begin_plan(context, draft, action)
        case CreateBase():
            mayor.create_base(draft, action)
        case Split():
            dispatch.split(draft, action)
        case Begin():
            dispatch.begin(context, draft, action)
        case Build():
            refinery.build(context, draft, action)
        case Try():
            work_on_trial.try_out(context, draft, action)
        case Prove():
            work_on_trial.prove(context, draft, action)
        case Choose():
            work_on_trial.choose(draft, action)
        case BuildSync():
            target_merges.build_sync(context, draft, action)
        case LandSync():
            target_merges.land_sync(context, draft, action)
        case BuildConvoy():
            refinery.build_convoy(context, draft, action)
        case Align():
            refinery.align(draft, action)
        case Land():
            refinery.land(context, draft, action)
        case LandConvoy():
            refinery.land_convoy(context, draft, action)
        case LandPart():
            part_landing.land(context, draft, action)
        case OfferPart():
            part_landing.offer(draft, action)
        case TakePart():
            merged_by_forge.take_part(context, draft, action)
        case DropPart():
            part_landing.drop(draft, action)
        case ChooseWay(convoy=name, landing=landing):
            draft.submit(ChooseLanding(convoy=name, landing=landing))
        case AlignConvoy():
            merged_by_forge.align_convoy(draft, action)
        case AskMerge():
            merged_by_forge.ask_merge(context, draft, action)
        case Wait(convoy=name, why=why):
            draft.submit(WaitToLand(convoy=name, why=why))
        case OpenAnother(convoy=name, pull=pull):
            draft.submit(OpenAnotherPull(convoy=name, pull=pull))
        case TakeLanded():
            merged_by_forge.take_landed(context, draft, action)
        case Reject():
            refinery.reject(draft, action)
        case LookAgain():
            refinery.look_again(draft, action)
        case ClearWork():
            refinery.clear(context, draft, action)
        case Stall():
            refinery.stall(context, draft, action)
        case Defer():
            dispatch.defer(draft, action)
        case Block():
            refinery.block(draft, action)
        case HearBase():
            by_hand.hear_base(draft, action)
        case HearDequeue():
            by_hand.hear_dequeue(draft, action)
        case HearIssue():
            by_hand.hear(context, draft, action)
        case TakeOut():
            by_hand.take_out(draft, action)
        case TakeBack():
            draft.submit(TakeBackWork(convoy=action.convoy, task=action.task))
        case Pause():
            dispatch.pause(context, draft, action)
        case Call():
            calling.call(draft, action)
        case Sweep():
            deacon.sweep(draft, action)
        case TakeUp(item=item):
            draft.submit(TakeItemUp(item=item))
        case Faulty(convoy=name, why=why):
            draft.submit(SetItemAside(item=convoy_item(name), why=why))
        case Expire():
            deacon.expire(draft, action)
        case Collect():
            raise TypeError("a result is fetched first: see _collect")
