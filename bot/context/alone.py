"""Handles one item alone: its failure is noted, and everything else goes on."""

import logging
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Final, TypeVar

from bot.context.bot_context import BotContext
from bot.context.item_failures import of_all
from bot.forge.pace import OverShare
from bot.repository.draft import Draft, NotAdmitted
from convoy.model.state import may_try
from grite.errors import BratError

Found = TypeVar("Found")
_log: Final = logging.getLogger(__name__)


@contextmanager
def alone(context: BotContext, item: str, draft: Draft | None = None) -> Iterator[None]:
    """Keep what goes wrong in the block to its item.

    Args:
        context: the bot's; its memory keeps what the log is to be told.
        item: what the block handles.
        draft: takes what the log is to be told, if it can be told in this push.

    Raises:
        Conflict: somebody else wrote first; this and other failures that concern every
            item (the lease, the forge's limits) go on to the caller.
    """
    try:
        yield
    except NotAdmitted:
        return
    except OverShare as wait:
        context.memory.failures.wait(item)  # what people wait for goes on
        context.troubles[item] = str(wait)
    except Exception as error:
        if of_all(error):
            raise
        note_failure(context, item, error)
    else:
        context.troubles.pop(item, None)
        context.memory.failures.passed(item)
        if draft is None:
            context.memory.failures.worked(item, context.mirror.state)
    if draft is not None:
        draft.tell(context.memory.failures.owed, item)


def note_failure(context: BotContext, item: str, error: Exception) -> None:
    """Note what went wrong in an item's step; safe to call again."""
    if not isinstance(error, BratError):
        _log.exception("%s: a fault of ours", item)
    failures = context.memory.failures
    failures.note(item, error, context.github.answers, context.clock())
    if item in failures.owed:
        context.troubles.pop(item, None)  # the log tells of it from now on
    else:
        context.troubles[item] = str(error) or repr(error)


async def tried(
    context: BotContext, item: str, step: Callable[[], Awaitable[Found]]
) -> Found | None:
    """Return what a step found; None: it failed, or its item is set aside."""
    found = None
    if may_try(context.mirror.state, item, context.clock()):
        with alone(context, item):
            found = await step()
    return found
