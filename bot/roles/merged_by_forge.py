"""The refinery's last step where the forge or a person merges a convoy."""

from bot.context.bot_context import BotContext
from bot.repository.draft import Draft
from bot.roles.part_landing import tasks_in
from convoy.model import ids
from convoy.model.state import Convoy
from convoy.owed import AlignConvoy, AskMerge, TakeLanded, TakePart
from convoy.rules import head_branch
from convoy.rules.landing import JUDGED_BY_NONE, judged_by
from convoy.rules.target import AskForge, NoteLanded, NotePart


def align_convoy(draft: Draft, action: AlignConvoy) -> None:
    """Move the branch of its pull request to its candidate, which contains it."""
    branch = head_branch(draft.state.convoys[action.convoy])
    draft.move(ids.HEADS + branch, action.candidate)


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
    judged = _judged(context, convoy, action.commit)
    draft.submit(NoteLanded(convoy=convoy.name, commit=action.commit, judged=judged))


def take_part(context: BotContext, draft: Draft, action: TakePart) -> None:
    """Note a part that the forge merged, with the tasks that came with it."""
    convoy = draft.state.convoys[action.convoy]
    context.mirror.ensure([action.tip])
    draft.submit(
        NotePart(
            convoy=convoy.name,
            pull=convoy.pull or 0,
            tip=action.tip,
            commit=action.commit,
            tasks=tasks_in(context, convoy, action.tip),
            judged=_judged(context, convoy, action.commit),
        )
    )


def _judged(context: BotContext, convoy: Convoy, commit: str) -> tuple[str, ...]:
    """Return the checks that judged what is on the target as a commit; else none."""
    context.mirror.ensure([commit])
    if not convoy.settings.require_ci:
        return JUDGED_BY_NONE
    current = convoy.candidate.commit if convoy.candidate else ""
    for one in (commit, convoy.asked, current):
        known = context.observed.checks.get(one)
        is_green = known is not None and known.verdict == "green"
        if one and is_green and context.composer.same_tree(one, commit):
            return judged_by(convoy.settings, known)
    return ()
