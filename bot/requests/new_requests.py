"""Puts to the rules what people and schedules asked for since the last look.

The sweep finds what no delivery brought: GitHub repeats none by itself, and a bot that
polls gets none at all. Answers are announced by their comment's id, so a comment that a
delivery also brings is still answered once.

A schedule opens an issue for each convoy that it asks for. The issue is the memory: its
hidden marker names the schedule and the time, so that a later look, or another process,
finds that the issue was opened.
"""

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import partial
from http import HTTPStatus
from typing import Final

from bot.door import inbox
from bot.door.delivery_meaning import may_ask, start_request
from bot.forge.payloads import Account, Issue
from bot.forge.rest import Refused
from bot.forge.transport import Precedence, going
from bot.requests import answers
from bot.requests.verb import Asker, Request
from bot.roles import mayor
from bot.roles.bot_context import (
    BotContext,
    BotDraft,
    Looks,
    alone,
    quiet_try,
    tried,
    trying,
    usable_configuration,
)
from bot.roles.issue_intake import edited_since
from bot.text import phrase
from bot.text.slash_commands import may_mention
from convoy.config import Due, due
from convoy.config.keys import ScheduleTable
from convoy.events.forge_actions import ItemTakenUp
from convoy.events.hold_events import LAND_LABEL, NO_LABEL, CommentDeleted
from convoy.model import ids
from convoy.model.state import Convoy, State
from convoy.model.work import LOOK_BACK_MS, SKEW_MS
from convoy.text import clean, shortened
from convoy.views.interventions import LabelledIssue

GIVEN_UP: Final = 6
"""A delivery that fails this often is not tried again; what it was stays in the log."""


async def listen(draft: BotDraft, parts: frozenset[str]) -> list[str]:
    """Put all new requests to the rules; return the ids of the handled deliveries.

    Each is handled alone. Safe to cut off anywhere and to call again: decisions are in
    the draft, and in the log once the draft is pushed. Where all parts may have
    changed, what lost deliveries told is looked for, too.
    """
    sweep = parts >= inbox.ALL_PARTS
    waiting = draft.bot.inbox.requests()
    if sweep:
        look = partial(keep_missed_issues, draft.bot, draft.state)
        await tried(draft.bot, ids.item("look", "mentions"), look)
    if sweep or (draft.bot.memory.blocked and "issues" in parts):
        labels = partial(missed_labels, draft.bot)
        found = await tried(draft.bot, ids.item("look", "issues"), labels) or {}
        waiting = draft.bot.inbox.requests() | found
    handled = await _handled(draft, waiting)
    if sweep:
        await tried(draft.bot, ids.item("look", "schedules"), partial(begin_due, draft))
        look = partial(keep_missed_comments, draft.bot, draft.state)
        await tried(draft.bot, ids.item("look", "comments"), look)
        look = partial(answers.keep_missed_reviews, draft.bot, draft.state)
        await tried(draft.bot, ids.item("look", "reviews"), look)
    handled += await _handled(draft, draft.bot.inbox.remarks())
    handled += await _handled(draft, draft.bot.inbox.signs())
    if sweep or "pulls" in parts:
        look = partial(land_labelled, draft)
        await tried(draft.bot, ids.item("look", "merge labels"), look)
    await _look_at_shown(draft, parts)
    if inbox.RIGHTS_PART in parts:
        # What was refused in this tick will hardly be allowed in the next.
        refused = draft.bot.troubles.owed
        for item, aside in [*draft.state.asides()]:
            if aside.rule and item not in refused:
                draft.submit(ItemTakenUp(item=item))
    return handled


async def _look_at_shown(draft: BotDraft, parts: frozenset[str]) -> None:
    """Note which labels and comments of the convoys people have changed."""
    begun = draft.state.convoys.keys() != draft.bot.mirror.state.convoys.keys()
    if begun or parts & {"issues", "pulls"}:
        look = partial(answers.observe_labels, draft)
        await tried(draft.bot, ids.item("look", "labels"), look)
    for convoy in draft.state.live():
        seen = draft.bot.observed.issues.get(convoy.issue)
        if seen is not None and seen.gone:
            continue
        if parts >= inbox.ALL_PARTS:
            look = partial(answers.correct_labels, draft.bot, convoy)
            await tried(draft.bot, ids.item("look", convoy.name, "labels"), look)
        if "shown" in parts:
            look = partial(observe_comment, draft, convoy)
            await tried(draft.bot, ids.item("look", convoy.name, "comment"), look)


def waits(context: BotContext) -> bool:
    state, now = context.mirror.state, context.clock()
    return any(
        state.may_try(ids.item("delivery", delivery), now)
        for delivery in context.inbox.waiting()
    )


