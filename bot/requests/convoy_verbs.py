"""The verbs about a whole convoy or repository.

`status`, `plan`, `why`, `logs`, `cost` and `ping` only read; `start`, `approve`,
`priority`, `pause` and `resume` decide about a convoy; `lock`, `renew` and `unlock`
keep a resource for a person.
"""

import re
from typing import Final

from bot import VERSION
from bot.requests import verb
from bot.requests.verb import NotPossible, RequestContext, row
from bot.requests.work_verbs import NO_WORK
from bot.text.visible_text import code_span
from convoy.events import subject
from convoy.events.hold_events import BranchTaken
from convoy.events.leases import FreeLease, RenewLease, TakeLease
from convoy.events.people_events import (
    ApprovePlan,
    ConvoyPaused,
    ConvoyResumed,
    RepositoryPaused,
    RepositoryResumed,
    TaskApproved,
    lacking_approvals,
)
from convoy.events.plan_events import ConvoyRanked
from convoy.model.session_result import usage_in_words
from convoy.model.state import Convoy, Task
from convoy.rules.starting import moment
from convoy.text import counted, inline, seconds_in
from convoy.views.plan import approval, edge_words
from convoy.views.reasons import waits_for
from grite.resource import BOT, validate

PLAN_CHARS: Final = 20_000
"""The longest plan in an answer; a comment may have more of them."""


@row(
    right="read",
    help="Shows the state of the convoy and its tasks.",
    asks=True,
    brief="This comment shows the current state.",
)
def status(context: RequestContext) -> str:
    from bot.text.convoy_comment import convoy_table

    convoy = context.convoy
    asides = context.draft.state.shown_asides(convoy.name)
    return convoy_table(convoy, asides, web=context.bot.settings.web)


@row(
    right="read",
    help="Shows the plan: what each task does, changes and waits for, with an "
    "estimate.",
    asks=True,
    brief="Expand the plan in this comment to read it.",
)
def plan(context: RequestContext) -> str:
    from bot.text.convoy_comment import plan_section

    convoy = context.convoy
    if not convoy.tasks:
        raise NotPossible(f"{convoy.name} has no plan yet")
    said = approval(convoy)
    waits = [f"**The plan is waiting for approval:** {said}."] if said else []
    return "\n".join((*plan_section(convoy, PLAN_CHARS), *waits))


@row(
    right="read",
    words=(verb.TASK,),
    help="Says what a task is waiting for, and why.",
    asks=True,
)
def why(context: RequestContext, *, task: int) -> str:
    found = context.task(task)
    lines = [f"Task {task} is {found.state} ({counted(found.started, 'attempt')})."]
    at = moment(context.draft.state, context.draft.now)
    if waits := waits_for(context.convoy, found, at):
        lines.append(f"It is waiting for {inline(waits)}.")
    lines += [f"- {inline(edge)}" for edge in edge_words(found.spec)]
    lines += [f"- {inline(note)}" for note in found.notes]
    return "\n".join(lines)


@row(
    words=(verb.TASK,),
    help="Shows links to the output of a task's sessions.",
    asks=True,
)
def logs(context: RequestContext, *, task: int) -> str:
    runs = context.task(task).runs
    if not runs:
        raise NotPossible(f"task {task} has had no session yet")
    settings = context.bot.settings
    url = f"{settings.git_url}/{settings.repository}/actions/runs"
    lines = [f"- [run {run}]({url}/{run})" for run in reversed(runs)]
    return "\n".join((f"The sessions of task {task}, newest first:", *lines))


@row(
    help="Shows what the convoy has cost so far, if known.",
    asks=True,
)
def cost(context: RequestContext) -> str:
    convoy, now = context.convoy, context.draft.now
    tasks = convoy.spenders
    running = [now - task.attempt.at for task in tasks if task.attempt]
    worked_ms = sum(task.worked_ms for task in tasks) + sum(running)
    attempts = counted(sum(task.started for task in tasks), "attempt")
    minutes = max(0, worked_ms) / 60_000
    said, ended = usage_in_words(convoy.used), "No engine has reported its usage yet."
    ended = f"Finished sessions used {said}." if said else ended
    return (
        f"`{convoy.name}` has used {attempts} and {minutes:.1f} session "
        f"minutes so far. {ended}"
    )


@row(
    right="read",
    help="Shows the bot's version.",
    asks=True,
)
def ping(context: RequestContext) -> str:
    return f"{context.bot.login} is running, version {VERSION}."


READING: Final = (status, plan, why, logs, cost, ping)


def _read_pattern(word: str) -> str:
    """Read the name of a pattern; a later check finds out whether it exists."""
    if re.fullmatch(r"[a-z0-9][a-z0-9-]{0,39}", word):
        return word
    raise ValueError("is not a pattern name; `brat workflow list` lists all patterns")


