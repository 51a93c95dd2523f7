"""Finds comments whose delivery was lost, so that they are answered like others.

GitHub repeats no delivery by itself. Answers are announced by their comment's id, so a
comment that a delivery also brings is still answered once.
"""

from datetime import UTC, datetime, timedelta
from typing import Final

from bot.context.bot_context import BotContext
from bot.context.overlapping_looks import Looks
from bot.door.delivery_meaning import may_ask
from bot.door.inbox import Remark
from bot.forge.payloads import Remarked
from bot.repository.draft import Draft
from bot.requests.heard_enough import has_heard_enough
from bot.text.replies import EDITED_COMMENT
from convoy.events.forge_actions import Answer
from convoy.model import ids
from convoy.model.state import State

LOOK_BACK: Final = timedelta(days=3)
"""GitHub can repeat a delivery for as long."""
SKEW: Final = timedelta(minutes=10)
"""How far the forge's clock may differ from the log's."""


async def comments(context: BotContext, state: State) -> None:
    """Put comments since the last look into the inbox, as the door would.

    Safe to cut off anywhere and to call again.

    Args:
        context: the bot's.
        state: holds the comments answered already.

    Raises:
        Unavailable: the forge did not answer.
        Refused: the forge does not show its comments.
    """
    looks = context.memory.comments or Looks(first_look(context, state))
    context.memory.comments = looks
    since = looks.since
    known = {remark.comment for remark in context.inbox.remarks().values()}
    known |= state.answered | {intent.comment for intent in state.intents.values()}
    found = await context.github.remarks_since(since)
    for one in found:
        is_new = one.id not in known and one.id not in looks.seen
        if is_new and _asks(one, since, context.login):
            context.inbox.put(f"sweep-comment-{one.id}", _remark(one))
    looks.note({one.id: one.updated_at for one in found})


def first_look(context: BotContext, state: State) -> datetime:
    """Return when a new process's first look begins: not before the bot's arrival.

    On its own local forge the only bot is there from the beginning.
    """
    now = context.clock()
    if not state.bots:
        return _moment(now) - (LOOK_BACK if context.settings.sole else timedelta())
    begun = [known.requested_at for _, known in state.convoys.summaries()]
    earliest = min(begun, default=state.moment.at)
    return max(_moment(earliest) - SKEW, _moment(now) - LOOK_BACK)


def _moment(ms: int) -> datetime:
    return datetime.fromtimestamp(ms // 1000, UTC)


def _asks(found: Remarked, since: datetime, login: str) -> bool:
    """Whether a comment may hold a request; an edited older comment never does."""
    by_person = found.user is not None and found.user.type != "Bot"
    new = found.created_at >= since and found.number > 0
    return by_person and new and may_ask(found.body or "", login)


def _remark(found: Remarked) -> Remark:
    return Remark(
        issue=found.number,
        comment=found.id,
        text=found.body or "",
        by=found.user.login if found.user else "",
        on_pull=found.on_pull,
        node=found.node_id,
        at=found.created_at,
        edited=found.updated_at > found.created_at,
    )


async def ask_again(context: BotContext, draft: Draft, remark: Remark) -> None:
    """Announce that a comment was not read in time. Safe to call twice."""
    key = ids.answer_key(remark.comment)
    if key in draft.state.intents or remark.comment in draft.state.answered:
        return
    if await has_heard_enough(
        context, draft, by=remark.by, issue=remark.issue, comment=remark.comment
    ):
        return
    draft.submit(
        Answer(
            issue=remark.issue,
            comment=remark.comment,
            reaction="confused",
            text=EDITED_COMMENT.format(by=remark.by),
            by=remark.by,
        )
    )
