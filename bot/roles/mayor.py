"""The mayor: accepts requests, plans convoys, and warns before their first task.

An issue is planned by its own text, by a pattern, or by an engine. What is wrong with
its text or pattern is said before a convoy begins.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import Final

from msgspec.structs import replace

from bot.door.inbox import StartRequest
from bot.forge import workflows
from bot.forge.checks import JOB_LOGIN
from bot.forge.github_actions import open_environments, secret_names
from bot.forge.pace import RequestBudget
from bot.forge.payloads import Issue
from bot.roles import issue_intake
from bot.roles.bot_context import (
    BotContext,
    BotDraft,
    configuration,
    usable_configuration,
)
from bot.settings.bot_settings import quota_refusal
from bot.text import notices, phrase
from bot.text.slash_commands import mentioned
from convoy.config import Config, ConfigError
from convoy.events import copied
from convoy.events.hold_events import NO_LABEL
from convoy.events.plan_events import ConvoyRequested, SettingsTaken, TargetRenamed
from convoy.events.task_events import ConvoyFailed
from convoy.model import ids
from convoy.model.records import MOST_TASKS, Settings
from convoy.model.state import Convoy, State
from convoy.model.task_graph import renumbered
from convoy.owed import MakePlan
from convoy.patterns import NO_PATTERN, PatternError
from convoy.patterns.compiling import Compiled, Use, compiled
from convoy.planner import not_planned_by, tasklist
from convoy.planner.issue_text import intake
from convoy.planner.tasklist import in_waves, plan_remarks
from convoy.rules import sub_issues
from convoy.rules.plans import PlanConvoy
from convoy.rules.sub_issues import list_fault, named_by
from convoy.text import convoy_name, counted, full_stop, inline
from convoy.text.project_tests import propose_ci


async def accept(draft: BotDraft, request: StartRequest) -> None:
    """Turn an issue into a convoy, or say why not. Safe to call twice.

    The label is removed when the request is accepted, so that a repeated delivery asks
    for nothing after the convoy has ended. A mention or assignment starts only an
    issue's first convoy.
    """
    if busy(draft.state, request.issue) or not _heeded(draft, request):
        return
    issue = await draft.bot.github.issue(request.issue)
    if NO_LABEL in issue.label_names:
        return
    if request.trigger == "label" and draft.bot.settings.label not in issue.label_names:
        return
    await start(draft, request, issue)


async def start(draft: BotDraft, request: StartRequest, issue: Issue) -> None:
    """Put the request to the rules; if it is refused, say why on the issue."""
    refused: str | None = phrase("edited-issue")
    draft.bot.memory.blocked.pop(request.issue, None)
    if not request.edited:
        refused = await begin(draft, request, issue)
    if refused is not None:
        await issue_intake.refuse(draft.bot, request, refused)


async def begin(draft: BotDraft, request: StartRequest, issue: Issue) -> str | None:
    """Put the request to the rules; return why it was refused, or None.

    The request brings title and text; of the current issue only the author is used.
    """
    state, is_scheduled = draft.state, request.trigger == "schedule"
    refused = await refusal(
        draft.bot, state, request.by, is_scheduled=is_scheduled
    ) or await issue_intake.waits_for_others(draft.bot, state, issue)
    if refused:
        return refused
    try:
        config = configuration(draft.bot)
    except ConfigError as error:
        return phrase("bad-configuration", error=error)
    author = issue.user.login if issue.user else ""
    words = await issue_intake.admitted(draft.bot, request, author)
    if isinstance(words, str):
        return words
    target = draft.bot.mirror.default_branch
    base = draft.refs[ids.HEADS + target]
    labels = await asyncio.to_thread(draft.bot.commits.box_labels, base)
    found = issue_intake.Listing()
    if request.pattern in ("", NO_PATTERN):
        found = await issue_intake.read_list(draft.bot, state, request, issue)
    listed = bool(found.listed or intake(words.text, labels).work.items)
    settings = _settings(draft.bot, config)
    settings = replace(settings, planner="") if listed else settings
    if request.plan_only:
        settings = replace(settings, approve="plan")
    # The requester's choice comes first. A task list comes before the configured
    # pattern: it is a person's plan.
    pattern = request.pattern or ("" if listed else config.mayor.pattern)
    if request.pattern == NO_PATTERN:
        pattern = ""
    asks = config.mayor.ask and not (listed or pattern)
    command = ConvoyRequested(
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
        listed=found.listed,
        named=named_by(found.listed),
    )
    if found.fault:
        return phrase("no-plan", error=found.fault)
    filled = await issue_intake.with_named_issues(draft.bot, draft.state, command)
    if isinstance(filled, str):
        return filled
    command = filled
    if why := (
        await planning_fault(draft.bot, command)
        or await issue_intake.asked_back(draft.bot, request, words, ask=asks)
    ):
        return why
    known = draft.state.convoys.summaries()
    is_first = all(each.issue != request.issue for _, each in known)
    forbidden = draft.submit(command)
    if forbidden:
        return forbidden.why
    if is_first and request.trigger == "label" and issue.comments:
        count = counted(issue.comments, "comment")
        said = phrase("comments-unread", comments=count)
        draft.say(command.issue, "comments", command.convoy, said)
    await warn(draft, command, found.remarks)
    return None


async def warn(
    draft: BotDraft, command: ConvoyRequested, remarks: tuple[str, ...] = ()
) -> None:
    """Say what will hardly work and what was left out, before the first task starts."""
    said = {"left out": notices.left_out(remarks) if remarks else ""}
    for what, warning in WARNINGS.items():
        said[what] = await warning(draft.bot, command)
    for what, text in said.items():
        if text:
            draft.say(command.issue, what, command.convoy, text)


def _settings(context: BotContext, config: Config) -> Settings:
    found, quota = config.settings(context.settings.cores), context.settings.quota
    return replace(found, tasks=min(found.tasks, quota.tasks)) if quota else found


def take_settings(draft: BotDraft) -> None:
    """Let a configuration that has changed count for the convoys under way.

    It is compared once a process and each time its file may have changed; safe to call
    again. A faulty one changes nothing: whoever asks for a convoy is told.
    """
    file = draft.bot.settings.config_file
    tip = draft.bot.mirror.refs.get(ids.HEADS + draft.bot.mirror.default_branch)
    changed = file.stat().st_mtime_ns if file is not None and file.exists() else 0
    if tip is None or draft.bot.memory.configured == (tip, changed):
        return
    try:
        config = configuration(draft.bot)
    except ConfigError:
        return
    settings = _settings(draft.bot, config)
    for convoy in [*draft.state.live()]:
        draft.submit(SettingsTaken(convoy=convoy.name, settings=settings))
    draft.bot.memory.configured = (tip, changed)


def follow_default_branch(draft: BotDraft) -> None:
    """Let convoys whose target was renamed land on it: it was the default branch."""
    target = draft.bot.mirror.default_branch
    if ids.HEADS + target not in draft.refs:
        return
    for convoy in [*draft.state.live()]:
        if convoy.given is None and ids.HEADS + convoy.target not in draft.refs:
            draft.submit(TargetRenamed(convoy=convoy.name, branch=target))


def _heeded(draft: BotDraft, request: StartRequest) -> bool:
    """Whether the configuration lets this request count; others get no answer."""
    config = usable_configuration(draft.bot)
    if config is None:
        return request.trigger == "label"  # it is told of the fault
    if request.trigger == "label":
        return True
    if request.bot and request.bot not in config.trust.bots:
        return False
    if any(of.issue == request.issue for _, of in draft.state.convoys.summaries()):
        return False
    if request.trigger == "assignee":
        return config.triggers.assignee
    named = mentioned(request.text, draft.bot.login) is not None
    return named and config.triggers.mention


def busy(state: State, issue: int) -> bool:
    return any(convoy.issue == issue for convoy in state.live())


async def refusal(
    context: BotContext, state: State, by: str, *, is_scheduled: bool = False
) -> str | None:
    """Return why nobody, or not this person, starts anything now; None: they may.

    The default branch speaks for what is scheduled.
    """
    if ids.HEADS + context.mirror.default_branch not in context.mirror.refs:
        return phrase("empty-repository")
    if not is_scheduled and not await context.github.may(by):
        return phrase("no-right", by=by)
    if context.settings.stopped:
        return phrase("bot-stopped")
    quota, now = context.settings.quota, context.clock()
    if quota is None:
        return None
    return quota_refusal(quota, state, by, context.elsewhere(), now)


def make_plan(draft: BotDraft, action: MakePlan) -> None:
    """Plan by the pattern, else by the issue's task list; fail the convoy on faults."""
    convoy, commits = draft.state.convoys[action.convoy], draft.bot.commits
    try:
        if convoy.pattern:
            plan = compiled_for(draft.bot, convoy)
            planner, tasks = f"pattern {convoy.pattern}", plan.tasks
            scopes, warnings = commits.scopes(convoy.base, tasks), plan.warnings
        else:
            planner = "sub-issues" if convoy.listed else "task list"
            tasks = renumbered(_planned(draft.bot, convoy), convoy.numbered)
            scopes = commits.scopes(convoy.base, tasks)
            warnings = commits.absent(convoy.base, scopes)
            if not convoy.listed:
                labels, of = commits.box_labels(convoy.base), convoy.settings
                remarks = plan_remarks(convoy.text, labels, of.tasks, of.engines)
                warnings = (*remarks, *warnings)
    except (PatternError, tasklist.PlanError) as error:
        draft.submit(ConvoyFailed(convoy=convoy.name, why=str(error)))
        return
    if convoy.mayor and not convoy.pattern:
        why = not_planned_by(convoy.settings.planner, convoy.mayor.why)
        planner = f"{planner}; {why}"
    plan_convoy = PlanConvoy(
        convoy=convoy.name,
        planner=planner,
        tasks=tasks,
        scopes=scopes,
        warnings=warnings,
    )
    refused = draft.submit(plan_convoy)
    if refused is not None and convoy.pattern:
        draft.submit(ConvoyFailed(convoy=convoy.name, why=refused.why))


