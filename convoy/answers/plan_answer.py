"""The plan as an answer: how an engine, or a plugin, is asked for a convoy's tasks."""

from typing import Final

import msgspec
from msgspec.structs import replace

from convoy.answers.answering import Answering, Question, Reply, Taken
from convoy.kinds.plan_kind import KIND
from convoy.model.records import PLANNER
from convoy.planner.answer import House, read
from convoy.planner.asked import Asked, planned_by
from convoy.planner.brief import brief
from convoy.planner.edges import beside
from convoy.planner.strengths import strength, strengths
from convoy.rules.take_plan import PlanConvoy
from convoy.text.fence import fence_of

FOLDERS: Final = 200
"""So many folders a plugin is told of; it has them all before it."""
NONE: Final = "it gave no plan"


def _told(question: Question) -> str:
    settings = question.convoy.settings
    if settings.planner.startswith(PLANNER):
        return _asked(question)
    survey = question.repository.surveyed(question.convoy.base)
    engines = strengths(question.state, settings.workers)
    return brief(survey, engines, settings.tasks, fence_of(question.session))


def _asked(question: Question) -> str:
    """Return what a plugin is told beside the issue, in JSON."""
    settings = question.convoy.settings
    survey = question.repository.surveyed(question.convoy.base)
    tops = [each for each in survey.folders if each[0].count("/") == 1]
    engines = settings.workers.items()
    asked = Asked(
        limit=settings.tasks,
        engines={name: strength(question.state, engine) for name, engine in engines},
        survey=replace(survey, folders=tuple(tops[:FOLDERS])),
    )
    return msgspec.json.encode(asked).decode()


def _read(reply: Reply) -> Taken:
    convoy, repository = reply.convoy, reply.repository
    house = House(
        files=repository.files(convoy.base),
        engines=convoy.settings.workers,
        limit=convoy.settings.tasks,
        text=repository.text(convoy.base),
    )
    tasks = read(reply.text, house, convoy.next_number)
    return Taken(
        command=PlanConvoy(
            convoy=convoy.name,
            planner=planned_by(convoy.settings.planner),
            tasks=tasks,
            attempt=reply.attempt.number,
            usage=reply.usage,
            overlaps=repository.foreseen(convoy.base, tasks),
            scopes=repository.scopes(convoy.base, tasks),
            warnings=beside(tasks, house.ground),
        )
    )


PLAN_ANSWER = Answering(kind=KIND, none=NONE, told=_told, read=_read)
