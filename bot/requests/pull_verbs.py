"""The verbs about anybody's pull request: `land` and `fix`.

A pull request that brat did not open is given to it as it is: decision 95.
"""

import asyncio
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from bot.requests.verb import COMMIT, NotPossible, RequestContext, convoy_of, row
from bot.text.visible_text import code_span
from convoy.events.forge_actions import Answer
from convoy.events.plan_events import ConvoyRequested
from convoy.kinds.task_kinds import sync_spec
from convoy.model import ids
from convoy.model.records import Approve, GivenPull, TaskSpec
from convoy.rules.plans import PlanConvoy
from convoy.text import convoy_name

if TYPE_CHECKING:  # the command line reads the table: the bot's tools are slow to load
    from bot.forge.payloads import Pull
    from convoy.config import Config

SHOWN: Final = 10
EVERYBODY: Final = "*"
RED: Final = "CI is red. Make it green, and change nothing else. CI says:"


async def _open_pull(
    context: RequestContext, *, lands: bool
) -> tuple["Pull", GivenPull]:
    """Return the pull request commented on, if it is open and not one of brat's."""
    number = context.asker.number
    pull = await context.bot.github.pulls.one(number)
    if pull.state != "open":
        raise NotPossible("the pull request is closed")
    convoy = convoy_of(context.draft.state, number)
    if convoy is not None and convoy.given is None:
        raise NotPossible(f"this is part of {convoy.name}, which lands automatically")
    if convoy is not None and not convoy.ended:
        state = "in the merge queue" if convoy.lands_given else "being worked on"
        raise NotPossible(f"it is already {state}; `/brat cancel` ends that")
    for branch in (pull.head.ref, pull.base.ref):
        if own := ids.clashing(branch):
            raise NotPossible(f"{code_span(own)} is reserved for brat's branches")
    is_here = pull.head.repo == pull.base.repo
    return pull, GivenPull(
        number=pull.number,
        head=pull.head.sha,
        branch=pull.head.ref if is_here else "",
        author=pull.user.login if pull.user else "",
        lands=lands,
    )


def _config(context: RequestContext) -> "Config":
    if context.config.staged:
        raise NotPossible("brat does nothing while `.brat/config.toml` sets `staged`")
    return context.config


def _fork_point(context: RequestContext, given: GivenPull, target: str) -> str:
    bot, tip = context.bot, context.draft.refs.get(ids.HEADS + target)
    if tip is None:
        raise NotPossible(f"the branch {code_span(target)} no longer exists")
    bot.mirror.ensure([given.head, tip])
    base = bot.composer.base_of(given.head, tip)
    if base is None:
        raise NotPossible(f"the branch shares no history with {code_span(target)}")
    return base


async def _request(
    context: RequestContext,
    given: GivenPull,
    title: str,
    target: str,
    base: str,
    approve: Approve = "auto",
) -> ConvoyRequested:
    from bot.roles import mayor
    from bot.roles.issue_intake import fit_words

    bot, state = context.bot, context.draft.state
    title = fit_words(title, "").title
    if refused := await mayor.refusal(bot, state, context.by):
        raise NotPossible(refused)
    settings = _config(context).settings(bot.settings.cores)
    request = ConvoyRequested(
        convoy=convoy_name(title, given.number, state.convoys),
        issue=given.number,
        title=title,
        text="",
        by=context.by,
        target=target,
        base=base,
        settings=replace(settings, planner="", approve=approve),
        given=given,
    )
    context.submit(request)
    return request


def _plan(context: RequestContext, request: ConvoyRequested, task: TaskSpec) -> None:
    planner = f"pull request #{request.issue}"
    context.submit(PlanConvoy(convoy=request.convoy, planner=planner, tasks=(task,)))


