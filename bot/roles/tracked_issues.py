"""Freezes the issues that a tracking issue names, and closes them with it."""

import asyncio
from collections.abc import Iterable
from http import HTTPStatus
from typing import Final, NamedTuple

from bot.context.bot_context import BotContext
from bot.door.inbox import StartRequest
from bot.forge.payloads import Issue
from bot.forge.rest import Refused
from bot.roles.admission import TEXT_CHARS, Words, admitted
from bot.text.replies import NO_PLAN
from convoy.events.plan_events import RequestConvoy
from convoy.model.records import NamedIssue
from convoy.model.state import Convoy, State
from convoy.planner.issue_text import Item, intake
from convoy.planner.marks import (
    CLOSED,
    ReferredIssue,
    filled_items,
    missed_work,
    number_here,
)
from convoy.text import clean, cut
from grite.errors import BratError

_GONE: Final = (HTTPStatus.NOT_FOUND, HTTPStatus.GONE)
_SHOWN: Final = 60
MOST_READ: Final = 100
"""How many named issues are read for one convoy."""


class Text(NamedTuple):
    """An issue's text with those of the issues it names, or what is wrong with it."""

    words: str
    fault: str = ""
    named: tuple[NamedIssue, ...] = ()
    """Whose text became which task."""


class _NoTask(BratError):
    """An item names what is no task here; the message is a clause."""


async def with_named_issues(
    context: BotContext,
    state: State,
    wanted: RequestConvoy,
    outsiders: bool,  # noqa: FBT001  as the configuration names it
) -> Text:
    """Return the text of a request with the text of each issue that an item names.

    Args:
        context: the bot's.
        state: says which issues have a convoy already.
        wanted: the request; its text was admitted.
        outsiders: whether text by people without write access is admitted.
    """
    if wanted.pattern:
        return Text(wanted.text)
    labels = await asyncio.to_thread(context.commits.box_labels, wanted.base)
    text = clean(wanted.text)
    found = await asyncio.to_thread(intake, text, labels)
    opened = [item for item in found.work.items if not item.done]
    named = [item for item in opened if item.reference]
    if len(named) > MOST_READ:
        many = f"it names {len(named)} issues and {MOST_READ} can be read: split it"
        return Text(wanted.text, NO_PLAN.format(error=many))
    read: dict[int, ReferredIssue | str] = {}
    for item in named:
        try:
            number = _number(context, item, read.values())
            read[item.at] = await _frozen(context, state, wanted, number, outsiders)
        except _NoTask as why:
            read[item.at] = str(why)
    if not named:
        return Text(wanted.text)
    out = [why for why in read.values() if isinstance(why, str)]
    if len(out) == len(opened):
        nothing = f"nothing is left to do: {'; '.join(out)}"
        return Text(wanted.text, NO_PLAN.format(error=nothing))
    room = TEXT_CHARS - len(text)
    words = await asyncio.to_thread(filled_items, text, read, room, labels)
    items = (await asyncio.to_thread(intake, words, labels)).work.items
    if fault := missed_work(items):
        return Text(words, NO_PLAN.format(error=fault))
    became = [
        NamedIssue(item.number, issue.number)
        for item in named
        if isinstance(issue := read[item.at], ReferredIssue)
    ]
    # The items keep their numbers: the texts that were put in have none of their own.
    is_same = len(items) == len(found.work.items)
    return Text(words, named=tuple(became) if is_same else ())


async def close_named(context: BotContext, convoy: Convoy) -> None:
    """Close the issues whose text became tasks that are merged; safe to call twice."""
    for each in convoy.named:
        task = convoy.task(each.task)
        if task is None or task.state != "merged":
            continue
        try:
            await context.github.close_issue(each.issue, "completed")
        except Refused as refused:
            if refused.status not in _GONE:
                raise


def _number(
    context: BotContext, item: Item, before: Iterable[ReferredIssue | str]
) -> int:
    written = item.reference
    web = context.settings.web
    number = number_here(written, context.github.repository, web)
    if number is None:
        what = "a pull request" if "/pull/" in written else "no issue"
        raise _NoTask(f"{cut(written, _SHOWN)} is {what} of this repository")
    if any(
        isinstance(each, ReferredIssue) and each.number == number for each in before
    ):
        raise _NoTask(f"#{number} is named twice")
    return number


async def _frozen(
    context: BotContext,
    state: State,
    wanted: RequestConvoy,
    number: int,
    outsiders: bool,  # noqa: FBT001
) -> ReferredIssue:
    if number == wanted.issue:
        raise _NoTask(f"#{number} is this very issue")
    if any(convoy.issue == number for convoy in state.live()):
        raise _NoTask(f"#{number} has a convoy of its own that has not ended")
    issue = await _issue(context, number)
    body, author = issue.body or "", issue.user.login if issue.user else ""
    asked = StartRequest(issue=number, title=issue.title, text=body, by=wanted.by)
    words = await admitted(context, asked, author, outsiders=outsiders)
    if not isinstance(words, Words):
        raise _NoTask(f"#{number} was written by somebody without write access")
    return ReferredIssue(number, words.title, words.text)


async def _issue(context: BotContext, number: int) -> Issue:
    try:
        issue = await context.github.issue(number)
    except Refused as refused:
        if refused.status in _GONE:
            raise _NoTask(f"there is no issue #{number} here") from refused
        raise
    if issue.pull_request is not None:
        raise _NoTask(f"#{number} is a pull request")
    if issue.state != "open":
        raise _NoTask(f"#{number} {CLOSED}")
    return issue