@row(
    place="issue",
    words=(verb.fixed_word("plan-only", needed=False),),
    options=(
        verb.Argument(
            name="pattern",
            read=_read_pattern,
            form="pattern=NAME",
            needed=False,
        ),
    ),
    more=verb.Argument(name="inputs", read=str, form="input=value ...", needed=False),
    text="may",
    help="Starts a convoy for the issue, as the label does; your text is added "
    "to the issue's text. With `plan-only`, the plan waits for your "
    "approval. With `pattern`, the plan comes from that pattern and the inputs.",
)
async def start(
    context: RequestContext,
    *,
    text: str = "",
    plan_only: bool = False,
    pattern: str = "",
    inputs: dict[str, str] | None = None,
) -> str:
    from bot.door.inbox import StartRequest as Labelled
    from bot.roles import mayor
    from bot.roles.issue_intake import edited_since
    from bot.text import phrase

    remark = context.asker.remark
    if remark is None:
        raise NotPossible("write this command in a comment on the issue")
    bot = context.bot
    issue = await bot.github.issue(remark.issue)
    title, body = remark.title, remark.body
    if remark.at is not None:  # no delivery froze the issue's text
        if await edited_since(bot, issue, remark.at):
            raise NotPossible(phrase("edited-since-said"))
        title, body = issue.title, issue.body or ""
    labelled = Labelled(
        issue=issue.number,
        title=title,
        text=body,
        by=remark.by,
        added=text,
        pattern=pattern,
        inputs=inputs or {},
        plan_only=plan_only,
    )
    if why := await mayor.begin(context.draft, labelled, issue):
        raise NotPossible(why)
    return "brat is planning the convoy."


def _approve_work(context: RequestContext, commit: str | None) -> str:
    task = context.own_task
    if task and task.work and commit is None:
        named = f"`/brat approve {task.work.commit[:10]}`"
        raise NotPossible(f"name the commit that you have reviewed: {named}")
    if task is None or commit is None:
        raise NotPossible(NO_WORK)
    said = {"review": context.asker.review, "comment": context.asker.comment}
    context.decide(TaskApproved, task=task.number, commit=commit, **said)
    if lacks := lacking_approvals(context.convoy, context.own_task or task):
        return f"Approved. The work still needs {lacks}."
    return "Approved. The work will merge when CI is green."


def _has_plan(convoy: Convoy) -> bool:
    return convoy.state == "planning" and bool(convoy.tasks)


@row(
    words=(verb.COMMIT,),
    help="Approves a waiting plan. On a pull request, approves the work at "
    "exactly this commit. Also accepts a commit that someone pushed to the "
    "convoy's branch, if you name it.",
    box=verb.Box(
        says="Approve the plan",
        offered=lambda c: (0,) if _has_plan(c) and not c.staged else (),
    ),
    on_check=verb.CheckButton(
        label="Approve",
        says="Approves the work at this commit",
        offered=lambda convoy, task: bool(
            task.work and lacking_approvals(convoy, task)
        ),
    ),
    of_convoy=verb.Endpoint(
        help="Approve a plan that is waiting for approval.",
        button=_has_plan,
    ),
)
def approve(context: RequestContext, *, commit: str | None = None) -> str:
    convoy = context.convoy
    number = context.asker.number
    for part in (convoy, *convoy.tasks) if commit else ():
        if commit and part.pushed and part.pushed.commit.startswith(commit):
            task = part.number if isinstance(part, Task) else 0
            context.decide(BranchTaken, task=task, commit=commit)
            return f"The commit is accepted, and {subject(task)} continues from there."
    if number and number in (convoy.pull, *(task.pull for task in convoy.tasks)):
        return _approve_work(context, commit)
    if commit is not None:
        raise NotPossible("use this command on the pull request for that commit")
    asked, staged = context.asker.comment, context.config.staged
    context.decide(ApprovePlan, comment=asked, staged=staged)
    return "The plan is approved. The first tasks can start."


def _read_priority(word: str) -> int:
    if word.lower() in ("p0", "p1", "p2"):
        return int(word[1])
    raise ValueError("is not a priority: write `p0`, `p1` or `p2`")


@row(
    place="issue",
    right="maintain",
    words=(
        verb.Argument(
            name="priority",
            read=_read_priority,
            form="<p0|p1|p2>",
            write=lambda number: f"p{number}",
        ),
    ),
    help="Sets the convoy's priority; `p0` is the highest, `p1` the default.",
)
def priority(context: RequestContext, *, priority: int) -> str:
    context.decide(ConvoyRanked, priority=priority)
    return f"The convoy now has priority `p{priority}`."


