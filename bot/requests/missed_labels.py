"""Finds labelled issues without a convoy, among them those whose delivery was lost."""

from functools import partial
from typing import Final

from bot.context.alone import tried
from bot.context.bot_context import BotContext
from bot.door.inbox import StartRequest
from bot.forge.payloads import Issue
from bot.roles import mayor
from bot.roles.admission import edited_since
from bot.text.convoy_comment import NO_LABEL
from convoy.model.ids import issue_item
from convoy.text import clean, shortened
from convoy.views.interventions import LabelledIssue

TITLE_SHOWN: Final = 72
"""How many characters of an unread issue's title are shown."""


async def missed(context: BotContext) -> dict[str, StartRequest]:
    """Return the labelled issues of which no delivery reached the bot, by an id."""
    known = {request.issue for request in context.inbox.requests().values()}
    found = {}
    labelled = await context.github.issues_labelled(context.settings.label)
    context.memory.unread = {issue.number: _unread(issue) for issue in labelled}
    for issue in labelled:
        if issue.number in known or mayor.busy(context.mirror.state, issue.number):
            continue
        request = await tried(
            context, issue_item(issue.number), partial(_found, context, issue)
        )
        if request is not None:
            found[f"sweep-{issue.number}"] = request
    return found


def _unread(issue: Issue) -> LabelledIssue:
    title = shortened(clean(issue.title), TITLE_SHOWN)
    never = NO_LABEL if NO_LABEL in issue.label_names else ""
    return LabelledIssue(number=issue.number, title=title, never=never)


async def _found(context: BotContext, issue: Issue) -> StartRequest | None:
    """Return the request of a labelled issue of which no delivery reached the bot."""
    labelling = await context.github.labelling(issue.number, context.settings.label)
    if labelling is None or labelling.actor is None:
        return None
    return StartRequest(
        issue=issue.number,
        title=issue.title,
        text=issue.body or "",
        by=labelling.actor.login,
        bot=labelling.actor.id if labelling.actor.type == "Bot" else 0,
        edited=await edited_since(context, issue, labelling.created_at),
    )
