"""`land`: lets what is finished of a convoy land while its other tasks go on."""

from typing import Final

from bot.verbs.arguments import Argument
from bot.verbs.request_context import RequestContext
from bot.verbs.verb import ConvoyEndpoint, Verb
from convoy.events.target_events import Wanted
from convoy.model.state import Convoy
from convoy.rules import unlanded
from convoy.rules.target import RequestPart
from convoy.text import counted

_HOW: Final[dict[str, Wanted]] = {"parts": "parts", "whole": "whole"}


def _extent(word: str) -> Wanted:
    """Read `parts` or `whole`."""
    if word.lower() in _HOW:
        return _HOW[word.lower()]
    raise ValueError("is neither `parts` nor `whole`")


def _land(context: RequestContext, *, how: Wanted = "once") -> str:
    convoy = context.convoy
    context.submit(RequestPart(convoy=convoy.name, by=context.by, how=how))
    if how == "parts":
        return "What is finished lands from now on while other tasks go on."
    if how == "whole":
        return "It lands once all its tasks are done."
    tasks = counted(len(unlanded(convoy)), "task")
    return (
        f"What is finished lands on {convoy.target} now: {tasks}. The others go on, "
        "and land later."
    )


def _has_part(convoy: Convoy) -> bool:
    is_asked = bool(convoy.parts.asked_by) or convoy.settings.land == "parts"
    is_over = convoy.ended or convoy.settled
    return bool(unlanded(convoy)) and not is_asked and not is_over


VERBS: Final = (
    Verb(
        name="land",
        words=(Argument(name="how", read=_extent, form="<how>", needed=False),),
        help="Lands what is finished of the convoy now, while other tasks go on; "
        "`parts`: each time from now on; `whole`: only once all is done.",
        rule=_land,
        of_convoy=ConvoyEndpoint(
            word="land",
            typed="convoy land",
            help="Land what is finished of a convoy while its other tasks go on.",
            button=_has_part,
        ),
    ),
)
