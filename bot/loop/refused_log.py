"""Says on one issue that the forge refuses the log, which cannot hold it itself."""

from datetime import UTC, datetime

from bot.context.bot_context import BotContext
from bot.forge.refusals import refusal_of_push
from bot.loop.refused_parts import LogRefused
from bot.text.convoy_comment import with_box_note
from bot.text.notices import log_refused
from bot.verbs.request_context import convoy_of
from convoy.model import ids


async def tell(context: BotContext, refused: LogRefused) -> None:
    """Comment on an issue that waits, once a day; safe to call again.

    The comment is found again by its marker, so that another process writes none.

    Raises:
        Unavailable: the forge did not answer.
        Refused: the forge does not take the comment either.
    """
    day = datetime.fromtimestamp(context.clock() / 1000, UTC)
    key = f"log-refused/{day:%Y-%m-%d}"
    issue = _waiting(context)
    if issue is None or key in context.memory.shown:
        return
    if await context.github.said(issue, key, context.login) is None:
        why = refusal_of_push(refused.answer.said, "refs/grite/wal")
        convoy = convoy_of(context.mirror.state, issue)
        text = with_box_note(log_refused(why.why, why.helps), convoy)
        await context.github.say(issue, f"{ids.marker(key)}\n{text}")
    context.memory.shown[key] = issue


def _waiting(context: BotContext) -> int | None:
    """Return the issue that asked last, else the newest convoy's; None: none waits."""
    asked = [each.issue for each in context.inbox.requests().values()]
    asked += [each.issue for each in context.inbox.remarks().values()]
    live = [convoy.issue for convoy in context.mirror.state.live()]
    return next(reversed(asked or live), None)
