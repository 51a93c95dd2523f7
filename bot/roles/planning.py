"""How an engine, or a plugin, is asked for a plan: its session, and what it is told."""

import secrets
from typing import Final

import msgspec
from msgspec.structs import replace

from bot.desk import Desk
from bot.repository.draft import Draft
from convoy.actions import BeginPlan, Split
from convoy.commands import BeginSplit, StartPlanning
from convoy.events import PLANNER, Settings
from convoy.planner import splitting
from convoy.planner.asked import Asked
from convoy.planner.brief import brief
from convoy.planner.strengths import strength, strengths
from convoy.planner.survey import Survey
from convoy.splits import room
from convoy.state import Convoy, State, Task
from convoy.text.fence import fence_of

FOLDERS: Final = 200
"""So many folders a plugin is told of; it has them all before it."""


def begin_plan(desk: Desk, draft: Draft, action: BeginPlan) -> None:
    """Begin the next attempt of task 0, with what it has to know; blocking."""
    convoy = draft.state.convoys[action.convoy]
    survey = desk.mirror.surveyed(convoy.base)
    session, settings = secrets.token_hex(16), convoy.settings
    if settings.planner.startswith(PLANNER):
        told = _asked(draft.state, settings, survey)
    else:
        engines = strengths(draft.state, settings.workers)
        told = brief(survey, engines, settings.tasks, fence_of(session))
    draft.submit(
        StartPlanning(
            convoy=convoy.name,
            brief=told,
            session=session,
            nonce=secrets.token_hex(8),
            now=draft.now,
        )
    )


def split(draft: Draft, action: Split) -> None:
    """Let an engine split what was too much for one agent."""
    draft.submit(BeginSplit(convoy=action.convoy, task=action.task))


def told_to_split(desk: Desk, convoy: Convoy, task: Task, session: str) -> str:
    """Return what a session that splits a task is told of the repository; blocking."""
    survey = desk.mirror.surveyed(convoy.base)
    engines = strengths(desk.mirror.state, convoy.settings.workers)
    whole = convoy.task(task.spec.on[0])
    told = brief(survey, engines, room(convoy), fence_of(session))
    return told + (splitting.brief(whole) if whole is not None else "")


def _asked(state: State, settings: Settings, survey: Survey) -> str:
    """Return what a plugin is told beside the issue, in JSON."""
    tops = [each for each in survey.folders if each[0].count("/") == 1]
    engines = settings.workers.items()
    asked = Asked(
        limit=settings.tasks,
        engines={name: strength(state, engine) for name, engine in engines},
        survey=replace(survey, folders=tuple(tops[:FOLDERS])),
    )
    return msgspec.json.encode(asked).decode()