def compiled_for(context: BotContext, wanted: ConvoyRequested | Convoy) -> Compiled:
    """Return the plan that a pattern makes; deterministic, blocking.

    Raises:
        PatternError: the pattern does not exist, or it or its inputs have faults.
    """
    template = context.commits.template(wanted.base, wanted.pattern)
    of = wanted.settings
    how = {"engines": of.engines, "limit": of.tasks, "require_ci": of.require_ci}
    return compiled(template, copied(Use, wanted, name=wanted.pattern, **how))


async def planning_fault(context: BotContext, wanted: ConvoyRequested) -> str | None:
    """Return why a convoy could not be planned; None: it can, or an engine plans it."""
    try:
        if wanted.pattern:
            await asyncio.to_thread(compiled_for, context, wanted)
        elif not wanted.settings.planner:
            await asyncio.to_thread(_planned, context, wanted)
    except PatternError as error:
        return str(error)
    except tasklist.PlanError as error:
        return phrase("no-plan", error=error)
    return None


def _planned(context: BotContext, of: ConvoyRequested | Convoy) -> tasklist.Plan:
    if of.listed:
        if fault := list_fault(of.listed):
            raise tasklist.PlanError(fault)
        tasks = sub_issues.planned(of.title, of.text, of.listed, of.named)
        return in_waves(tasks, of.settings.tasks)
    labels = context.commits.box_labels(of.base)
    engines, wave = of.settings.engines, of.settings.tasks
    quota = context.settings.quota
    most = min(MOST_TASKS, quota.tasks) if quota else MOST_TASKS
    return tasklist.plan(of.title, of.text, engines, wave, labels, most)


