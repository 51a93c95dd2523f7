"""`cancel` and `drop`: stops a session, gives up a task, ends a convoy."""

from typing import Final

from bot.verbs.arguments import ANY_TASK, TASK
from bot.verbs.request_context import RequestContext
from bot.verbs.reshaping_verbs import changed
from bot.verbs.verb import (
    Box,
    CheckButton,
    ConvoyEndpoint,
    NotPossible,
    Request,
    TaskEndpoint,
    Verb,
)
from convoy.model.state import Convoy
from convoy.rules.people import BlockTask, DropTask, FailConvoy


def _cancel(context: RequestContext, *, task: int | None = None) -> str:
    """Stop one task until a person decides how to go on, or end the whole convoy."""
    name, by = context.convoy.name, context.by
    if task is None:
        context.submit(FailConvoy(convoy=name, why=f"cancelled by {by}", by=by))
        return "The convoy is cancelled; what is done is kept."
    word = "stopped" if context.asker.at_endpoint else "cancelled"
    context.submit(BlockTask(convoy=name, task=task, why=f"{word} by {by}", by=by))
    return (
        f"What runs for task {task} is stopped. `/brat retry {task}` tries it "
        f"again, `/brat drop {task}` gives it up."
    )


def _drop(context: RequestContext, *, task: int) -> str:
    before, by = context.convoy, context.by
    drop = DropTask(convoy=before.name, task=task, why=f"dropped by {by}", by=by)
    context.submit(drop)
    is_plan = before.state == "planning"
    return f"Task {task} is dropped.{changed(context, before) if is_plan else ''}"


def _require_session(convoy: Convoy, request: Request) -> None:
    number = request.arguments["task"]
    task = convoy.task(number)
    if task is None or task.attempt is None:
        raise NotPossible(f"task {number} of {convoy.name} has no session that runs")


def _has_end(convoy: Convoy) -> bool:
    return convoy.state in ("planning", "active", "paused")


VERBS: Final = (
    Verb(
        name="cancel",
        words=(ANY_TASK,),
        help="Stops what runs for a task, which then waits for a person; without a "
        "task, ends the whole convoy.",
        rule=_cancel,
        box=Box(
            says="Cancel the convoy",
            offered=lambda convoy: () if convoy.ended else (0,),
        ),
        of_task=TaskEndpoint(
            word="stop",
            typed="session stop",
            help="Stop a task's session; the task waits for you: task retry, or task "
            "drop.",
            button=lambda task: task.state != "blocked" and task.attempt is not None,
            check=_require_session,
        ),
        of_convoy=ConvoyEndpoint(
            word="cancel",
            typed="convoy cancel",
            help="End a convoy; what is done is kept.",
            button=_has_end,
        ),
    ),
    Verb(
        name="drop",
        words=(TASK,),
        help="Gives a task up for good; what waits for it then waits for a person.",
        rule=_drop,
        on_check=CheckButton(
            label="Give up",
            says="Drops the task for good",
            offered=lambda _, task: task.state == "blocked",
        ),
        of_task=TaskEndpoint(
            word="drop",
            typed="task drop",
            help="Give a task up; what needs it waits for you.",
            button=lambda task: task.state == "blocked" or not task.settled,
        ),
    ),
)
