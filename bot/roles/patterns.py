"""Which pattern plans a convoy, and its plan: compiled from the commit it starts at."""

from bot.desk import Desk
from bot.repository.draft import Draft
from convoy.commands import FailConvoy, PlanConvoy, RequestConvoy
from convoy.patterns import PatternError
from convoy.patterns.compiling import Compiled, Use, compiled
from convoy.patterns.registry import NONE
from convoy.planner.checklist import checklist
from convoy.state import Convoy
from convoy.text.plaintext import clean


def chosen(wanted: str, configured: str, text: str) -> str:
    """Return the pattern by which an issue is planned; empty: none. Pure.

    What somebody says goes before all. A task list goes before what is configured: it
    is a person's plan.

    Args:
        wanted: what who asks for the convoy says.
        configured: `[mayor] pattern`.
        text: the issue's.
    """
    if wanted:
        return "" if wanted == NONE else wanted
    return "" if checklist(clean(text)).items else configured


def compiled_for(desk: Desk, wanted: RequestConvoy | Convoy) -> Compiled:
    """Return the plan that a pattern makes; the same each time. Blocking.

    Raises:
        PatternError: there is no such pattern, it has faults, or its inputs do.
    """
    template = desk.mirror.template(wanted.base, wanted.pattern)
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


def plan_by_pattern(desk: Desk, draft: Draft, convoy: Convoy) -> None:
    """Take the pattern's tasks as the convoy's plan, or fail it."""
    try:
        plan = compiled_for(desk, convoy)
    except PatternError as error:
        draft.submit(FailConvoy(convoy=convoy.name, why=str(error)))
        return
    refused = draft.submit(
        PlanConvoy(
            convoy=convoy.name,
            planner=f"pattern {convoy.pattern}",
            tasks=plan.tasks,
            warnings=plan.warnings,
            overlaps=desk.mirror.foreseen(convoy.base, plan.tasks),
        )
    )
    if refused is not None:
        draft.submit(FailConvoy(convoy=convoy.name, why=refused.why))
