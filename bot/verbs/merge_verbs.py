"""`merge` and `unqueue`: puts a pull request into the merge queue, or takes it out."""

from typing import Final

from bot.verbs.request_context import RequestContext
from bot.verbs.verb import Verb
from convoy.events.merge_holds import RequestMerge, WithdrawMerge
from convoy.events.taken_out_work import OfferAgain


def _merge(context: RequestContext) -> str:
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


def _own_number(context: RequestContext) -> int:
    """Return the task of the pull request commented on; 0: the convoy's own."""
    return context.own_task.number if context.own_task else 0


VERBS: Final = (
    Verb(
        name="merge",
        place="pull",
        right="maintain",
        help="Puts the pull request back into the merge queue; opens another one for "
        "one that was closed.",
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
