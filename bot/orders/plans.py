"""What a person asks of a convoy's plan: approve it, add to it, change it."""

from typing import assert_never

from bot.configuration import configuration
from bot.desk import Desk
from bot.orders import replies
from bot.orders.asker import Asker, do
from bot.orders.replies import Reply
from bot.repository.draft import Draft
from bot.speech import requests as asked
from convoy import ids
from convoy.commands import (
    AddTask,
    ApprovePlan,
    AssignTask,
    LinkTask,
    RankConvoy,
    TellTask,
)
from convoy.config import ConfigError
from convoy.planner import tasklist
from convoy.state import Convoy

PlanRequest = asked.Tell | asked.Add | asked.Depends | asked.Engine | asked.Priority


def approve(desk: Desk, draft: Draft, asker: Asker, convoy: Convoy) -> Reply:
    """Let the plan be carried out."""
    try:
        staged = configuration(desk).staged
    except ConfigError as error:
        return replies.refused(f"the configuration has a fault: {error}")
    command = ApprovePlan(convoy=convoy.name, by=asker.by, staged=staged)
    return do(draft, command, replies.PLAN_APPROVED)


def carry_out(
    desk: Desk, draft: Draft, asker: Asker, convoy: Convoy, request: PlanRequest
) -> Reply:
    """Put one request to the rules and return what is to be said of it."""
    by, name = asker.by, convoy.name
    match request:
        case asked.Tell():
            return _tell(desk, draft, asker, convoy, request)
        case asked.Add(text=text):
            return _add(draft, asker, convoy, text)
        case asked.Depends(task=number, on=other):
            link = LinkTask(convoy=name, task=number, on=other, by=by)
            return do(draft, link, replies.linked(number, other))
        case asked.Engine(engine=engine, task=number):
            assign = AssignTask(convoy=name, task=number, engine=engine, by=by)
            return do(draft, assign, replies.assigned(number, engine))
        case asked.Priority(priority=priority):
            rank = RankConvoy(convoy=name, priority=priority, by=by)
            return do(draft, rank, replies.ranked(priority))
        case _:
            assert_never(request)


def _tell(
    desk: Desk, draft: Draft, asker: Asker, convoy: Convoy, request: asked.Tell
) -> Reply:
    """Tell the session that runs, if its engine takes messages, and all later ones."""
    number = request.task
    tell = TellTask(convoy=convoy.name, task=number, by=asker.by, text=request.text)
    task = convoy.task(number)
    if task is None or task.attempt is None:
        return do(draft, tell, replies.told(number, running=False))
    session = ids.session_name(convoy.name, number, task.attempt.number)
    hears = desk.feed is not None and desk.feed.listens(session)
    return do(draft, tell, replies.told(number, running=True, hears=hears))


def _add(draft: Draft, asker: Asker, convoy: Convoy, text: str) -> Reply:
    """Read a task out of the text as out of an issue's task list."""
    known = {task.number: task.state == "merged" for task in convoy.tasks}
    try:
        spec = tasklist.addition(convoy.title, text, known, convoy.settings.workers)
    except tasklist.PlanError as error:
        return replies.refused(str(error))
    add = AddTask(convoy=convoy.name, spec=spec, by=asker.by)
    return do(draft, add, replies.added(spec))
