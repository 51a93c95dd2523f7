"""The mayor: accepts requests, plans convoys, creates their branches."""

from typing import Final

from msgspec.structs import replace

from bot.context.bot_context import BotContext
from bot.context.configuration import configuration
from bot.door.inbox import StartRequest
from bot.forge.payloads import Issue
from bot.repository.draft import Draft
from bot.roles import (
    ci_exposure_check,
    ci_start_check,
    loop_rights_check,
    model_key_check,
)
from bot.roles.admission import admitted
from bot.roles.asking_back import asked_back
from bot.roles.chosen_pattern import chosen, plan_by_pattern
from bot.roles.issue_intake import by_text, fault, holds_tasks
from bot.roles.refused_request import refuse
from bot.roles.tracked_issues import with_named_issues
from bot.settings.bot_settings import quota_refusal
from bot.text import replies
from bot.text.convoy_comment import NO_LABEL
from bot.text.slash_commands import mentioned
from convoy.config import ConfigError
from convoy.events.plan_events import RequestConvoy, TakeSettings
from convoy.model import ids
from convoy.model.records import Settings
from convoy.model.state import Convoy, State
from convoy.owed import CreateBase, MakePlan
from convoy.planner import planned_by, tasklist
from convoy.rules.people import FailConvoy
from convoy.rules.plans import PlanConvoy
from convoy.text import convoy_name, shortened

LIST: Final = "task list"


async def accept(context: BotContext, draft: Draft, request: StartRequest) -> None:
    """Turn an issue into a convoy, or say why not. Safe to call twice.

    The label is removed when the request is accepted, so that a repeated delivery asks
    for nothing after the convoy has ended. A mention or assignment starts only an
    issue's first convoy.
    """
    if busy(draft.state, request.issue) or not _heeded(context, draft, request):
        return
    issue = await context.github.issue(request.issue)
    if NO_LABEL in issue.label_names:
        return
    if request.trigger == "label" and context.settings.label not in issue.label_names:
        return
    await start(context, draft, request, issue)


async def start(
    context: BotContext, draft: Draft, request: StartRequest, issue: Issue
) -> None:
    """Put the request to the rules; if it is refused, say why on the issue."""
    refused = (
        replies.EDITED_ISSUE
        if request.edited
        else await begin(context, draft, request, issue)
    )
    if refused is not None:
        await refuse(context, request, refused)


async def begin(
    context: BotContext, draft: Draft, request: StartRequest, issue: Issue
) -> str | None:
    """Put the request to the rules; return why it was refused, or None.

    The request brings title and text; of the current issue only the author is used.
    """
    refused = await _refusal(context, draft.state, request)
    if refused is not None:
        return refused
    try:
        config = configuration(context)
    except ConfigError as error:
        return replies.BAD_CONFIGURATION.format(error=error)
    author = issue.user.login if issue.user else ""
    trust = config.trust
    words = await admitted(context, request, author, outsiders=trust.outsiders)
    if isinstance(words, str):
        return words
    target = context.mirror.default_branch
    base = draft.refs[ids.HEADS + target]
    listed = await holds_tasks(context, base, words.text)
    settings = _capped(context, config.settings(context.settings.cores))
    settings = replace(settings, planner="") if listed else settings
    if request.plan_only:
        settings = replace(settings, approve="plan")
    pattern = chosen(request.pattern, config.mayor.pattern, listed=listed)
    asks = config.mayor.ask and not (listed or pattern)
    command = RequestConvoy(
        convoy=convoy_name(words.title, request.issue, draft.state.convoys),
        issue=request.issue,
        title=words.title,
        text=words.text,
        by=request.by,
        target=target,
        base=base,
        settings=replace(settings, planner="") if pattern else settings,
        pattern=pattern,
        inputs=request.inputs if pattern else {},
    )
    text = await with_named_issues(context, draft.state, command, trust.outsiders)
    command = replace(command, text=text.words, named=text.named)
    if why := (
        text.fault
        or await fault(context, command)
        or await asked_back(context, request, words, ask=asks)
    ):
        return why
    forbidden = draft.submit(command)
    if forbidden:
        return forbidden.why
    await model_key_check.warn(context, draft, command)
    await ci_exposure_check.warn(context, draft, command)
    await ci_start_check.warn(context, draft, command)
    await loop_rights_check.warn(context, draft, command)
    return None