@row(
    place="pull",
    words=(COMMIT,),
    help="Puts any pull request into the merge queue of its target, at its current "
    "commit. If the author has no write access, name the commit.",
)
async def land(context: RequestContext, *, commit: str | None = None) -> str:
    pull, given = await _open_pull(context, lands=True)
    head = given.head
    if pull.draft:
        raise NotPossible("this is a draft; mark it as ready for review first")
    if commit is not None and not head.startswith(commit):
        raise NotPossible(f"the head is `{head[:SHOWN]}`; review and name that commit")
    if commit is None and not await context.bot.github.may(given.author):
        who = code_span(given.author) if given.author else "the pull request's author"
        raise NotPossible(
            f"{who} does not have write access and could push again at any time; name "
            f"the commit that you reviewed: `/brat land {head[:SHOWN]}`"
        )
    target = code_span(pull.base.ref)
    base = await asyncio.to_thread(_fork_point, context, given, pull.base.ref)
    if base == head:
        raise NotPossible(f"{target} already contains all of these changes")
    request = await _request(context, given, pull.title, pull.base.ref, base)
    _plan(context, request, TaskSpec(number=1, title=request.title, instructions=""))
    return (
        f"`{head[:SHOWN]}` is in the merge queue of {target}. It lands when CI is "
        "green on it and on everything ahead of it. A new push takes it off the queue."
    )


@row(
    place="pull",
    text="may",
    help="Lets an agent add commits to any pull request. The agent does what you "
    "write, or else resolves conflicts with the target, or else fixes red CI. "
    "Authors who are not listed in `[fix] authors` are asked first.",
)
async def fix(context: RequestContext, *, text: str = "") -> str:
    from bot.repository.compose import Conflicted, Piece
    from bot.roles import mayor
    from bot.text.merge_texts import end_of

    pull, given = await _open_pull(context, lands=False)
    if not given.branch:
        raise NotPossible(
            "the branch is in a fork, where brat cannot push; push the branch to this "
            "repository and open a pull request from it, or ask the author to do so"
        )
    allowed = {name.casefold() for name in _config(context).fix.authors}
    author = given.author
    allowed |= {context.by.casefold()}
    is_asked = not allowed & {author.casefold(), EVERYBODY}
    if is_asked and not await context.bot.github.may(author):
        raise NotPossible(
            f"the branch belongs to {code_span(author)}, who has no write access and "
            "cannot approve the request; add the author to `[fix] authors`"
        )
    base = await asyncio.to_thread(_fork_point, context, given, pull.base.ref)
    red, conflict = "", tuple[str, ...]()
    if not text:
        ci, settings = context.bot.github.ci, context.bot.settings
        required = _config(context).settings().checks
        runs = await ci.runs(given.head)
        seen = await ci.judged(given.head, runs, required, settings.app)
        if seen.verdict == "red":
            red = f"{RED}\n\n{end_of(seen.text)}"
        onto = context.draft.refs[ids.HEADS + pull.base.ref]
        piece = Piece(base=base, work=given.head, onto=onto, message="", at=0)
        made = await asyncio.to_thread(context.bot.composer.build, "merge", piece)
        conflict = made.paths if isinstance(made, Conflicted) else ()
    if not (text or red or conflict):
        raise NotPossible(
            "CI is not red, and the pull request does not conflict with "
            f"{code_span(pull.base.ref)}; write what to do after `--`"
        )
    approve: Approve = "plan" if is_asked else "auto"
    request = await _request(
        context, given, pull.title, given.branch, given.head, approve
    )
    convoy = context.draft.state.convoys[request.convoy]
    if conflict:
        why = f"pull request #{given.number} conflicts with {pull.base.ref}"
        task = sync_spec(convoy, why, conflict, branch=pull.base.ref)
    else:
        where = f"Your checkout is the branch of pull request #{given.number}"
        task = TaskSpec(
            number=convoy.next_number,
            title=f"Work on pull request #{given.number}",
            instructions=f"{where}, {request.title}.\n\n{text or red}",
        )
    _plan(context, request, task)
    await mayor.warn(context.draft, request)
    if not is_asked:
        return f"An agent will add commits to {code_span(given.branch)}."
    sign = ids.sign_key("fix", request.convoy)
    asks = (
        f"@{author}: {context.by} wants an agent to work on this branch. Nothing "
        "starts until you say `/brat approve`. To decline, say `/brat cancel`."
    )
    context.submit(Answer(issue=given.number, sign=sign, text=asks))
    return "brat will ask the author for approval first."


LAND: Final = (land, fix)
