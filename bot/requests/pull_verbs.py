"""The verb about anybody's pull request: `land`.

A pull request that brat did not open is given to it as it is: decision 95.
"""

import asyncio
from typing import Final

from msgspec.structs import replace

from bot.forge.payloads import Pull
from bot.requests.verb import Argument, NotPossible, RequestContext, Verb, read_sha
from bot.text.visible_text import code_span
from convoy.config import ConfigError
from convoy.events.plan_events import RequestConvoy
from convoy.model import ids
from convoy.model.records import GivenPull, TaskSpec
from convoy.rules.plans import PlanConvoy
from convoy.text import clean, convoy_name, shortened

TITLE_CHARS: Final = 200
SHOWN: Final = 10
"""How many digits of a commit people are shown."""


async def _land(context: RequestContext, *, commit: str | None = None) -> str:
    """Put a pull request into the queue of its target, as it is now."""
    pull = await _open_pull(context)
    head = pull.head.sha
    if commit is not None and not head.startswith(commit):
        raise NotPossible(f"it is at `{head[:SHOWN]}` by now: look at that, and say so")
    author = pull.user.login if pull.user else ""
    is_trusted = await context.bot.github.may_write(author)
    if commit is None and not is_trusted:
        raise NotPossible(
            f"{code_span(author)} may not write here, and may push while you speak: "
            f"say which commit you have looked at: `/brat land {head[:SHOWN]}`"
        )
    target = pull.base.ref
    tip = context.draft.refs.get(ids.HEADS + target)
    if tip is None:
        raise NotPossible(f"there is no branch {code_span(target)} any more")
    given = _given(context, pull, lands=True)
    title = shortened(clean(pull.title), TITLE_CHARS)
    await asyncio.to_thread(_request, context, given, title, target, tip)
    return (
        f"`{head[:SHOWN]}` is in the queue of {code_span(target)}: it lands when CI is "
        "green on it together with what is there. A new push takes it out."
    )


async def _open_pull(context: RequestContext) -> Pull:
    """Return the pull request commented on, if it is ready and nobody works on it."""
    from bot.requests.verb import convoy_of

    number = context.asker.number
    pull = await context.bot.github.pulls.one(number)
    if pull.state != "open":
        raise NotPossible("the pull request is closed")
    if pull.draft:
        raise NotPossible("it is a draft: mark it as ready for review first")
    convoy = convoy_of(context.draft.state, number)
    if convoy is not None and convoy.given is None:
        raise NotPossible(f"it is a part of {convoy.name}, which lands by itself")
    return pull


def _given(context: RequestContext, pull: Pull, *, lands: bool) -> GivenPull:
    here = context.bot.github.repository
    is_here = pull.head.repo is not None and pull.head.repo.full_name == here
    return GivenPull(
        number=pull.number,
        head=pull.head.sha,
        branch=pull.head.ref if is_here else "",
        author=pull.user.login if pull.user else "",
        lands=lands,
    )


def _request(
    context: RequestContext, given: GivenPull, title: str, target: str, tip: str
) -> None:
    """Make the convoy; blocking."""
    from bot.roles.bot_context import configuration

    bot = context.bot
    try:
        settings = configuration(bot).settings(bot.settings.cores)
    except ConfigError as error:
        raise NotPossible(f"the configuration has a fault: {error}") from error
    if settings.staged:
        raise NotPossible("`.brat/config.toml` says `staged`, so nothing lands")
    bot.mirror.ensure([given.head, tip])
    base = bot.composer.base_of(given.head, tip)
    if base is None:
        raise NotPossible(f"it has no history in common with {code_span(target)}")
    if base == given.head:
        raise NotPossible(f"{code_span(target)} holds all of it already")
    name = convoy_name(title, given.number, context.draft.state.convoys)
    context.submit(
        RequestConvoy(
            convoy=name,
            issue=given.number,
            title=title,
            text="",
            by=context.by,
            target=target,
            base=base,
            settings=replace(settings, planner="", approve="auto"),
            given=given,
        )
    )
    task = TaskSpec(number=1, title=title, instructions="")
    planner = f"pull request #{given.number}"
    context.submit(PlanConvoy(convoy=name, planner=planner, tasks=(task,)))


LAND: Final = (
    Verb(
        name="land",
        place="pull",
        words=(Argument(name="commit", read=read_sha, form="<commit>", needed=False),),
        help="Puts anybody's pull request into the merge queue of its target, at "
        "exactly this commit; of somebody who may not write, the commit has to be "
        "said.",
        rule=_land,
    ),
)