async def _handled(draft: BotDraft, waiting: Mapping[str, inbox.Kept]) -> list[str]:
    """Handle each delivery alone; return those done with, also as gone or given up."""
    handled = []
    for delivery, asked in waiting.items():
        item = ids.item("delivery", delivery)
        if not draft.state.may_try(item, draft.now):
            continue
        await asyncio.sleep(0)  # the door answers between two of a thousand
        with alone(draft.bot, item, draft), draft.part(item), going(Precedence.ANSWER):
            try:
                await _handle(draft, delivery, asked)
            except Refused as refused:
                if refused.status != HTTPStatus.GONE:
                    raise
            handled.append(delivery)
            if draft.state.aside_of(item) is not None:
                draft.submit(ItemTakenUp(item=item, works=True))
        aside = draft.state.aside_of(item)
        if aside is not None and aside.tries >= GIVEN_UP:
            handled.append(delivery)
    return handled


async def _handle(draft: BotDraft, delivery: str, asked: inbox.Kept) -> None:
    match asked:
        case inbox.StartRequest():
            await mayor.accept(draft, asked)
        case inbox.Remark():
            await answers.answer_comment(draft, asked)
        case inbox.Review():
            await answers.answer_review(draft, asked)
        case inbox.CheckAction():
            await answers.answer_button(draft, delivery, asked)
        case inbox.Ticked():
            await answers.answer_ticks(draft, delivery, asked)


TITLE_SHOWN: Final = 72


async def missed_labels(context: BotContext) -> dict[str, inbox.StartRequest]:
    """Return the labelled issues of which no delivery reached the bot, by an id."""
    known = {request.issue for request in context.inbox.requests().values()}
    found = {}
    labelled = await context.github.issues(labels=context.settings.label)
    blocked = context.memory.blocked
    context.memory.unread = {
        issue.number: LabelledIssue(
            number=issue.number,
            title=shortened(clean(issue.title), TITLE_SHOWN),
            never=NO_LABEL if NO_LABEL in issue.label_names else "",
            blocked_by=blocked.get(issue.number, ""),
        )
        for issue in labelled
    }
    for number in blocked.keys() - context.memory.unread.keys():
        del blocked[number]
    for issue in labelled:
        if issue.number in known or mayor.busy(context.mirror.state, issue.number):
            continue
        if issue.number in blocked and issue.open_blockers:
            continue  # its list tells that it still waits
        look = partial(_labelled_request, context, issue)
        request = await tried(context, ids.item("issue", issue.number), look)
        if request is not None:
            found[f"sweep-{issue.number}"] = request
    return found


async def _labelled_request(
    context: BotContext, issue: Issue
) -> inbox.StartRequest | None:
    event = await context.github.labelling(issue.number, context.settings.label)
    if event is None or event.actor is None:
        return None
    asks: IssueAsks = "label", event.actor, event.created_at
    return await _start_request(context, issue, asks)


IssueAsks = tuple[inbox.Trigger, Account, datetime | None]
"""How an issue asks, who asked, and when."""


async def _start_request(
    context: BotContext, issue: Issue, asks: IssueAsks
) -> inbox.StartRequest:
    trigger, by, at = asks
    edited = await edited_since(context, issue, at)
    return start_request(issue, trigger, by, edited=edited)


async def land_labelled(draft: BotDraft) -> None:
    """Carry out `/brat land` for whoever set its label, once a labelling."""
    config = usable_configuration(draft.bot)
    for issue in await draft.bot.github.issues(pulls=True, labels=LAND_LABEL):
        if config is None or mayor.busy(draft.state, issue.number):
            continue
        event = await draft.bot.github.labelling(issue.number, LAND_LABEL)
        by = event.actor if event is not None else None
        if event is None or by is None or event.created_at is None:
            continue
        at = round(event.created_at.timestamp())
        if by.type == "Bot" and by.id not in config.trust.bots:
            text = phrase("unlisted-label", bot=by.login, id=by.id)
            draft.say(issue.number, "unlisted", f"{issue.number}/{at}", text)
            continue
        sign = ids.sign_key("merge-label", f"{issue.number}/{at}")
        asker = Asker(by=by.login, number=issue.number, sign=sign, on_pull=True)
        await answers.answer_requests(draft, asker, [Request("land")])


async def keep_missed_comments(context: BotContext, state: State) -> None:
    """Put comments since the last look into the inbox; repeatable."""
    looks = context.memory.comments or Looks(first_look(context, state))
    context.memory.comments = looks
    since = looks.since
    known = {remark.comment for remark in context.inbox.remarks().values()}
    known |= state.answered | {intent.comment for intent in state.intents.values()}
    found = await context.github.remarks_since(since)
    for one in found:
        by_person = one.user is not None and one.user.type != "Bot"
        is_new = one.id not in known and one.id not in looks.seen
        # An edited older comment never holds a request.
        is_new = is_new and one.created_at >= since and one.number > 0
        if by_person and is_new and may_ask(one.body or "", context.login):
            remark = inbox.Remark(
                issue=one.number,
                comment=one.id,
                text=one.body or "",
                by=one.user.login if one.user else "",
                on_pull=one.on_pull,
                node=one.node_id,
                at=one.created_at,
                edited=one.updated_at > one.created_at,
            )
            context.inbox.put(f"sweep-comment-{one.id}", remark)
    looks.note({one.id: one.updated_at for one in found})


