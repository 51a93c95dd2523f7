"""Work that cannot land goes back to its agent, and none of it is lost."""

from typing import Final

from bot.repository.compose import Conflicted
from bot.repository.draft import Draft
from bot.text import merge_texts
from convoy.model.state import Convoy
from convoy.rules.landing import FailMerge

LISTED_FILES: Final = 100
"""The most conflicting files that an event lists."""


def conflicting(draft: Draft, convoy: Convoy, task: int, made: Conflicted) -> None:
    """Send a task back whose work conflicts with what has landed."""
    what = "what has landed meanwhile"
    send_back(
        draft,
        FailMerge(
            convoy=convoy.name,
            task=task,
            candidate=None,
            cause="conflict",
            why=merge_texts.conflicts(what, made.paths),
            paths=made.paths[:LISTED_FILES],
        ),
    )


def send_back(draft: Draft, command: FailMerge) -> None:
    """Fail a merge; keep the work, because the next attempt reuses its branch."""
    task = draft.state.convoys[command.convoy].task(command.task)
    work = task.work if task else None
    if draft.submit(command) is None and work is not None:
        draft.keep(command.convoy, command.task, work.attempt, work.commit)
