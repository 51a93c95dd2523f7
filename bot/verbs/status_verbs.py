"""`status`, `why`, `logs`, `cost` and `ping`: the verbs that only read."""

from typing import Final

from bot import VERSION
from bot.verbs.arguments import TASK
from bot.verbs.request_context import RequestContext
from bot.verbs.verb import NotPossible, Verb
from convoy.model.session_result import usage_in_words
from convoy.model.state import Task, shown_asides
from convoy.rules.starting import valid_leases
from convoy.text import counted, inline
from convoy.views.plan import approval, edge_words
from convoy.views.reasons import waits_for


def _status(context: RequestContext) -> str:
    from bot.text.convoy_comment import convoy_table

    convoy = context.convoy
    asides = shown_asides(context.draft.state, convoy.name)
    return convoy_table(convoy, asides, web=context.bot.settings.web)


def _plan(context: RequestContext) -> str:
    """Show the plan whole, as far as an answer may be long."""
    from bot.text.plan_section import plan_section

    convoy = context.convoy
    if not convoy.tasks:
        raise NotPossible(f"{convoy.name} has no plan yet")
    said = approval(convoy)
    waits = [f"**It waits for approval:** {said}."] if said else []
    return "\n".join((*plan_section(convoy, PLAN_CHARS), *waits))


def _why(context: RequestContext, *, task: int) -> str:
    """Say what a task waits for, and what happened to it."""
    found = _task(context, task)
    lines = [
        f"Task {task} is {found.state}, after {counted(found.started, 'attempt')}."
    ]
    leases = valid_leases(context.draft.state, context.draft.now)
    if waits := waits_for(context.convoy, found, leases):
        lines.append(f"It waits for {inline(waits)}.")
    lines += [f"- {inline(edge)}" for edge in edge_words(found.spec)]
    lines += [f"- {inline(note)}" for note in found.notes]
    return "\n".join(lines)


def _logs(context: RequestContext, *, task: int) -> str:
    """Link the output of a task's sessions, the newest first."""
    runs = _task(context, task).runs
    if not runs:
        raise NotPossible(f"task {task} has had no session yet")
    settings = context.bot.settings
    url = f"{settings.git_url}/{settings.repository}/actions/runs"
    lines = [f"- [run {run}]({url}/{run})" for run in reversed(runs)]
    return "\n".join((f"The sessions of task {task}, newest first:", *lines))


def _cost(context: RequestContext) -> str:
    convoy, now = context.convoy, context.draft.now
    tasks = convoy.spenders
    running = [now - task.attempt.at for task in tasks if task.attempt]
    worked_ms = sum(task.worked_ms for task in tasks) + sum(running)
    attempts = counted(sum(task.started for task in tasks), "attempt")
    minutes = max(0, worked_ms) / 60_000
    said = usage_in_words(convoy.used)
    ended = f"Those that have ended used {said}." if said else _NOT_SAID
    return (
        f"`{convoy.name}` took {attempts} and {minutes:.1f} minutes of "
        f"sessions so far. {ended}"
    )


def _ping(context: RequestContext) -> str:
    return f"{context.bot.login} is here, version {VERSION}."


def _task(context: RequestContext, number: int) -> Task:
    convoy = context.convoy
    task = convoy.task(number)
    if task is None:
        raise NotPossible(f"{convoy.name} has no task {number}")
    return task


PLAN_CHARS: Final = 20_000
"""The longest plan in an answer; a comment may have more of them."""
_NOT_SAID: Final = "No engine has said yet what it used."

VERBS: Final = (
    Verb(
        name="status",
        right="read",
        help="Shows where the convoy and its tasks stand.",
        rule=_status,
        asks=True,
        brief="This comment shows where everything stands.",
    ),
    Verb(
        name="plan",
        right="read",
        help="Shows the plan: what each task does, touches, waits for and may take, "
        "and what of the issue no task does.",
        rule=_plan,
        asks=True,
        brief="This comment shows the plan, folded.",
    ),
    Verb(
        name="why",
        right="read",
        words=(TASK,),
        help="Says what a task waits for, and why it is where it is.",
        rule=_why,
        asks=True,
    ),
    Verb(
        name="logs",
        words=(TASK,),
        help="Links what a task's sessions printed.",
        rule=_logs,
        asks=True,
    ),
    Verb(
        name="cost",
        help="Says what the convoy has cost, as far as that is known.",
        rule=_cost,
        asks=True,
    ),
    Verb(
        name="ping",
        right="read",
        help="Answers with the bot's version, when it is there.",
        rule=_ping,
        asks=True,
    ),
)
