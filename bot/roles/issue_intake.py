"""Plans an issue by its own text: once to say its faults, once to begin."""

import asyncio

from bot.context.bot_context import BotContext
from bot.roles.chosen_pattern import compiled_for
from bot.text import replies
from convoy.events.plan_events import RequestConvoy
from convoy.model.records import TaskSpec
from convoy.model.state import Convoy
from convoy.model.task_graph import renumbered
from convoy.patterns import PatternError
from convoy.planner import tasklist
from convoy.planner.issue_text import intake
from convoy.planner.tasklist import MOST_TASKS, plan_remarks


async def holds_tasks(context: BotContext, base: str, text: str) -> bool:
    """Whether an issue holds a task list, and not only the boxes of a form.

    Args:
        context: the bot's.
        base: the commit whose issue forms count.
        text: the issue's.
    """
    labels = await asyncio.to_thread(context.commits.box_labels, base)
    return bool(intake(text, labels).work.items)


async def fault(context: BotContext, wanted: RequestConvoy) -> str | None:
    """Return why a convoy could not be planned; None: it can, or an engine plans it."""
    try:
        if wanted.pattern:
            await asyncio.to_thread(compiled_for, context, wanted)
        elif not wanted.settings.planner:
            await asyncio.to_thread(_planned, context, wanted)
    except PatternError as error:
        return str(error)
    except tasklist.PlanError as error:
        return replies.NO_PLAN.format(error=error)
    return None


def by_text(
    context: BotContext, convoy: Convoy
) -> tuple[tuple[TaskSpec, ...], tuple[str, ...]]:
    """Return the tasks that a convoy's issue lists, and what readers are told.

    Raises:
        PlanError: the text has a fault.
    """
    tasks = renumbered(_planned(context, convoy), convoy.numbered)
    labels = context.commits.box_labels(convoy.base)
    settings = convoy.settings
    return tasks, plan_remarks(convoy.text, labels, settings.tasks, settings.workers)


def _planned(context: BotContext, of: RequestConvoy | Convoy) -> tasklist.Plan:
    labels = context.commits.box_labels(of.base)
    engines, wave = of.settings.workers, of.settings.tasks
    quota = context.settings.quota
    most = min(MOST_TASKS, quota.tasks) if quota else MOST_TASKS
    return tasklist.plan(of.title, of.text, engines, wave, labels, most)
