"""The mayor: accepts requests, plans convoys, lays their branch."""

import asyncio
from typing import Final

from msgspec.structs import replace

from bot.comment import NO
from bot.configuration import configuration
from bot.desk import Desk
from bot.door.inbox import Request
from bot.forge.payloads import Issue
from bot.forge.retrying import Try, failed_try, quiet_try
from bot.repository.draft import Draft
from bot.roles import keys
from bot.roles.admission import EDITED, admitted, edited_since
from bot.roles.patterns import chosen, compiled_for, plan_by_pattern
from bot.roles.quota import refusal
from bot.speech.mention import mentioned
from convoy import ids
from convoy.actions import CreateBase, MakePlan, Reorder
from convoy.commands import (
    FailConvoy,
    LinkTask,
    PlanConvoy,
    RequestConvoy,
)
from convoy.config import ConfigError
from convoy.events import Settings
from convoy.patterns import PatternError
from convoy.planner import tasklist
from convoy.planner.asked import planned_by
from convoy.planner.checklist import checklist
from convoy.state import Convoy, State
from convoy.text.names import convoy_name
from convoy.text.plaintext import clean, shortened
from grite.errors import Unavailable

HEADS: Final = "refs/heads/"
LIST: Final = "task list"


async def requests(desk: Desk, *, sweep: bool) -> dict[str, Request]:
    """Return who asked for what, by delivery id.

    With `sweep` also what is labelled on the forge and reached us by no delivery.
    """
    waiting = desk.inbox.requests()
    if not sweep:
        return waiting
    known = {request.issue for request in waiting.values()}
    for issue in await desk.github.issues_labelled(desk.settings.label):
        if issue.number in known or _busy(desk.mirror.state, issue.number):
            continue
        found = await _found(desk, issue)
        if found is not None:
            waiting[f"sweep-{issue.number}"] = found
    return waiting


async def _found(desk: Desk, issue: Issue) -> Request | None:
    """Return what a labelled issue asks for that reached us by no delivery."""
    labelling = await desk.github.labelling(issue.number, desk.settings.label)
    if labelling is None or labelling.actor is None:
        return None
    return Request(
        issue=issue.number,
        title=issue.title,
        text=issue.body or "",
        by=labelling.actor.login,
        bot=labelling.actor.id if labelling.actor.type == "Bot" else 0,
        edited=await edited_since(desk, issue, labelling.created_at),
    )


async def accept(desk: Desk, draft: Draft, request: Request) -> None:
    """Turn an issue into a convoy, or say why not. Safe to call twice.

    The label goes when the request is accepted, so that a delivery which comes again
    after the convoy has ended finds none and asks for nothing. A mention or assignment
    starts an issue's first convoy only.
    """
    if _busy(draft.state, request.issue) or not _heeded(desk, draft, request):
        return
    issue = await desk.github.issue(request.issue)
    if NO in issue.label_names:
        return
    if request.trigger == "label" and desk.settings.label not in issue.label_names:
        return
    await start(desk, draft, request, issue)


async def start(desk: Desk, draft: Draft, request: Request, issue: Issue) -> None:
    """Put the request to the rules, and say on the issue why it may not be."""
    refused = EDITED if request.edited else await begin(desk, draft, request, issue)
    if refused is not None:
        await _deny(desk, request, refused)


async def begin(desk: Desk, draft: Draft, request: Request, issue: Issue) -> str | None:
    """Put the request to the rules; return why it may not be, None when it may.

    Of the issue as it is now only its author is taken, who does not change.
    """
    refused = await _refusal(desk, draft.state, request)
    if refused is not None:
        return refused
    try:
        config = configuration(desk)
    except ConfigError as error:
        return f"The configuration has a fault: {error}"
    author = issue.user.login if issue.user else ""
    trust = config.trust
    words = await admitted(desk, request, author, outsiders=trust.outsiders)
    if isinstance(words, str):
        return words
    target = desk.mirror.default_branch
    settings = _capped(desk, _planned(config.settings(), words.text))
    pattern = chosen(request.pattern, config.mayor.pattern, words.text)
    command = RequestConvoy(
        convoy=convoy_name(words.title, request.issue, draft.state.convoys),
        issue=request.issue,
        title=words.title,
        text=words.text,
        by=request.by,
        target=target,
        base=draft.refs[HEADS + target],
        settings=replace(settings, planner="") if pattern else settings,
        pattern=pattern,
        inputs=request.inputs if pattern else {},
    )
    if pattern:
        try:
            await asyncio.to_thread(compiled_for, desk, command)
        except PatternError as error:
            return str(error)
    forbidden = draft.submit(command)
    if forbidden:
        return forbidden.why
    await keys.warn(desk, draft, command)
    return None


