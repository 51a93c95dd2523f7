"""`retry`: tries a blocked task again."""

from typing import Final

from bot.verbs.arguments import ANY_TASK
from bot.verbs.request_context import RequestContext
from bot.verbs.verb import Box, NotPossible, TaskEndpoint, Verb
from convoy.kinds.relations import is_stopped
from convoy.model.state import Convoy
from convoy.rules.stop_task import RetryTask

MOST_BOXES: Final = 20
"""The most boxes shown; a command retries further blocked tasks."""


def _retry(context: RequestContext, *, task: int | None = None) -> str:
    """Retry the given task, else the pull request's own, else all blocked tasks."""
    convoy = context.convoy
    own = [context.own_task.number] if context.own_task else []
    blocked = [each.number for each in convoy.tasks if each.state == "blocked"]
    numbers = [task] if task is not None else own or blocked
    if not numbers:
        raise NotPossible("nothing is blocked")
    for number in numbers:
        if task is None and not _is_blocked(context.convoy, number):
            continue  # retrying another task unblocked it
        context.submit(RetryTask(convoy=convoy.name, task=number, by=context.by))
    listed = ", ".join(map(str, numbers))
    return f"Task {listed} is queued again, with all its attempts."


def _is_blocked(convoy: Convoy, number: int) -> bool:
    task = convoy.task(number)
    return task is not None and task.state == "blocked"


def _stopped(convoy: Convoy) -> list[int]:
    if convoy.ended:
        return []
    numbers = [task.number for task in convoy.tasks if is_stopped(convoy, task)]
    return numbers[:MOST_BOXES]


VERBS: Final = (
    Verb(
        name="retry",
        words=(ANY_TASK,),
        help="Tries a blocked task again with all its attempts; without a task, "
        "everything that is blocked here.",
        rule=_retry,
        box=Box(says="Try task {task} again", offered=_stopped),
        of_task=TaskEndpoint(
            word="retry",
            typed="task retry",
            help="Queue a blocked task again, with all its attempts.",
            button=lambda task: task.state == "blocked",
        ),
    ),
)
