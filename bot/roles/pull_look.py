"""Looks once at the pull requests of what is not settled."""

from collections.abc import Iterator
from functools import partial
from typing import Final

from bot.context.alone import tried
from bot.context.bot_context import BotContext
from bot.forge.payloads import Pull
from convoy.model.ids import look_item, pull_item
from convoy.model.state import State
from convoy.rules.verdict import PullSeen

LIST: Final = look_item("pulls")


async def look(context: BotContext) -> dict[int, PullSeen]:
    """Return the known pull requests; one that the forge does not tell is as before.

    One list shows those changed last; only what it does not show is asked for alone.
    """
    known = frozenset(known_pulls(context.mirror.state))
    if not known:
        return {}
    pulls = context.github.pulls
    listed = await tried(context, LIST, pulls.latest) or {}
    found = {n: seen for n, seen in context.observed.pulls.items() if n in known}
    for number in sorted(known):
        pull = listed.get(number)
        if pull is None:
            pull = await tried(context, pull_item(number), partial(pulls.one, number))
        if pull is not None:
            found[number] = _seen(pull)
    return found


def known_pulls(state: State) -> Iterator[int]:
    """Yield the pull requests of live convoys and of their tasks not settled."""
    for convoy in state.live():
        if convoy.pull is not None:
            yield convoy.pull
        for task in convoy.tasks:
            if task.pull is not None and not task.settled:
                yield task.pull


def _seen(pull: Pull) -> PullSeen:
    merged = pull.merged_at is not None
    return PullSeen(
        number=pull.number,
        open=pull.state == "open",
        merged=merged,
        merge_commit=pull.merge_commit_sha if merged else None,
        head=pull.head.sha,
        base=pull.base.ref,
    )