async def _missing_keys(context: BotContext, convoy: ConvoyRequested) -> str:
    """Name the missing secrets, if the bot may list those that are there."""
    repository, onlooker = context.settings.repository, context.onlooker
    names = await secret_names(onlooker, repository) if onlooker else None
    if names is None:
        return ""
    lacking = {
        name: engine.keys
        for name, engine in convoy.settings.engines.items()
        if engine.keys and names.isdisjoint(engine.keys)
    }
    return notices.keyless(lacking) if lacking else ""


async def _exposure(context: BotContext, convoy: ConvoyRequested) -> str:
    """Name what agents' code could reach; in local mode CI has nothing to reach."""
    if context.settings.sole:
        return ""
    files = await asyncio.to_thread(own_workflows, context, convoy.base)
    named = await asyncio.to_thread(workflows.environments_in, files)
    rest, repository = context.github.rest, context.settings.repository
    reachable = await open_environments(rest, repository, named) if named else named
    found = await asyncio.to_thread(workflows.exposures, files, "", reachable)
    return notices.exposed(found) if found else ""


def own_workflows(context: BotContext, commit: str) -> Mapping[str, str]:
    """Return the workflow files in a commit but brat's own, by name."""
    read = context.commits.text(commit)
    names = [
        path
        for path in map(PurePosixPath, context.commits.files(commit))
        if str(path.parent) == workflows.WORKFLOWS_FOLDER
        and path.suffix in {".yml", ".yaml"}
        and path.name not in workflows.OWN_FILES
    ]
    return {path.name: read(str(path)) for path in names[: workflows.MOST_FILES]}


