"""`pause` and `resume`: keeps new work from starting for a while."""

from typing import Final

from bot.verbs.arguments import ALL
from bot.verbs.request_context import RequestContext
from bot.verbs.verb import ConvoyEndpoint, Verb
from convoy.events.people_events import PauseAll, PauseConvoy, ResumeAll, ResumeConvoy
from convoy.text import counted


def _pause(context: RequestContext, *, all: bool = False) -> str:  # noqa: A002  the word people write
    if not all:
        context.submit(PauseConvoy(convoy=context.convoy.name, by=context.by))
        return "Nothing new starts."
    convoys = _how_many(context, "active")
    context.submit(PauseAll(by=context.by))
    return (
        f"Everything is paused, {convoys} with it. What runs ends as usual; "
        "nothing new starts or is accepted until `/brat resume all`."
    )


def _resume(context: RequestContext, *, all: bool = False) -> str:  # noqa: A002  the word people write
    if not all:
        context.submit(ResumeConvoy(convoy=context.convoy.name, by=context.by))
        return "It goes on."
    convoys = _how_many(context, "paused")
    context.submit(ResumeAll(by=context.by))
    return f"Everything goes on, {convoys} with it."


def _how_many(context: RequestContext, state: str) -> str:
    """Return how many convoys the change affects, in words."""
    found = sum(1 for convoy in context.draft.state.live() if convoy.state == state)
    return counted(found, "convoy")


VERBS: Final = (
    Verb(
        name="pause",
        words=(ALL,),
        help="Starts nothing new in the convoy until it is resumed; with `all`, in the "
        "whole repository.",
        rule=_pause,
        of_convoy=ConvoyEndpoint(
            word="pause",
            typed="convoy pause",
            help="Start nothing new in a convoy.",
            button=lambda convoy: convoy.state == "active",
        ),
    ),
    Verb(
        name="resume",
        words=(ALL,),
        help="Lets a paused convoy go on; with `all`, the whole repository.",
        rule=_resume,
        of_convoy=ConvoyEndpoint(
            word="resume",
            typed="convoy resume",
            help="Let a paused convoy go on.",
            button=lambda convoy: convoy.state == "paused",
        ),
    ),
)
