"""Shows people a convoy: its comment, its labels and its checks.

These are projections of the log: each is written only when it differs from what the
forge was last seen to show.
"""

from typing import Final

from bot.context.bot_context import BotContext
from bot.effects import convoy_checks
from bot.effects.comment_body import comment_body
from bot.text.convoy_comment import NO_LABEL, labels_key, wanted_labels
from bot.text.slash_commands import ticked_in, unticked
from convoy.model import ids
from convoy.model.state import Convoy
from convoy.owed import Effect, Show, Shown

TICK_MS: Final = 600_000
"""How long a tick without a delivery is kept; after that the box is emptied."""


def is_shown(context: BotContext, effect: Effect) -> bool:
    """Whether the forge already shows what the effect would show."""
    if not isinstance(effect, Show):
        return False
    convoy = context.mirror.state.convoys[effect.convoy]
    if _is_off_limits(convoy, effect.part):
        return True
    match effect.part:
        case "labels":
            have, _ = wanted_labels(convoy, context.settings.label)
            return context.memory.shown.get(labels_key(convoy)) == have
        case "checks":
            return not convoy_checks.owed(context, convoy)
        case "comment":
            return _is_said(context, convoy)


def _is_off_limits(convoy: Convoy, part: Shown) -> bool:
    """Whether nothing may be shown there, or the issue to show it on is gone."""
    gone = convoy.issue_is == "gone" and part != "checks"
    return convoy.held == NO_LABEL or gone


def _is_said(context: BotContext, convoy: Convoy) -> bool:
    if convoy.comment is None:
        return True
    seen = context.memory.shown.get(comment_key(convoy), "")
    if not isinstance(seen, str) or convoy.comment in context.memory.unticked:
        return seen is None
    return unticked(seen) == comment_body(context, convoy)


async def show(
    context: BotContext,
    convoy: Convoy,
    part: Shown,
    works: frozenset[str] = frozenset(),
) -> None:
    """Bring a part of what people see of the convoy up to date; idempotent.

    Writes only what differs from what the forge was last seen to show.

    Args:
        context: the bot's.
        convoy: the convoy.
        part: what is shown.
        works: the items that were tried just now and work: the comment tells of
            them no longer.
    """
    if _is_off_limits(convoy, part):
        return
    match part:
        case "labels":
            await _show_labels(context, convoy)
        case "checks":
            await convoy_checks.show(context, convoy)
        case "comment":
            if convoy.comment is not None:
                await _show_comment(context, convoy, convoy.comment, works)


async def _show_comment(
    context: BotContext, convoy: Convoy, number: int, works: frozenset[str]
) -> None:
    """Edit the comment, but keep a tick whose delivery has not arrived yet."""
    key = comment_key(convoy)
    if context.memory.shown.get(key, "") is None:
        return  # a person deleted it: the next look notes that
    stands = await context.github.comment(number)
    if stands is not None:
        unheard = _unheard(context, number, stands)
        body = comment_body(context, convoy, unheard, works)
        if stands != body:
            await context.github.edit_comment(number, body)
        stands = body
    context.memory.shown[key] = stands
    for box in context.memory.unticked.pop(number, set()):
        context.memory.ticks.pop((number, box), None)


def _unheard(context: BotContext, number: int, text: str) -> frozenset[str]:
    """Return the ticks whose delivery, which names the person, has yet to arrive."""
    now, heard = context.clock(), context.memory.unticked.get(number, set())
    return frozenset(
        box
        for box in ticked_in(text) - heard
        if now - context.memory.ticks.setdefault((number, box), now) < TICK_MS
    )


async def _show_labels(context: BotContext, convoy: Convoy) -> None:
    key = labels_key(convoy)
    have, have_not = wanted_labels(convoy, context.settings.label)
    live = (each.issue for each in context.mirror.state.live())
    is_replaced = convoy.ended and convoy.issue in live
    if context.memory.shown.get(key) == have or is_replaced:
        return
    present = (await context.github.issue(convoy.issue)).label_names
    if isinstance(before := context.memory.shown.get(key), set):
        present = (present | before) - have  # the forge may show our own writes late
    context.memory.labelled[key] = context.clock()
    await context.github.relabel(convoy.issue, have - present, have_not & present)
    context.memory.shown[key] = have


def comment_key(convoy: Convoy) -> str:
    """Return the key in `shown` under which the comment's last seen text is kept."""
    return ids.comment_key(convoy.name, convoy.deleted_comments)
