"""The refinery lets CI judge work by itself: tests before their code, and rivals."""

from bot.context.bot_context import BotContext
from bot.repository.compose import Conflicted
from bot.repository.draft import Draft
from bot.roles.refinery import piece_of
from convoy.model import ids
from convoy.owed import Choose, Prove, Try
from convoy.rules.ending import MakeChoice
from convoy.rules.landing import AttemptMerge, ProveWork, judged_by


def try_out(context: BotContext, draft: Draft, action: Try) -> None:
    """Show unmerged work to CI: tests before their code exists, or a rival's work.

    Where CI ended without a verdict, the same files are shown as another commit.
    """
    convoy = draft.state.convoys[action.convoy]
    task = convoy.task(action.task)
    if task is None or task.work is None:
        return
    work, branch = task.work, ids.base_branch(convoy.name)
    made: str | Conflicted = work.commit
    if task.doubted is not None:
        context.mirror.ensure([work.commit, work.base])
        piece = piece_of(convoy, task, work, work.base)
        made = context.composer.build("squash", piece)
    if isinstance(made, Conflicted):
        return  # nothing conflicts with what it stands on
    attempted = AttemptMerge(
        convoy=convoy.name,
        task=task.number,
        candidate=made,
        base=work.base,
        work=work.commit,
    )
    if draft.submit(attempted) is None:
        draft.move(ids.HEADS + ids.queue_branch(branch, made), made)


def prove(context: BotContext, draft: Draft, action: Prove) -> None:
    """Note that CI found the tests red, or a rival's work green."""
    convoy = draft.state.convoys[action.convoy]
    task = convoy.task(action.task)
    if task is None or task.work is None:
        return
    shown = task.candidate.commit if task.candidate else ""
    checks = context.observed.checks.get(shown)
    draft.submit(
        ProveWork(
            convoy=convoy.name,
            task=task.number,
            commit=action.work,
            judged=judged_by(convoy.settings, checks),
            lines=context.commits.lines(task.work.base, task.work.commit),
        )
    )


def choose(draft: Draft, action: Choose) -> None:
    """Choose the only remaining rival."""
    draft.submit(MakeChoice(convoy=action.convoy, task=action.task))
