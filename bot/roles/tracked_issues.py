"""Freezes the issues that a tracking issue names, and closes them with it."""

import asyncio
from collections.abc import Iterable
from http import HTTPStatus
from typing import Final, NamedTuple

from bot.context.bot_context import BotContext
from bot.door.delivery_inbox import Request
from bot.forge.payloads import Issue
from bot.forge.rest import Refused
from bot.messages.start_refusals import NO_PLAN
from bot.roles.admission import TEXT_CHARS, Words, admitted
from convoy.events.convoy_request import RequestConvoy
from convoy.model.state import Convoy, State
from convoy.planner.checklist import Item
from convoy.planner.intake import reference
from convoy.planner.named_issues import (
    Named,
    filled,
    named_by,
    naming,
    number_here,
)
from convoy.text.plaintext import clean, cut
from grite.errors import BratError

_GONE: Final = (HTTPStatus.NOT_FOUND, HTTPStatus.GONE)
_SHOWN: Final = 60


class Text(NamedTuple):
    """An issue's text with those of the issues it names, or what is wrong with it."""

    words: str
    fault: str = ""


class _Fault(BratError):
    """An item names what cannot be a task."""


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
    items = await asyncio.to_thread(naming, text, labels)
    if not items or len(items) > wanted.settings.tasks:
        return Text(wanted.text)  # planning says that there are too many
    found: dict[int, Named] = {}
    try:
        for item in items:
            number = _number(context, item, found.values())
            found[item.at] = await _frozen(context, state, wanted, number, outsiders)
    except _Fault as fault:
        return Text(wanted.text, NO_PLAN.format(error=fault))
    room = TEXT_CHARS - len(text)
    return Text(await asyncio.to_thread(filled, text, found, room, labels))


async def close_named(context: BotContext, convoy: Convoy) -> None:
    """Close the issues whose text became tasks that are merged; safe to call twice."""
    for task in convoy.tasks:
        number = named_by(task.spec.instructions)
        if number is None or task.state != "merged":
            continue
        try:
            await context.github.close_issue(number, "completed")
        except Refused as refused:
            if refused.status not in _GONE:
                raise


def _number(context: BotContext, item: Item, before: Iterable[Named]) -> int:
    written = reference(item)
    web = context.settings.web
    number = number_here(written, context.github.repository, web)
    if number is None:
        what = "a pull request" if "/pull/" in written else "no issue"
        raise _Fault(
            f'task {item.number}: "{cut(written, _SHOWN)}" is {what} of this '
            "repository: write beside it what is to be done here, or take it out"
        )
    if any(each.number == number for each in before):
        raise _Fault(f"#{number} is named twice")
    return number


async def _frozen(
    context: BotContext,
    state: State,
    wanted: RequestConvoy,
    number: int,
    outsiders: bool,  # noqa: FBT001
) -> Named:
    if number == wanted.issue:
        raise _Fault(f"#{number} is this very issue")
    if any(convoy.issue == number for convoy in state.live()):
        raise _Fault(f"#{number} has a convoy of its own that has not ended")
    issue = await _issue(context, number)
    body, author = issue.body or "", issue.user.login if issue.user else ""
    asked = Request(issue=number, title=issue.title, text=body, by=wanted.by)
    words = await admitted(context, asked, author, outsiders=outsiders)
    if not isinstance(words, Words):
        raise _Fault(
            f"#{number} was written by somebody without write access: write in your "
            "own words what is to be done"
        )
    return Named(number, words.title, words.text)


async def _issue(context: BotContext, number: int) -> Issue:
    try:
        issue = await context.github.issue(number)
    except Refused as refused:
        if refused.status in _GONE:
            raise _Fault(f"there is no issue #{number} here") from refused
        raise
    if issue.pull_request is not None:
        raise _Fault(f"#{number} is a pull request, and only an issue can be a task")
    if issue.state != "open":
        raise _Fault(f"#{number} is closed: tick its box, or open it again")
    return issue