def how_ci_starts(context: BotContext, target: str, commit: str) -> workflows.CiStart:
    """Return how CI starts on a commit that is to land on `target`; blocking.

    brat's own job runs only where no check is required by name, which would be another
    one, and only by the default branch's own text of the loop's file: on a candidate
    anybody's change to it would run with the loop's rights.
    """
    read, files = context.commits.text(commit), context.commits.files(commit)
    command, config = "", usable_configuration(context)
    rules = context.observed.rules.get(target)
    by_name = rules and rules.checks
    if config and not (config.settings().checks or by_name):
        path = f"{workflows.WORKFLOWS_FOLDER}/{context.settings.workflow}"
        tip = context.mirror.refs[ids.HEADS + context.mirror.default_branch]
        ours = read(path)
        if (
            workflows.takes_input(ours, "ci")
            and context.commits.text(tip)(path) == ours
        ):
            command = config.ci.typed or ""
            if not command and (found := propose_ci(files, read)):
                command = found.command
    own = own_workflows(context, commit)
    return workflows.ci_start(own, context.settings.ci_workflow or "", command)


async def _unstarted_ci(context: BotContext, convoy: ConvoyRequested) -> str:
    """Say what is missing where pushes start no CI: not for an App or a person."""
    named = context.settings.ci_workflow
    if named is None or not convoy.settings.require_ci:
        return ""
    if not named and context.login != JOB_LOGIN:
        return ""
    found = await asyncio.to_thread(how_ci_starts, context, convoy.target, convoy.base)
    return phrase("unstarted", fault=inline(found.fault)) if found.fault else ""


ACTIONS_APP_ID: Final = 15368
"""GitHub Actions itself, where a ruleset names who reports a check."""


async def _unreported(context: BotContext, convoy: ConvoyRequested) -> str:
    """Name the required checks that nothing here can report."""
    if context.settings.sole or not convoy.settings.require_ci:
        return ""
    rules = context.observed.rules.get(convoy.target)
    required = dict.fromkeys(
        (*convoy.settings.checks, *(rules.checks if rules else ()))
    )
    reporters = rules.reporters.items() if rules else ()
    named = {name: app for name, app in reporters if app != ACTIONS_APP_ID}
    seen = named | context.mirror.state.reporters | convoy.settings.reporters
    files = await asyncio.to_thread(own_workflows, context, convoy.base)
    unseen = [each for each in required if each not in seen]
    lacking, jobs = workflows.unreportable(files, unseen)
    said = [notices.unreported(lacking, jobs)] if lacking else []
    others = [each for each in required if each not in named]
    left_out = workflows.left_out_of_queue(files, others)
    if rules and rules.queue and left_out:
        said.append(notices.left_out_of_queue(left_out))
    if picky := workflows.left_out_by_paths(files, others):
        said.append(notices.left_out_by_paths(picky))
    return "\n\n".join(said)


FEW: Final = 0.25
"""Below this part of the hour's requests people are told."""


async def _loop_rights(context: BotContext, convoy: ConvoyRequested) -> str:
    """Name what a job of a workflow lacks: permissions, and requests."""
    if not context.settings.by_job:
        return ""
    file = context.settings.workflow

    def lacking() -> tuple[str, ...]:
        read = context.commits.text(convoy.base)
        return workflows.lacking_rights(read(f"{workflows.WORKFLOWS_FOLDER}/{file}"))

    named = f"(job {workflows.LOOP_JOBS[-1]} in {file})"
    found = [f"{each} {named}" for each in await asyncio.to_thread(lacking)]
    pace = context.github.rest.pace
    reset_ms = pace.unix_ms(pace.budget.resets_at) if pace.budget else 0
    few = scarce(pace.budget, reset_ms)
    said = [notices.hindered(found)] if found else []
    return "\n\n".join([*said, *map(full_stop, few)])


def scarce(known: RequestBudget | None, reset_ms: int) -> list[str]:
    """Return what is to be said of the requests that are left; pure."""
    if known is None or known.left >= known.limit * FEW:
        return []
    moment = datetime.fromtimestamp(reset_ms / 1000, UTC)
    said = (
        f"Jobs in this repository have {known.left} of {known.limit} hourly API "
        f"requests left, so brat will work more slowly until {moment:%H:%M} UTC"
    )
    return [said]


_Look = Callable[[BotContext, ConvoyRequested], Awaitable[str]]
WARNINGS: Final[Mapping[str, _Look]] = {
    "keys": _missing_keys,
    "exposed": _exposure,
    "unstarted": _unstarted_ci,
    "unreported": _unreported,
    "rights": _loop_rights,
}
"""What is looked at when a convoy begins; each says what is wrong, or nothing."""