def first_look(context: BotContext, state: State) -> datetime:
    """Return when a new process looks from: not before the bot's arrival."""
    now = context.clock()
    if not state.bots:
        return _moment(now - (LOOK_BACK_MS if context.settings.sole else 0))
    begun = [known.requested_at for _, known in state.convoys.summaries()]
    earliest = min(begun, default=state.moment.at)
    return _moment(max(earliest - SKEW_MS, now - LOOK_BACK_MS))


def _moment(ms: int) -> datetime:
    return datetime.fromtimestamp(ms // 1000, UTC)


async def keep_missed_issues(context: BotContext, state: State) -> None:
    """Put issues without a convoy since the last look into the inbox; repeatable."""
    config = usable_configuration(context)
    if config is None or not (config.triggers.mention or config.triggers.assignee):
        return
    triggers = config.triggers
    looks = context.memory.issues or Looks(first_look(context, state))
    context.memory.issues = looks
    known = {request.issue for request in context.inbox.requests().values()}
    known |= {of.issue for _, of in state.convoys.summaries()}
    found = await context.github.issues_since(looks.since)
    for issue in found:
        if issue.number in known or context.settings.label in issue.label_names:
            continue
        request: IssueAsks | None = None
        by, at, is_known = issue.user, issue.created_at, issue.number in looks.seen
        if triggers.mention and by and at and by.login != context.login:
            is_new = not is_known and at >= looks.since
            if is_new and may_mention(issue.body or "", context.login):
                request = "mention", by, at
        if request is None and triggers.assignee:
            request = await _assignment(context, issue, looks)
        if request is not None:
            kept = await _start_request(context, issue, request)
            context.inbox.put(f"sweep-issue-{issue.number}", kept)
    looks.note({issue.number: issue.updated_at for issue in found if issue.updated_at})
    assigned = context.memory.assigned
    context.memory.assigned = {n: at for n, at in assigned.items() if n in looks.seen}


async def _assignment(
    context: BotContext, issue: Issue, looks: Looks
) -> IssueAsks | None:
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


_MADE: Final = "<sub>Opened by the schedule `{name}` in `.brat/config.toml`.</sub>"


async def begin_due(draft: BotDraft) -> None:
    """Start the convoys that are due. Safe to cut off anywhere and to call again."""
    config = usable_configuration(draft.bot)
    if config is None or config.staged:  # opening the issue would be a write
        return
    tables = config.schedule
    hours = {name: table.hours for name, table in tables.items()}
    settings = draft.bot.settings
    window = settings.schedule_window_s * 1000
    for each in due(hours, settings.repository, draft.now, window):
        table, key = tables[each.name], ids.key("schedule", each.name, each.begun)
        still_runs = any(
            one.by == draft.bot.login and one.title == table.title
            for one in draft.state.live()
        )
        if key in draft.bot.memory.shown or still_runs:
            continue
        number = await _opened(draft.bot, key, each, table)
        if all(of.issue != number for _, of in draft.state.convoys.summaries()):
            request = inbox.StartRequest(
                issue=number,
                title=table.title,
                text=table.text,
                by=draft.bot.login,
                trigger="schedule",
            )
            issue = await draft.bot.github.issue(number)
            await mayor.start(draft, request, issue)
        draft.bot.memory.shown[key] = True


async def _opened(
    context: BotContext, key: str, each: Due, table: ScheduleTable
) -> int:
    now = quiet_try(context, key)
    found = await context.github.issue_marked(key, context.login, _moment(each.begun))
    if found is not None:
        return found
    now.repeat()
    await context.hold()
    said = table.text, _MADE.format(name=each.name), ids.marker(key)
    with trying(context, key):
        return await context.github.open_issue(table.title, "\n\n".join(said))


async def observe_comment(draft: BotDraft, convoy: Convoy) -> None:
    """Note it if a live convoy's comment is gone. Safe to call again.

    A look costs one read, and needs no lease. Where the whole issue is gone or moved,
    or the bot may not read it, nobody has deleted the comment.
    """
    number = convoy.comment
    if number is None or convoy.held == NO_LABEL:
        return
    if await draft.bot.github.comment(number) is not None:
        return
    issue = await draft.bot.github.issue(convoy.issue)
    if issue.number == convoy.issue:
        draft.submit(CommentDeleted(convoy=convoy.name, comment=number))
