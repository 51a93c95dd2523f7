"""The refinery's last step where the forge or a person merges a convoy."""

from bot.context.bot_context import BotContext
from bot.repository.draft import Draft
from convoy.model import ids
from convoy.owed.actions import AlignConvoy, AskMerge, TakeLanded
from convoy.readiness.landing import UNJUDGED, judged_by
from convoy.rules.land_by_forge import AskForge, NoteLanded


def align_convoy(draft: Draft, action: AlignConvoy) -> None:
    """Move the convoy's branch to its candidate, which contains it."""
    branch = ids.HEADS + ids.base_branch(action.convoy)
    draft.move(branch, action.candidate)


def ask_merge(context: BotContext, draft: Draft, action: AskMerge) -> None:
    """Announce that the forge is to merge the candidate, as CI judged it."""
    checks = context.observed.checks.get(action.candidate)
    convoy = draft.state.convoys[action.convoy]
    judged = judged_by(convoy.settings, checks)
    draft.submit(
        AskForge(convoy=convoy.name, candidate=action.candidate, judged=judged)
    )


def take_landed(context: BotContext, draft: Draft, action: TakeLanded) -> None:
    """Complete a convoy that the forge merged, and note whether CI judged that.

    It did if it judged the very commit, as for a merge queue, or one with its tree.
    """
    convoy = draft.state.convoys[action.convoy]
    context.mirror.ensure([action.commit])
    current = convoy.candidate.commit if convoy.candidate else ""
    checks = context.observed.checks
    judged: tuple[str, ...] = ()
    for commit in (action.commit, convoy.asked, current):
        known = checks.get(commit)
        is_green = known is not None and known.verdict == "green"
        if commit and is_green and context.composer.same_tree(commit, action.commit):
            judged = judged_by(convoy.settings, known)
            break
    if not convoy.settings.require_ci:
        judged = UNJUDGED
    draft.submit(NoteLanded(convoy=convoy.name, commit=action.commit, judged=judged))
