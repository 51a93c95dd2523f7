"""Where an answer is given: as a line of the convoy's comment, or as a comment.

An edit notifies nobody, so what somebody has to hear stays a comment: that a request
was refused, and what was asked on a pull request (decision 79).
"""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from bot.context.bot_context import BotContext
from bot.context.configuration import configuration
from bot.repository.draft import Draft
from bot.text import replies
from bot.text.convoy_comment import NO_LABEL
from bot.text.replies import Reply
from bot.verbs.request_context import convoy_of
from convoy.config import ConfigError
from convoy.events.forge_actions import Answer
from convoy.model import ids
from convoy.model.ids import show_item
from convoy.model.state import Convoy

LINE_CHARS: Final = 1_500
"""The longest answer that the convoy's comment shows."""


class Asked(Struct, frozen=True, kw_only=True):
    """Where somebody made requests, and how."""

    by: str
    issue: int
    """The issue or pull request."""
    comment: int = 0
    """The comment with the requests; 0: it was the review, tick or button in `sign`."""
    sign: str = ""
    """See `ids.sign_key`."""
    on_pull: bool = False
    """Whether it was a pull request where people write and read."""


def give(
    context: BotContext, draft: Draft, asked: Asked, given: Sequence[Reply]
) -> None:
    """Announce the one answer to all that somebody said at once. Safe to call twice.

    Args:
        context: the bot's.
        draft: takes the resulting events.
        asked: who asked, and where.
        given: what came of each of the requests.
    """
    convoy = convoy_of(draft.state, asked.issue)
    is_refused = any(reply.why or reply.reaction != "rocket" for reply in given)
    all_wanted = _all_wanted(context)
    line = replies.brief_text(given)
    is_line = (
        not (is_refused or all_wanted)
        and len(line) <= LINE_CHARS
        and not (asked.on_pull and any(reply.asks for reply in given))
        and _is_kept_up(context, draft, convoy)
    )
    called = asked.by if is_refused or all_wanted else ""
    draft.submit(
        Answer(
            issue=asked.issue,
            comment=asked.comment,
            sign=asked.sign,
            reaction=replies.reaction(given) if asked.comment else "",
            text=line if is_line else replies.text(called, given),
            by=asked.by,
            convoy=convoy.name if convoy is not None and is_line else "",
        )
    )


def _all_wanted(context: BotContext) -> bool:
    try:
        return configuration(context).notify.comments == "all"
    except (ConfigError, KeyError):
        return False


def _is_kept_up(context: BotContext, draft: Draft, convoy: Convoy | None) -> bool:
    """Whether the convoy's comment stands, and will be edited after this draft.

    One that had ended before is edited no more; one that ends by it is, once.
    """
    if convoy is None or convoy.held == NO_LABEL or convoy.issue_is == "gone":
        return False
    before = context.mirror.state.convoys.get(convoy.name)
    if convoy.ended and before is not None and before.ended:
        return False
    key = ids.comment_key(convoy.name, convoy.deleted_comments)
    stands = convoy.comment is not None or key in draft.state.intents
    return stands and show_item(convoy.name, "comment") not in draft.state.set_aside
