"""Shows people a convoy: its comment, its labels and its checks.

These are projections of the log: each is written only when it differs from what the
forge was last seen to show. A check takes two writes: there is one on each accepted
attempt's work, and one on the convoy's branch when it is offered to its target. Checks
of brat judge nothing, and nothing waits for them.
"""

from typing import Final

from bot.forge.checks import CheckView
from bot.forge.rest import Refused
from bot.requests.answers import check_views, convoy_comment
from bot.roles.bot_context import BotContext, failed_try, quiet_try
from bot.text.convoy_comment import NO_LABEL, labels_key, wanted_labels
from bot.text.slash_commands import ticked_in, unticked
from convoy.model import ids
from convoy.model.state import Convoy, shown_asides
from convoy.owed import Effect, Show, Shown
from convoy.rules.starting import valid_leases
from grite.errors import Unavailable

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
            return not owed_checks(context, convoy)
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


async def show_part(
    context: BotContext,
    convoy: Convoy,
    part: Shown,
    works: frozenset[str] = frozenset(),
) -> None:
    """Bring a part of what people see of the convoy up to date; idempotent.

    Writes only what differs from what the forge was last seen to show. Of what is in
    `works`, tried just now, the comment tells no longer.
    """
    if _is_off_limits(convoy, part):
        return
    match part:
        case "labels":
            await _show_labels(context, convoy)
        case "checks":
            await show_checks(context, convoy)
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


def comment_body(
    context: BotContext,
    convoy: Convoy,
    ticked: frozenset[str] = frozenset(),
    works: frozenset[str] = frozenset(),
) -> str:
    """Return the comment, as Markdown.

    `ticked` are boxes that a person ticked and the bot has not handled yet; `works` is
    what was set aside and works again.
    """
    state = context.mirror.state
    asides = shown_asides(state, convoy.name, works)
    leases = valid_leases(state, context.clock())
    return convoy_comment(convoy, ticked, asides, leases, context.settings.web)


def owed_checks(context: BotContext, convoy: Convoy) -> list[CheckView]:
    """Return the checks that the forge does not show correctly yet."""
    page = f"{context.settings.git_url}/{context.settings.repository}"
    return [
        each
        for each in check_views(convoy, page)
        if context.memory.shown.get(each.key) != each
    ]


async def show_checks(context: BotContext, convoy: Convoy) -> None:
    """Bring a convoy's checks up to date, each of them alone; idempotent."""
    refusals = []
    for view in owed_checks(context, convoy):
        try:
            await _show_check(context, view)
        except Refused as refused:
            refusals.append(refused)
        else:
            context.memory.shown[view.key] = view
    if refusals:
        raise refusals[0]


async def _show_check(context: BotContext, view: CheckView) -> None:
    now, runs = quiet_try(context, view.key), context.github.check_runs
    found = await runs.found(view)
    if found is None:
        now.repeat()
    try:
        await runs.show(view, found)
    except Unavailable:
        failed_try(context, view.key)
        raise
