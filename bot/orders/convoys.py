"""What a person asks of a convoy that runs: where it stands, and how it goes on."""

from bot.orders import replies
from bot.orders.asker import Asker, do
from bot.orders.replies import Reply
from bot.repository.draft import Draft
from bot.speech import requests as asked
from bot.speech.requests import Request
from convoy.commands import (
    BlockTask,
    DropTask,
    FailConvoy,
    PauseConvoy,
    ResumeConvoy,
    RetryTask,
)
from convoy.state import Convoy


def carry_out(draft: Draft, asker: Asker, convoy: Convoy, request: Request) -> Reply:
    """Put one request to the rules and return what is to be said of it."""
    by, name = asker.by, convoy.name
    match request:
        case asked.Pause():
            return do(draft, PauseConvoy(convoy=name, by=by), replies.PAUSED)
        case asked.Resume():
            return do(draft, ResumeConvoy(convoy=name, by=by), replies.RESUMED)
        case asked.Cancel(task=number):
            return _cancel(draft, asker, convoy, number)
        case asked.Drop(task=number):
            drop = DropTask(convoy=name, task=number, why=f"dropped by {by}")
            return do(draft, drop, replies.dropped(number))
        case asked.Retry(task=number):
            return _retry(draft, asker, convoy, number)
        case asked.Why(task=number):
            return replies.why(convoy, number)
        case asked.Cost():
            return replies.cost(convoy, draft.now)
        case _:
            return replies.status(convoy)


def _cancel(draft: Draft, asker: Asker, convoy: Convoy, number: int | None) -> Reply:
    """Stop one task until somebody says how it goes on, or end all of it."""
    why = f"cancelled by {asker.by}"
    if number is None:
        gone = FailConvoy(convoy=convoy.name, why=why, by=asker.by)
        return do(draft, gone, replies.CANCELLED)
    stop = BlockTask(convoy=convoy.name, task=number, why=why, by=asker.by)
    return do(draft, stop, replies.stopped(number))


def _retry(draft: Draft, asker: Asker, convoy: Convoy, number: int | None) -> Reply:
    """Retry one task, the pull request's own, or all that is blocked."""
    own = [task.number for task in convoy.tasks if task.pull == asker.number]
    blocked = [task.number for task in convoy.tasks if task.state == "blocked"]
    numbers = [number] if number is not None else own or blocked
    if not numbers:
        return replies.refused("nothing is blocked")
    for each in numbers:
        if number is None and not _is_blocked(draft, convoy.name, each):
            continue  # it went on with another
        command = RetryTask(convoy=convoy.name, task=each, by=asker.by)
        if refused := draft.submit(command):
            return replies.refused(refused.why)
    return replies.retried(numbers)


def _is_blocked(draft: Draft, name: str, number: int) -> bool:
    task = draft.state.convoys[name].task(number)
    return task is not None and task.state == "blocked"
