"""Looks once at live convoys' issues: open, closed, gone, without their label."""

from datetime import UTC, datetime
from functools import partial
from http import HTTPStatus
from typing import Final

from bot.context.alone import tried
from bot.context.bot_context import BotContext
from bot.forge.payloads import Issue
from bot.forge.rest import Refused
from bot.text.convoy_comment import LABELS
from convoy.model.ids import look_item
from convoy.model.state import Convoy
from convoy.rules.verdict import IssueSeen

LIST: Final = look_item("latest issues")
NEW_MS: Final = 300_000
"""For so long the forge may not find an issue everywhere that was just opened."""


async def look(context: BotContext) -> dict[int, IssueSeen]:
    """Return the known issues; one that the forge does not tell is as before.

    One list shows those changed last; only what it does not show is asked for alone.
    """
    convoys = {convoy.issue: convoy for convoy in context.mirror.state.live()}
    if not convoys:
        return {}
    listed = await tried(context, LIST, context.github.latest_issues)
    known = context.observed.issues
    found = {number: known[number] for number in convoys if number in known}
    for number, convoy in convoys.items():
        step = partial(_seen, context, convoy, listed)
        seen = await tried(context, look_item(convoy.name, "issue"), step)
        if seen is not None:
            found[number] = seen
    return found


async def _seen(
    context: BotContext, convoy: Convoy, listed: dict[int, Issue] | None
) -> IssueSeen | None:
    """Return an issue as the forge shows it; None: it may only not be found yet.

    The forge answers 404 for an issue that was transferred out of our sight, and 410
    also where a repository's issues are switched off.
    Source: https://docs.github.com/rest/issues/issues#get-an-issue

    Raises:
        Refused: the forge does not show it, and it may well be there.
    """
    number = convoy.issue
    try:
        issue = (listed or {}).get(number) or await context.github.issue(number)
    except Refused as refused:
        if refused.status == HTTPStatus.GONE and "transferred" in refused.said:
            return IssueSeen(open=False, gone="transferred")
        if refused.status == HTTPStatus.GONE and "deleted" in refused.said:
            return IssueSeen(open=False, gone="deleted")
        if refused.status != HTTPStatus.NOT_FOUND or listed is None:
            raise
        if context.clock() < convoy.requested_at + NEW_MS:
            return None
        return IssueSeen(open=False, gone="transferred")
    by = await _unlabelled_by(context, convoy, issue)
    return IssueSeen(open=issue.state == "open", unlabelled_by=by)


async def _unlabelled_by(context: BotContext, convoy: Convoy, issue: Issue) -> str:
    """Return who took the convoy's last label off; empty: nobody did.

    A label that is deleted from the whole repository was taken off by nobody.
    """
    ours = {*LABELS, context.settings.label}
    if ours & issue.label_names:
        return ""
    begun = datetime.fromtimestamp(convoy.requested_at // 1000, UTC)
    last = await context.github.last_labellings(issue.number, ours)
    for event in last.values():
        by = event.actor.login if event.actor else context.login
        is_new = event.created_at is not None and event.created_at >= begun
        if event.event == "unlabeled" and is_new and by != context.login:
            return by
    return ""
