"""The refinery lets CI judge work by itself: tests before their code, and rivals."""

from bot.context.bot_context import BotContext
from bot.repository.draft import Draft
from convoy.model import ids
from convoy.owed.actions import Choose, Prove, Try
from convoy.readiness.landing import judged_by
from convoy.rules.make_choice import MakeChoice
from convoy.rules.merge_work import AttemptMerge, ProveWork


def try_out(draft: Draft, action: Try) -> None:
    """Show unmerged work to CI: tests before their code exists, or a rival's work."""
    convoy = draft.state.convoys[action.convoy]
    task = convoy.task(action.task)
    if task is None or task.work is None:
        return
    commit, branch = task.work.commit, ids.base_branch(convoy.name)
    attempted = AttemptMerge(
        convoy=convoy.name,
        task=task.number,
        candidate=commit,
        base=task.work.base,
        work=commit,
    )
    if draft.submit(attempted) is None:
        draft.move(ids.HEADS + ids.queue_branch(branch, commit), commit)


def prove(context: BotContext, draft: Draft, action: Prove) -> None:
    """Note that CI found the tests red, or a rival's work green."""
    checks = context.observed.checks.get(action.candidate)
    convoy = draft.state.convoys[action.convoy]
    task = convoy.task(action.task)
    if task is None or task.work is None:
        return
    draft.submit(
        ProveWork(
            convoy=convoy.name,
            task=task.number,
            commit=action.candidate,
            judged=judged_by(convoy.settings, checks),
            lines=context.commits.lines(task.work.base, task.work.commit),
        )
    )


def choose(draft: Draft, action: Choose) -> None:
    """Choose the only remaining rival."""
    draft.submit(MakeChoice(convoy=action.convoy, task=action.task))
