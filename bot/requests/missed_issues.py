"""Finds issues that name the bot or are assigned to it, and whose delivery was lost.

A bot that polls gets no deliveries at all. Each look is one list of the open issues
that changed lately; only for an issue assigned to the bot its events are read, too.
"""

from datetime import datetime

from bot.context.bot_context import BotContext
from bot.context.configuration import configuration
from bot.context.overlapping_looks import Looks
from bot.door.inbox import StartRequest, Trigger
from bot.forge.payloads import Account, Issue
from bot.requests.missed_comments import first_look
from bot.roles.admission import edited_since
from bot.text.slash_commands import may_mention
from convoy.config import ConfigError
from convoy.model.state import State


async def issues(context: BotContext, state: State) -> None:
    """Put issues since the last look into the inbox, as the door would.

    Safe to cut off anywhere and to call again.

    Args:
        context: the bot's.
        state: holds the convoys; only an issue without one is asked for.

    Raises:
        Unavailable: the forge did not answer.
        Refused: the forge does not show its issues.
    """
    try:
        triggers = configuration(context).triggers
    except (ConfigError, KeyError):
        return  # who sets the label is told of the fault
    if not (triggers.mention or triggers.assignee):
        return
    looks = context.memory.issues or Looks(first_look(context, state))
    context.memory.issues = looks
    known = {request.issue for request in context.inbox.requests().values()}
    known |= {of.issue for _, of in state.convoys.summaries()}
    found = await context.github.issues_since(looks.since)
    for issue in found:
        if issue.number in known or context.settings.label in issue.label_names:
            continue
        request = _mention(context, issue, looks) if triggers.mention else None
        if request is None and triggers.assignee:
            request = await _assignment(context, issue, looks)
        if request is not None:
            await _keep(context, issue, *request)
    looks.note({issue.number: issue.updated_at for issue in found if issue.updated_at})
    assigned = context.memory.assigned
    context.memory.assigned = {n: at for n, at in assigned.items() if n in looks.seen}


Asked = tuple[Trigger, Account, datetime]
"""How an issue asks, who asked, and when."""


def _mention(context: BotContext, issue: Issue, looks: Looks) -> Asked | None:
    """Return the mention in an issue that nobody has seen yet."""
    author, at = issue.user, issue.created_at
    if author is None or at is None or author.login == context.login:
        return None
    is_new = issue.number not in looks.seen and at >= looks.since
    if not is_new or not may_mention(issue.body or "", context.login):
        return None
    return "mention", author, at


async def _assignment(context: BotContext, issue: Issue, looks: Looks) -> Asked | None:
    """Return the assignment of an issue that nobody has seen yet."""
    login, known = context.login, context.memory.assigned
    if login not in {each.login for each in issue.assignees}:
        return None
    number, since = issue.number, looks.seen.get(issue.number, looks.since)
    if number in known and since == issue.updated_at:
        return None
    event = await context.github.assignment(number, login)
    by = event and (event.assigner or event.actor)
    if event is None or not by or by.login == login or event.created_at is None:
        return None
    before, known[number] = known.get(number), event.created_at
    is_new = event.created_at != before and event.created_at >= since
    return ("assignee", by, event.created_at) if is_new else None


async def _keep(
    context: BotContext, issue: Issue, trigger: Trigger, by: Account, at: datetime
) -> None:
    request = StartRequest(
        issue=issue.number,
        title=issue.title,
        text=issue.body or "",
        by=by.login,
        bot=by.id if by.type == "Bot" else 0,
        trigger=trigger,
        edited=await edited_since(context, issue, at),
    )
    context.inbox.put(f"sweep-issue-{issue.number}", request)
