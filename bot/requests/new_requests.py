"""Puts to the rules the requests by people and schedules since the last look."""

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from http import HTTPStatus
from typing import Final, TypeVar

from bot.context.alone import alone, tried
from bot.context.bot_context import BotContext
from bot.door.inbox import (
    ALL_PARTS,
    RIGHTS_PART,
    CheckAction,
    Remark,
    Review,
    StartRequest,
    Ticked,
)
from bot.forge.rest import Refused
from bot.forge.transport import Precedence, going
from bot.repository.draft import Draft
from bot.requests import (
    check_actions,
    comments,
    deleted_comments,
    lifted_refusals,
    missed_comments,
    missed_issues,
    missed_labels,
    obeyed_labels,
    submitted_reviews,
    ticked_boxes,
)
from bot.roles import mayor, scheduled_convoys
from convoy.model.ids import delivery_item, look_item
from convoy.model.state import State, may_try, set_aside

GIVEN_UP: Final = 6
"""A delivery that fails this often is not tried again; what it was stays in the log."""

LABELLED: Final = frozenset({"issues", "pulls"})
"""The parts of the world that carry labels."""

Asked = TypeVar("Asked", StartRequest, Remark, Review | Ticked | CheckAction)


async def listen(context: BotContext, draft: Draft, parts: frozenset[str]) -> list[str]:
    """Put all new requests to the rules; return the ids of the handled deliveries.

    Each is handled alone. Safe to cut off anywhere and to call again: decisions are in
    the draft, and in the log once the draft is pushed.

    Args:
        context: the bot's.
        draft: takes the resulting events.
        parts: what may have changed; all parts: also look for lost deliveries.
    """
    sweep = parts >= ALL_PARTS
    waiting = await _asked(context, draft.state, sweep=sweep)
    handled = await _handled(context, draft, waiting, _begin)
    if sweep:
        await _look(context, draft)
    handled += await _handled(context, draft, context.inbox.remarks(), _hear)
    handled += await _handled(context, draft, context.inbox.signs(), _see)
    await _look_at_shown(context, draft, parts)
    if RIGHTS_PART in parts:
        lifted_refusals.take_up(context, draft)
    return handled


async def _asked(
    context: BotContext, state: State, *, sweep: bool
) -> dict[str, StartRequest]:
    """Return the requests for convoys; with `sweep`, those that no delivery brought."""
    if not sweep:
        return context.inbox.requests()
    look = partial(missed_issues.issues, context, state)
    await tried(context, look_item("mentions"), look)
    missed = partial(missed_labels.missed, context)
    found = await tried(context, look_item("issues"), missed) or {}
    return context.inbox.requests() | found


async def _look_at_shown(
    context: BotContext, draft: Draft, parts: frozenset[str]
) -> None:
    """Note which labels and comments of the convoys people have changed."""
    begun = draft.state.convoys.keys() != context.mirror.state.convoys.keys()
    if begun or parts & LABELLED:
        look = partial(obeyed_labels.observe, context, draft)
        await tried(context, look_item("labels"), look)
    for convoy in draft.state.live():
        seen = context.observed.issues.get(convoy.issue)
        if seen is not None and seen.gone:
            continue
        if parts >= ALL_PARTS:
            look = partial(obeyed_labels.correct, context, convoy)
            await tried(context, look_item(convoy.name, "labels"), look)
        if "shown" in parts:
            look = partial(deleted_comments.observe, context, draft, convoy)
            await tried(context, look_item(convoy.name, "comment"), look)


async def _look(context: BotContext, draft: Draft) -> None:
    """Look for what no delivery brought."""
    state = draft.state
    looks = {
        "schedules": partial(scheduled_convoys.listen, context, draft),
        "comments": partial(missed_comments.comments, context, state),
        "reviews": partial(submitted_reviews.keep_missed, context, state),
    }
    for name, look in looks.items():
        await tried(context, look_item(name), look)


def waits(context: BotContext) -> bool:
    """Whether a person's request waits that may be handled now."""
    state, now = context.mirror.state, context.clock()
    return any(
        may_try(state, delivery_item(delivery), now)
        for delivery in context.inbox.waiting()
    )


async def _handled(
    context: BotContext,
    draft: Draft,
    waiting: Mapping[str, Asked],
    handle: Callable[[BotContext, Draft, str, Asked], Awaitable[None]],
) -> list[str]:
    """Handle each delivery alone; return the ids of those that are done with.

    One is also done with where its issue was deleted, and after too many tries.
    """
    handled = []
    for delivery, asked in waiting.items():
        item = delivery_item(delivery)
        if not may_try(draft.state, item, draft.now):
            continue
        with alone(context, item, draft), draft.part(item), going(Precedence.ANSWER):
            try:
                await handle(context, draft, delivery, asked)
            except Refused as refused:
                if refused.status != HTTPStatus.GONE:
                    raise
            handled.append(delivery)
        aside = set_aside(draft.state, item)
        if aside is not None and aside.tries >= GIVEN_UP:
            handled.append(delivery)
    return handled


async def _begin(
    context: BotContext, draft: Draft, _: str, request: StartRequest
) -> None:
    await mayor.accept(context, draft, request)


async def _hear(context: BotContext, draft: Draft, _: str, remark: Remark) -> None:
    if remark.edited:
        await missed_comments.ask_again(context, draft, remark)
    else:
        await comments.answer(context, draft, remark)


async def _see(
    context: BotContext,
    draft: Draft,
    delivery: str,
    sign: Review | Ticked | CheckAction,
) -> None:
    if isinstance(sign, Review):
        await submitted_reviews.answer(context, draft, sign)
    elif isinstance(sign, CheckAction):
        await check_actions.answer(context, draft, delivery, sign)
    else:
        await ticked_boxes.answer(context, draft, delivery, sign)