def _capped(context: BotContext, settings: Settings) -> Settings:
    """Return a convoy's settings within the limits that the bot allows."""
    if context.settings.quota is None:
        return settings
    return replace(settings, tasks=min(settings.tasks, context.settings.quota.tasks))


def take_settings(context: BotContext, draft: Draft) -> None:
    """Let a configuration that has changed count for the convoys under way.

    It is compared once a process and each time its file may have changed; safe to call
    again. A faulty one changes nothing: whoever asks for a convoy is told.
    """
    file = context.settings.config_file
    tip = context.mirror.refs.get(ids.HEADS + context.mirror.default_branch)
    changed = file.stat().st_mtime_ns if file is not None and file.exists() else 0
    if tip is None or context.memory.configured == (tip, changed):
        return
    try:
        config = configuration(context)
    except ConfigError:
        return
    settings = _capped(context, config.settings(context.settings.cores))
    for convoy in [*draft.state.live()]:
        draft.submit(TakeSettings(convoy=convoy.name, settings=settings))
    context.memory.configured = (tip, changed)


def _heeded(context: BotContext, draft: Draft, request: StartRequest) -> bool:
    """Whether the configuration lets this request count; others get no answer."""
    try:
        config = configuration(context)
    except (ConfigError, KeyError):
        return request.trigger == "label" and not request.bot  # it is told of the fault
    if request.bot and request.bot not in config.trust.bots:
        return False
    if request.trigger == "label":
        return True
    if any(of.issue == request.issue for _, of in draft.state.convoys.summaries()):
        return False
    if request.trigger == "assignee":
        return config.triggers.assignee
    named = mentioned(request.text, context.login) is not None
    return named and config.triggers.mention


def heeds_mentions(context: BotContext) -> bool:
    """Whether a mention of the bot asks for a convoy."""
    try:
        return configuration(context).triggers.mention
    except (ConfigError, KeyError):
        return False


def busy(state: State, issue: int) -> bool:
    """Whether a convoy that has not ended belongs to an issue."""
    return any(convoy.issue == issue for convoy in state.live())


async def _refusal(
    context: BotContext, state: State, request: StartRequest
) -> str | None:
    if ids.HEADS + context.mirror.default_branch not in context.mirror.refs:
        return replies.EMPTY_REPOSITORY
    trusted = request.trigger == "schedule"  # the default branch says so
    if not trusted and not await context.github.may_write(request.by):
        return replies.NO_RIGHT.format(by=request.by)
    return _too_much(context, state, request.by)


def _too_much(context: BotContext, state: State, by: str) -> str | None:
    """Return why the bot's operator lets nothing start now; None: it may start."""
    if context.settings.stopped:
        return replies.BOT_STOPPED
    if context.settings.quota is None:
        return None
    quota, now = context.settings.quota, context.clock()
    return quota_refusal(quota, state, by, context.elsewhere(), now)


def make_plan(context: BotContext, draft: Draft, action: MakePlan) -> None:
    """Plan by the pattern, else by the issue's task list; fail the convoy on faults."""
    convoy = draft.state.convoys[action.convoy]
    if convoy.pattern:
        plan_by_pattern(context, draft, convoy)
        return
    try:
        tasks, remarks = by_text(context, convoy)
    except tasklist.PlanError as error:
        draft.submit(FailConvoy(convoy=convoy.name, why=str(error)))
    else:
        planner = f"{LIST}; {_gave_up(convoy)}" if convoy.mayor else LIST
        commits = context.commits
        scopes = commits.scopes(convoy.base, tasks)
        draft.submit(
            PlanConvoy(
                convoy=convoy.name,
                planner=planner,
                tasks=tasks,
                overlaps=commits.foreseen(convoy.base, tasks),
                scopes=scopes,
                warnings=(*remarks, *commits.absent(convoy.base, scopes)),
            )
        )


def _gave_up(convoy: Convoy) -> str:
    why = convoy.mayor.why if convoy.mayor else ""
    who = planned_by(convoy.settings.planner)
    return f"the {who} gave no plan: {shortened(why, 300)}"


def create_base(draft: Draft, action: CreateBase) -> None:
    """Create the convoy's shared branch."""
    draft.move(ids.HEADS + ids.base_branch(action.convoy), action.commit)