def _planned(settings: Settings, text: str) -> Settings:
    """Return the settings; a task list in the issue is its plan, and needs no model."""
    return replace(settings, planner="") if checklist(clean(text)).items else settings


def _capped(desk: Desk, settings: Settings) -> Settings:
    """Return what a convoy is frozen with, within what the bot allows."""
    if desk.settings.plan_only:
        settings = replace(settings, approve="plan")
    if desk.settings.quota is None:
        return settings
    return replace(settings, tasks=min(settings.tasks, desk.settings.quota.tasks))


def _heeded(desk: Desk, draft: Draft, request: Request) -> bool:
    """Whether such a request counts here; one that does not is not answered."""
    try:
        config = configuration(desk)
    except (ConfigError, KeyError):
        return request.trigger == "label" and not request.bot  # and then told of it
    if request.bot and request.bot not in config.trust.bots:
        return False
    if request.trigger == "label":
        return True
    if any(c.issue == request.issue for c in draft.state.convoys.values()):
        return False
    if request.trigger == "assignee":
        return config.triggers.assignee
    named = mentioned(request.text, desk.login) is not None
    return named and config.triggers.mention


def heeds_mentions(desk: Desk) -> bool:
    """Whether to name the bot is to ask for a convoy."""
    try:
        return configuration(desk).triggers.mention
    except (ConfigError, KeyError):
        return False


def _busy(state: State, issue: int) -> bool:
    return any(convoy.issue == issue for convoy in state.live())


async def _refusal(desk: Desk, state: State, request: Request) -> str | None:
    if HEADS + desk.mirror.default_branch not in desk.mirror.refs:
        return "The repository is empty: push a first commit, then set the label again."
    trusted = request.trigger == "schedule"  # the default branch says so
    if not trusted and not await desk.github.may_write(request.by):
        return (
            f"@{request.by} may not start a convoy: it takes write access to this "
            "repository."
        )
    return _too_much(desk, state, request.by)


def _too_much(desk: Desk, state: State, by: str) -> str | None:
    """Return why nothing may start now, by what whoever runs the bot allows."""
    if desk.settings.stopped:
        return "Whoever runs this bot has stopped it: set the label again later."
    if desk.settings.quota is None:
        return None
    quota, now = desk.settings.quota, desk.clock()
    return refusal(quota, state, by, desk.elsewhere(), now)


async def _deny(desk: Desk, request: Request, why: str) -> None:
    """Say why nothing will happen, once, and take the label off."""
    key = f"denied:{request.issue}"
    now = quiet_try(desk, key)
    said = await desk.github.said(request.issue, key, desk.login)
    body = f"{ids.marker(key)}\n{why}"
    if said is None:
        await _say(desk, request.issue, now, body)
    elif said.body != body:
        await desk.github.edit_comment(said.id, body)
    await desk.github.relabel(request.issue, set(), {desk.settings.label})


async def _say(desk: Desk, issue: int, now: Try, body: str) -> None:
    """Comment for the first time; again only when the last try would be seen."""
    now.repeat()
    await desk.hold()
    try:
        await desk.github.say(issue, body)
    except Unavailable:
        failed_try(desk, now.key)
        raise


def make_plan(desk: Desk, draft: Draft, action: MakePlan) -> None:
    """Plan by the pattern, else from the issue's list; what cannot be fails it."""
    convoy = draft.state.convoys[action.convoy]
    if convoy.pattern:
        plan_by_pattern(desk, draft, convoy)
        return
    engines, limit = convoy.settings.workers, convoy.settings.tasks
    try:
        tasks = tasklist.plan(convoy.title, convoy.text, engines, limit)
    except tasklist.PlanError as error:
        draft.submit(FailConvoy(convoy=convoy.name, why=str(error)))
    else:
        planner = f"{LIST}; {_gave_up(convoy)}" if convoy.mayor else LIST
        draft.submit(
            PlanConvoy(
                convoy=convoy.name,
                planner=planner,
                tasks=tasks,
                overlaps=desk.mirror.foreseen(convoy.base, tasks),
            )
        )


def _gave_up(convoy: Convoy) -> str:
    why = convoy.mayor.why if convoy.mayor else ""
    who = planned_by(convoy.settings.planner)
    return f"the {who} gave no plan: {shortened(why, 300)}"


def reorder(draft: Draft, action: Reorder) -> None:
    """Let a task wait for work that touches what it is to touch."""
    draft.submit(
        LinkTask(convoy=action.convoy, task=action.task, on=action.on, why=action.why)
    )


def create_base(draft: Draft, action: CreateBase) -> None:
    """Lay the convoy's shared branch."""
    draft.move(HEADS + ids.base_branch(action.convoy), action.commit)
