"""`merge` and `unqueue`: puts a pull request into the merge queue, or takes it out."""

from typing import Final

from bot.verbs import arguments as args
from bot.verbs.arguments import ANY_TASK, TASK, Argument
from bot.verbs.request_context import RequestContext
from bot.verbs.reshaping_verbs import join
from bot.verbs.verb import NotPossible, Verb
from convoy.events.hold_events import OfferAgain, RequestMerge, WithdrawMerge


def _merge(
    context: RequestContext, *, task: int | None = None, other: int | None = None
) -> str:
    """Put the pull request back into its queue, or join two tasks of the plan."""
    if task is not None and other is not None:
        return join(context, task, other)
    if task is not None or not _on_pull(context):
        raise NotPossible(
            "say it on a pull request, or name two tasks of the plan to be joined"
        )
    name, number = context.convoy.name, _own_number(context)
    out = (context.own_task or context.convoy).taken_out
    if out is not None and out.gesture == "closed":
        context.submit(OfferAgain(convoy=name, task=number, by=context.by))
        return f"Another pull request is opened in place of #{out.pull}."
    context.submit(RequestMerge(convoy=name, task=number, by=context.by))
    return "It is in the merge queue again."


def _unqueue(context: RequestContext) -> str:
    name, number = context.convoy.name, _own_number(context)
    context.submit(WithdrawMerge(convoy=name, task=number, by=context.by))
    return "It is out of the merge queue, until somebody says `/brat merge`."


def _on_pull(context: RequestContext) -> bool:
    number = context.asker.number
    return context.own_task is not None or number == context.convoy.pull


def _own_number(context: RequestContext) -> int:
    """Return the task of the pull request commented on; 0: the convoy's own."""
    return context.own_task.number if context.own_task else 0


VERBS: Final = (
    Verb(
        name="merge",
        right="maintain",
        words=(
            ANY_TASK,
            Argument(
                name="other",
                read=args.task,
                form="<task>",
                needed=False,
                write=TASK.write,
            ),
        ),
        help="Puts the pull request back into the merge queue; opens another one for "
        "one that was closed. With two tasks the first does both, if neither has "
        "begun.",
        rule=_merge,
    ),
    Verb(
        name="unqueue",
        place="pull",
        right="maintain",
        help="Takes the pull request out of the merge queue, until `merge`.",
        rule=_unqueue,
    ),
)
