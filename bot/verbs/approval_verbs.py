"""`approve`: lets a plan be carried out, or work be merged."""

from typing import Final

from bot.verbs import arguments as args
from bot.verbs.arguments import Argument
from bot.verbs.request_context import RequestContext
from bot.verbs.revision_verbs import NO_WORK
from bot.verbs.verb import Box, CheckButton, ConvoyEndpoint, NotPossible, Verb
from convoy.events.people_events import ApprovePlan, ApproveWork
from convoy.model.state import Convoy, Task
from convoy.rules.turns import lacking_approvals


def _approve(context: RequestContext, *, commit: str | None = None) -> str:
    """Approve the work of the pull request commented on, or else the plan."""
    convoy = context.convoy
    number = context.asker.number
    if number and number in (convoy.pull, *(task.pull for task in convoy.tasks)):
        return _approve_work(context, convoy, commit)
    if commit is not None:
        raise NotPossible("say it on the pull request whose work it is")
    return _approve_plan(context, convoy)


def _approve_plan(context: RequestContext, convoy: Convoy) -> str:
    from bot.context.configuration import configuration
    from convoy.config import ConfigError

    try:
        staged = configuration(context.bot).staged
    except ConfigError as error:
        raise NotPossible(f"the configuration has a fault: {error}") from error
    context.submit(
        ApprovePlan(
            convoy=convoy.name, by=context.by, comment=_comment(context), staged=staged
        )
    )
    return "The plan is approved: the first tasks start."


def _approve_work(context: RequestContext, convoy: Convoy, commit: str | None) -> str:
    """Count an approval of exactly the named commit."""
    task = context.own_task
    if task is None:
        raise NotPossible(NO_WORK)
    if commit is None:
        raise NotPossible(_name_the_commit(task))
    asker = context.asker
    context.submit(
        ApproveWork(
            convoy=convoy.name,
            task=task.number,
            commit=commit,
            by=context.by,
            review=asker.review,
            comment=_comment(context),
        )
    )
    if lacks := lacking_approvals(context.convoy, context.own_task or task):
        return f"Approved; it still needs {lacks}."
    return "Approved: it merges when it is green."


def _comment(context: RequestContext) -> int:
    """Return the comment that asks; 0: it was a review, a box or a button."""
    asker = context.asker
    if asker.remark is None or asker.review:
        return 0
    return asker.remark.comment


def _name_the_commit(task: Task) -> str:
    if task.work is None:
        return NO_WORK
    head = task.work.commit[:10]
    return f"say which commit you have looked at; the work is `/brat approve {head}`"


def _has_plan(convoy: Convoy) -> bool:
    return convoy.state == "planning" and bool(convoy.tasks)


VERBS: Final = (
    Verb(
        name="approve",
        words=(Argument(name="commit", read=args.sha, form="<commit>", needed=False),),
        help="Lets a plan that waits be carried out; on a pull request, approves the "
        "work at exactly this commit.",
        rule=_approve,
        box=Box(
            says="Approve the plan",
            offered=lambda c: (0,) if _has_plan(c) and not c.staged else (),
        ),
        on_check=CheckButton(
            label="Approve",
            says="Approves the work of this commit",
            offered=lambda convoy, task: bool(
                task.work and lacking_approvals(convoy, task)
            ),
            of_commit=True,
        ),
        of_convoy=ConvoyEndpoint(
            word="approve",
            typed="convoy approve",
            help="Let a plan that waits for a person be carried out.",
            button=_has_plan,
        ),
    ),
)
