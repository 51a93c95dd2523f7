"""Comments that no delivery told of: looked up, kept, and answered like the others.

GitHub sends nothing twice by itself. An answer is announced by its comment's id, so
that one which a delivery told of, too, is answered once.
"""

from datetime import UTC, datetime, timedelta
from typing import Final

from bot.desk import Desk
from bot.door.inbox import Remark
from bot.door.triage import may_ask
from bot.forge.payloads import Remarked
from bot.repository.draft import Draft
from convoy import ids
from convoy.commands import Answer
from convoy.state import State

LOOK_BACK: Final = timedelta(days=3)
"""As far back as GitHub itself can send a delivery again."""
SKEW: Final = timedelta(minutes=10)
"""What the forge's clock may differ by from that of the log."""
EDITED: Final = (
    "@{by} This comment was edited before it was read, so nothing was done: say it "
    "again in a new comment."
)


async def comments(desk: Desk, state: State) -> None:
    """Keep in the inbox what was said since the last look, as the door would.

    Safe to cut off anywhere and to call again.

    Args:
        desk: of the bot.
        state: says what is answered already.

    Raises:
        Unavailable: the forge did not answer.
        Refused: it does not show its comments.
    """
    newest = since = desk.heard_until or _first(desk, state)
    known = {remark.comment for remark in desk.inbox.remarks().values()}
    known |= state.answered | {intent.comment for intent in state.intents.values()}
    for found in await desk.github.remarks_since(since):
        if found.id not in known and _asks(found, since, desk.login):
            desk.inbox.put(f"sweep-comment-{found.id}", _remark(found))
        newest = max(newest, found.updated_at)
    desk.heard_until = newest


def _first(desk: Desk, state: State) -> datetime:
    """Return from when on a new process looks: nothing from before the bot was here."""
    now = desk.clock()
    if not state.bots:
        return _moment(now)
    begun = [convoy.requested_at for convoy in state.convoys.values()]
    earliest = min(begun, default=state.moment.at)
    return max(_moment(earliest) - SKEW, _moment(now) - LOOK_BACK)


def _moment(ms: int) -> datetime:
    return datetime.fromtimestamp(ms // 1000, UTC)


def _asks(found: Remarked, since: datetime, login: str) -> bool:
    """Whether it may ask for something; an edit of an older comment never does."""
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
        at=found.created_at,
        edited=found.updated_at > found.created_at,
    )


def ask_again(draft: Draft, remark: Remark) -> None:
    """Announce that a comment was not read in time. Safe to call twice."""
    key = ids.answer_key(remark.comment)
    if key in draft.state.intents or remark.comment in draft.state.answered:
        return
    draft.submit(
        Answer(
            issue=remark.issue,
            comment=remark.comment,
            reaction="confused",
            text=EDITED.format(by=remark.by),
        )
    )
