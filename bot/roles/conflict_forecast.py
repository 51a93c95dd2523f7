"""The refinery merges two works of its queue to see whether they conflict."""

from msgspec.structs import replace

from bot.context.bot_context import BotContext
from bot.repository.compose import Conflicted, Piece
from bot.repository.draft import Draft
from convoy.events.merge_events import ForeseeConflict
from convoy.model.state import Convoy, Task
from convoy.rules.landing import waiting_to_merge


def foresee(
    context: BotContext, draft: Draft, convoy: Convoy, task: Task, piece: Piece
) -> None:
    """Note with which work ahead of it a task's work conflicts; blocking.

    Nothing is noted where only all that is ahead together conflicts with it.

    Args:
        context: the bot's tools.
        draft: takes the note.
        convoy: the task's.
        task: what could not be built on what is ahead of it.
        piece: its work.
    """
    queue = waiting_to_merge(draft.state.convoys[convoy.name])
    numbers = [each.number for each in queue]
    if task.number not in numbers:
        return
    for other in reversed(queue[: numbers.index(task.number)]):
        if other.work is None:
            continue
        context.mirror.ensure([other.work.commit])
        both = replace(piece, onto=other.work.commit)
        made = context.composer.build("squash", both)
        if isinstance(made, Conflicted):
            draft.submit(
                ForeseeConflict(
                    convoy=convoy.name,
                    task=task.number,
                    on=other.number,
                    work=piece.work,
                    other=other.work.commit,
                    paths=made.paths,
                )
            )
            return
