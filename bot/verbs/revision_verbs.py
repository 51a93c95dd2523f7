"""`revise` and `rebase`: change the work in a task's pull request."""

import asyncio
from collections.abc import Sequence
from typing import Final

from bot.text.visible_text import code_span
from bot.verbs.request_context import RequestContext
from bot.verbs.verb import ConvoyEndpoint, NotPossible, Verb
from convoy.model import ids
from convoy.model.state import Convoy, Task
from convoy.model.work import Work
from convoy.rules.people import RebaseWork, ReviseTask
from convoy.rules.plan_changes import ReplanConvoy

NO_WORK: Final = "this is not the pull request of a task with work in it"


def _revise(context: RequestContext, *, text: str) -> str:
    """Send the task back with the text; its next attempt goes on from its work."""
    convoy, task = context.convoy, context.own_task
    if task is None and context.asker.number not in (0, convoy.issue):
        raise NotPossible(NO_WORK)
    if task is None:
        context.submit(ReplanConvoy(convoy=convoy.name, by=context.by, text=text))
        return "It is planned again; the new plan will show what changed."
    context.submit(
        ReviseTask(convoy=convoy.name, task=task.number, by=context.by, text=text)
    )
    _keep(context, convoy, task)
    if task.spent >= convoy.settings.attempts:
        return (
            f"Task {task.number} has spent its attempts and waits for a person; "
            f"`/brat retry {task.number}` lets it go on with what you said."
        )
    return f"Task {task.number} goes on from its work with what you said."


async def _rebase(context: RequestContext) -> str:
    convoy, task = context.convoy, context.own_task
    if task is None or task.work is None:
        raise NotPossible(NO_WORK)
    return await asyncio.to_thread(_rebase_now, context, convoy, task, task.work)


def _rebase_now(context: RequestContext, convoy: Convoy, task: Task, work: Work) -> str:
    """Rebase the work onto the convoy's branch and move the task's branch; blocking."""
    from bot.repository.compose import Conflicted, Piece

    bot, draft = context.bot, context.draft
    onto = draft.refs.get(ids.HEADS + ids.base_branch(convoy.name), work.base)
    bot.mirror.ensure([work.commit, work.base, onto])
    branch = ids.task_branch(convoy.name, task.number)
    piece = Piece(
        base=work.base,
        work=work.commit,
        onto=onto,
        message=f"{task.spec.title}\n\nBrat-Task: {branch}\n",
        at=work.at,
    )
    made = bot.composer.build("rebase", piece)
    if isinstance(made, Conflicted):
        raise NotPossible(_conflicts(made.paths))
    context.submit(
        RebaseWork(
            convoy=convoy.name,
            task=task.number,
            old=work.commit,
            commit=made,
            base=onto,
            by=context.by,
        )
    )
    _keep(context, convoy, task)
    draft.move(ids.HEADS + branch, made)
    more = " It has to be approved anew." if convoy.settings.approvals else ""
    return f"The work stands on what has landed, as `{made[:10]}`.{more}"


def _conflicts(paths: Sequence[str]) -> str:
    named = ", ".join(code_span(path) for path in paths[:5])
    return f"the work conflicts with what has landed, in {named}"


def _keep(context: RequestContext, convoy: Convoy, task: Task) -> None:
    """Keep the work that is being replaced: no work is ever lost."""
    if task.work is not None:
        work = task.work
        context.draft.keep(convoy.name, task.number, work.attempt, work.commit)


VERBS: Final = (
    Verb(
        name="revise",
        text="must",
        text_help="What is wrong with the plan.",
        help="On a task's pull request, sends the task back, to go on from its work "
        "and do as the text says; a review that asks for changes does the same. On "
        "the issue, lets the engine that planned make another plan, as long as the "
        "plan waits for approval.",
        rule=_revise,
        of_convoy=ConvoyEndpoint(
            word="revise",
            typed="convoy revise",
            help="Have another plan made, as the text says.",
        ),
    ),
    Verb(
        name="rebase",
        place="pull",
        help="Puts the task's work on top of what has landed since.",
        rule=_rebase,
    ),
)