def _submit_to_all(
    context: RequestContext, command: RepositoryPaused | RepositoryResumed
) -> str:
    before = {convoy.name: convoy.state for convoy in context.draft.state.live()}
    context.submit(command)
    found = sum(each.state != before[each.name] for each in context.draft.state.live())
    return f", including {counted(found, 'convoy')}" if found else ""


@row(
    words=(verb.ALL_WORD,),
    help="Pauses the convoy: nothing new starts; with `all`, the whole repository.",
    of_convoy=verb.Endpoint(
        help="Pause a convoy, so nothing new starts.",
        button=lambda convoy: convoy.state == "active",
    ),
)
def pause(context: RequestContext, *, all: bool = False) -> str:  # noqa: A002  the word people write
    if not all:
        context.decide(ConvoyPaused)
        return "The convoy is paused. Nothing new will start."
    convoys = _submit_to_all(context, RepositoryPaused(by=context.by))
    return (
        f"Everything is paused{convoys}. Running sessions finish as usual. Nothing new "
        "starts or is accepted until someone says `/brat resume all`."
    )


@row(
    words=(verb.ALL_WORD,),
    help="Resumes a paused convoy; with `all`, the whole repository.",
    of_convoy=verb.Endpoint(
        help="Resume a paused convoy.",
        button=lambda convoy: convoy.state == "paused",
    ),
)
def resume(context: RequestContext, *, all: bool = False) -> str:  # noqa: A002  the word people write
    if not all:
        context.decide(ConvoyResumed)
        return "The convoy continues."
    convoys = _submit_to_all(context, RepositoryResumed(by=context.by))
    kept = [f"#{c.issue}" for c in context.draft.state.live() if c.state == "paused"]
    waits = f" Still paused for another reason: {', '.join(kept)}." if kept else ""
    return f"Everything has been resumed{convoys}.{waits}"


PAUSE: Final = (pause, resume)


LOCK_TTL_S: Final = 3600
LONGEST_LOCK_S: Final = 24 * 3600
LONGEST_RESOURCE: Final = 400


def _read_resource(word: str) -> str:
    try:
        validate(word)
    except ValueError as error:
        raise ValueError(
            "is not a resource such as `path:src/`, `port:5432`, `service:mail`, "
            "`issue:7` or `repo:global`"
        ) from error
    if word == BOT:
        raise ValueError("is reserved for the bot")
    if len(word) > LONGEST_RESOURCE:
        raise ValueError(f"is longer than {LONGEST_RESOURCE} characters")
    return word


def _read_ttl(word: str) -> int:
    """Read a length of time, in seconds."""
    try:
        length_s = seconds_in(word)
    except ValueError:
        length_s = 0
    if not 1 <= length_s <= LONGEST_LOCK_S:
        raise ValueError("is not a duration from 1s to 24h, such as `30m` or `1h30m`")
    return length_s


_RESOURCE: Final = verb.Argument(
    name="resource", read=_read_resource, form="<resource>"
)

_TTL: Final = verb.Argument(
    name="ttl",
    read=_read_ttl,
    form="ttl=1h",
    needed=False,
    write=lambda length_s: f"{length_s}s",
)


def _nonce(context: RequestContext, resource: str) -> str:
    held = context.draft.state.leases.get(resource)
    return held.nonce if held else ""


@row(
    words=(_RESOURCE,),
    options=(_TTL,),
    help="Locks a resource for one hour, or for `ttl` (at most `24h`). Tasks that "
    "need it do not start meanwhile.",
)
def lock(context: RequestContext, *, resource: str, ttl: int = LOCK_TTL_S) -> str:
    asker, by, now = context.asker, context.by, context.draft.now
    nonce = asker.sign or str(asker.comment)  # other than of the person's other locks
    command = TakeLease(resource=resource, holder=by, nonce=nonce, now=now, ttl_s=ttl)
    context.submit(command)
    return f"You hold the lock on {code_span(resource)} for {ttl} s."


@row(
    words=(_RESOURCE,),
    options=(_TTL,),
    help="Extends a lock that you hold. The new duration starts now.",
)
def renew(context: RequestContext, *, resource: str, ttl: int = LOCK_TTL_S) -> str:
    by, nonce, now = context.by, _nonce(context, resource), context.draft.now
    command = RenewLease(resource=resource, holder=by, nonce=nonce, now=now, ttl_s=ttl)
    context.submit(command)
    return f"You hold the lock on {code_span(resource)} for another {ttl} s."


@row(
    words=(_RESOURCE,),
    help="Releases a resource that you hold.",
)
def unlock(context: RequestContext, *, resource: str) -> str:
    nonce = _nonce(context, resource)
    context.submit(FreeLease(resource=resource, holder=context.by, nonce=nonce))
    return f"{code_span(resource)} is unlocked."


LOCK: Final = (lock, renew, unlock)
