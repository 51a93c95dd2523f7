"""`retry`: tries a blocked task again."""

from typing import Final

from bot.verbs.arguments import ANY_TASK
from bot.verbs.request_context import RequestContext
from bot.verbs.verb import (
    MOST_BOXES,
    Box,
    CheckButton,
    ConvoyEndpoint,
    NotPossible,
    TaskEndpoint,
    Verb,
)
from convoy.events.forge_actions import TakeItemUp
from convoy.gate import unallowed
from convoy.kinds import is_stopped
from convoy.model.ids import task_item
from convoy.model.state import Convoy, asides_of
from convoy.rules.people import RetryConvoy, RetryTask

SET_ASIDE: Final = "What was set aside"
LANDING: Final = "What is to land is shown to CI again."


def _retry(context: RequestContext, *, task: int | None = None) -> str:
    """Retry the given task, else the pull request's own, else all that waits."""
    convoy = context.convoy
    if convoy.state == "failed":
        return _retry_failed(context, task)
    stalled = task is None and bool(convoy.sync.stalled)
    if stalled:
        context.submit(RetryConvoy(convoy=convoy.name, by=context.by))
    aside = _take_up(context, task)
    own = [context.own_task.number] if context.own_task else []
    gate = convoy.settings.gate
    blocked = [
        each.number
        for each in convoy.tasks
        if each.state == "blocked" and not unallowed(each, gate)
    ]
    numbers = [task] if task is not None else own or blocked
    if aside and (task is None or not _is_blocked(convoy, task)):
        numbers = blocked if task is None else []
    if not (numbers or aside or stalled):
        raise NotPossible("nothing is blocked or set aside")
    for number in numbers:
        if task is None and not _is_blocked(context.convoy, number):
            continue  # retrying another task unblocked it
        context.submit(RetryTask(convoy=convoy.name, task=number, by=context.by))
    listed = ", ".join(map(str, numbers))
    queued = f"Task {listed} is queued again, with all its attempts." if numbers else ""
    again = f"{SET_ASIDE} is tried again {aside}." if aside else ""
    landing = LANDING if stalled else ""
    return " ".join(filter(None, (landing, queued, again)))


def _retry_failed(context: RequestContext, task: int | None) -> str:
    """Take up a convoy that failed; say what of it stays dropped, and why."""
    convoy = context.convoy
    if task is not None:
        whole = f"{convoy.name} is failed: `/brat retry` takes all of it up again"
        raise NotPossible(whole)
    context.submit(RetryConvoy(convoy=convoy.name, by=context.by))
    stays = [
        f"Task {each.number} stays dropped: {each.why.rstrip('.')}."
        for each in context.convoy.tasks
        if each.state == "dropped"
    ]
    return " ".join(("The convoy goes on, with the work it had.", *stays))


def _take_up(context: RequestContext, task: int | None) -> str:
    """Take up what the forge refused, of the convoy or of a task; return when.

    A session that never began has given its slot away; empty: nothing was refused.
    """
    state, name = context.draft.state, context.convoy.name
    items = [
        item
        for item, _ in asides_of(state, name)
        if task is None or item == task_item(name, task)
    ]
    for item in items:
        context.submit(TakeItemUp(item=item, by=context.by))
    left = dict(asides_of(context.draft.state, name))
    if any(item in left for item in items):
        return "as soon as a slot is free"
    return "at once" if items else ""


def _is_blocked(convoy: Convoy, number: int) -> bool:
    task = convoy.task(number)
    return task is not None and task.state == "blocked"


def _stopped(convoy: Convoy) -> list[int]:
    if convoy.ended:
        return []
    numbers = [
        task.number
        for task in convoy.tasks
        if (is_stopped(convoy, task) and not unallowed(task, convoy.settings.gate))
        or task.waits_aside
    ]
    return numbers[:MOST_BOXES]


def _may_go_on(convoy: Convoy) -> bool:
    return convoy.waits_aside or convoy.state == "failed" or bool(convoy.sync.stalled)


VERBS: Final = (
    Verb(
        name="retry",
        words=(ANY_TASK,),
        help="Tries a blocked task again with all its attempts, and at once what was "
        "set aside; without a task, everything that waits so here, and a convoy that "
        "failed goes on with its work.",
        rule=_retry,
        box=Box(says="Try task {task} again", offered=_stopped),
        on_check=CheckButton(
            label="Try again",
            says="Queues the task with all its attempts",
            offered=lambda convoy, task: task.number in _stopped(convoy),
        ),
        of_task=TaskEndpoint(
            word="retry",
            typed="task retry",
            help="Queue a blocked task again, with all its attempts.",
            button=lambda task: task.state == "blocked" or task.waits_aside,
        ),
        of_convoy=ConvoyEndpoint(
            word="retry",
            typed="convoy retry",
            help="Try again all that is blocked or set aside in a convoy, or take a "
            "convoy up that failed.",
            button=_may_go_on,
        ),
    ),
)
