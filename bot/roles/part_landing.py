"""The refinery lands what is finished of a convoy whose other tasks go on."""

from bot.context.bot_context import BotContext
from bot.repository.draft import Draft
from bot.text import merge_texts
from convoy.model import ids
from convoy.model.state import Convoy
from convoy.owed import DropPart, LandPart, OfferPart
from convoy.owed.last_step import LEFT_QUEUE
from convoy.rules import target as target_rules, unlanded
from convoy.rules.landing import judged_by


def land(context: BotContext, draft: Draft, action: LandPart) -> None:
    """Move the target to what is finished, as CI judged it."""
    convoy = draft.state.convoys[action.convoy]
    target, candidate = ids.HEADS + convoy.target, convoy.candidate
    if candidate is None or draft.refs.get(target) != candidate.base:
        return
    checks = context.observed.checks.get(candidate.commit)
    command = target_rules.LandPart(
        convoy=convoy.name,
        candidate=candidate.commit,
        tasks=tasks_in(context, convoy, candidate.work),
        judged=judged_by(convoy.settings, checks),
    )
    if draft.submit(command) is None:
        draft.move(target, candidate.commit)


def offer(draft: Draft, action: OfferPart) -> None:
    """Show what is finished by a branch of its own, and announce its pull request."""
    command = target_rules.OfferPart(convoy=action.convoy, candidate=action.candidate)
    if draft.submit(command) is None:
        branch = draft.state.convoys[action.convoy].parts.branch
        draft.move(ids.HEADS + branch, action.candidate)


def drop(draft: Draft, action: DropPart) -> None:
    """Note why what is finished cannot land without the rest."""
    said = action.why
    if said != LEFT_QUEUE:
        said = merge_texts.ci_is_red(action.candidate, said)
    draft.submit(
        target_rules.FailPart(
            convoy=action.convoy, candidate=action.candidate, why=said
        )
    )


def tasks_in(context: BotContext, convoy: Convoy, commit: str) -> tuple[int, ...]:
    """Return the tasks whose landed work a commit holds, and no earlier part."""
    return tuple(
        task.number
        for task in unlanded(convoy)
        if task.landed and context.composer.is_ancestor(task.landed, commit)
    )
