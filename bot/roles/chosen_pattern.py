"""Chooses the pattern that plans a convoy, and compiles it at the convoy's base."""

from bot.context.bot_context import BotContext
from bot.repository.draft import Draft
from convoy.events.plan_events import RequestConvoy
from convoy.model.state import Convoy
from convoy.patterns import NO_PATTERN, PatternError
from convoy.patterns.compiling import Compiled, Use, compiled
from convoy.rules.people import FailConvoy
from convoy.rules.plans import PlanConvoy


def chosen(wanted: str, configured: str, *, listed: bool) -> str:
    """Return the pattern that plans an issue; empty: none. Pure.

    The requester's choice comes first. A task list comes before the configured pattern:
    it is a person's plan.

    Args:
        wanted: the pattern that the request names.
        configured: `[mayor] pattern`.
        listed: whether the issue holds a task list.
    """
    if wanted:
        return "" if wanted == NO_PATTERN else wanted
    return "" if listed else configured


def compiled_for(context: BotContext, wanted: RequestConvoy | Convoy) -> Compiled:
    """Return the plan that a pattern makes; deterministic, blocking.

    Raises:
        PatternError: the pattern does not exist, or it or its inputs have faults.
    """
    template = context.commits.template(wanted.base, wanted.pattern)
    use = Use(
        name=wanted.pattern,
        title=wanted.title,
        text=wanted.text,
        inputs=wanted.inputs,
        engines=wanted.settings.workers,
        limit=wanted.settings.tasks,
        require_ci=wanted.settings.require_ci,
    )
    return compiled(template, use)


def plan_by_pattern(context: BotContext, draft: Draft, convoy: Convoy) -> None:
    """Take the pattern's tasks as the convoy's plan, or fail it."""
    try:
        plan = compiled_for(context, convoy)
    except PatternError as error:
        draft.submit(FailConvoy(convoy=convoy.name, why=str(error)))
        return
    refused = draft.submit(
        PlanConvoy(
            convoy=convoy.name,
            planner=f"pattern {convoy.pattern}",
            tasks=plan.tasks,
            warnings=plan.warnings,
            overlaps=context.commits.foreseen(convoy.base, plan.tasks),
            scopes=context.commits.scopes(convoy.base, plan.tasks),
        )
    )
    if refused is not None:
        draft.submit(FailConvoy(convoy=convoy.name, why=refused.why))
