"""The witness's side in the bot: starts attempts and fetches their artifacts.

bot/roles/handin.py takes the artifacts in.
"""

import secrets
from http import HTTPStatus
from typing import Final

from bot.context.bot_context import BotContext
from bot.forge.rest import Refused
from bot.repository.draft import Draft
from bot.roles import result_artifact, target_merges
from bot.roles.conflict_resolution import resolution
from bot.roles.ended_attempt import LOST
from bot.text import notices
from convoy.answers import ANSWERS
from convoy.answers.answering import Question
from convoy.events.forge_actions import Answer
from convoy.events.people_events import PauseConvoy
from convoy.kinds import half_done, kind_of
from convoy.model import ids
from convoy.model.state import Convoy, State, Task
from convoy.owed import Begin, BeginPlan, Collect, Defer, Pause, Split
from convoy.rules.landing import open_candidates
from convoy.rules.people import DeferTask
from convoy.rules.plan_changes import BeginSplit
from convoy.rules.starting import StartPlanning, StartTask

_FOR_GOOD: Final = frozenset({HTTPStatus.GONE, HTTPStatus.REQUEST_ENTITY_TOO_LARGE})


def begin(context: BotContext, draft: Draft, action: Begin) -> None:
    """Start the next attempt; the dispatch follows once the log holds it."""
    convoy = draft.state.convoys[action.convoy]
    task = convoy.task(action.task)
    session = secrets.token_hex(16)
    base, merge = action.base, ""
    resolves = None
    if task is not None and _merges_tips(convoy, task, base):
        if not _is_logged(context, convoy.name, task.number):
            return  # a refused ref of its could not be noted: the next push starts it
        base = merge = target_merges.unresolved(context, draft, convoy)
    elif task is not None:
        resolves = resolution(context, convoy, task, base)
        if resolves is not None and base == resolves.tip:
            base = merge = resolves.merge
    refused = draft.submit(
        StartTask(
            convoy=action.convoy,
            task=action.task,
            base=base,
            session=session,
            nonce=secrets.token_hex(8),
            now=draft.now,
            brief=_brief(context, draft.state, convoy, task, session) if task else "",
            resolves=resolves,
        )
    )
    kept = merge or _candidate(convoy, base)
    if kept:
        context.mirror.ensure([kept])
    if task is not None and kept and refused is None:  # so that the runner gets it
        draft.keep(convoy.name, task.number, task.started + 1, kept)


def _merges_tips(convoy: Convoy, task: Task, base: str) -> bool:
    """Whether an attempt starts from the merge of both tips, not from earlier work.

    The tips are the draft's own: one of them may move in this very push.
    """
    own = {work.commit for work in (task.earlier, half_done(convoy, task)) if work}
    return kind_of(task.spec).takes_target_in and base not in own


def _candidate(convoy: Convoy, base: str) -> str:
    """Return the base if it is a candidate, whose branch may go at any time."""
    return base if base in {c.commit for c in open_candidates(convoy)} else ""


def _is_logged(context: BotContext, convoy: str, task: int) -> bool:
    """Whether the log has the task, and not just this draft."""
    known = context.mirror.state.convoys.get(convoy)
    return known is not None and known.task(task) is not None


def begin_plan(context: BotContext, draft: Draft, action: BeginPlan) -> None:
    """Begin the next attempt of task 0; blocking."""
    convoy = draft.state.convoys[action.convoy]
    session, plan = secrets.token_hex(16), convoy.mayor
    draft.submit(
        StartPlanning(
            convoy=convoy.name,
            brief=_brief(context, draft.state, convoy, plan, session) if plan else "",
            session=session,
            nonce=secrets.token_hex(8),
            now=draft.now,
        )
    )


def split(draft: Draft, action: Split) -> None:
    """Let an engine split a task that was too much for one agent."""
    draft.submit(BeginSplit(convoy=action.convoy, task=action.task))


def _brief(
    context: BotContext, state: State, convoy: Convoy, task: Task, session: str
) -> str:
    """Return the brief of an answering session; empty if the task's kind has none."""
    answering = ANSWERS.get(kind_of(task.spec).name)
    if answering is None:
        return ""
    question = Question(
        state=state,
        convoy=convoy,
        task=task,
        session=session,
        repository=context.commits,
    )
    return answering.told(question)


def pause(context: BotContext, draft: Draft, action: Pause) -> None:
    """Pause a convoy that keeps failing, and tell the person who answers for it."""
    convoy = draft.state.convoys[action.convoy]
    refused = draft.submit(
        PauseConvoy(convoy=convoy.name, by=context.login, why=action.why)
    )
    if refused is None and action.tell:
        sign = ids.sign_key("breaker", f"{convoy.name}/{draft.now}")
        text = notices.stopped_all(convoy.vouched_by or convoy.by, action.why)
        draft.submit(Answer(issue=convoy.issue, sign=sign, text=text))


def note(context: BotContext, draft: Draft) -> None:
    """Submit what running sessions told the feed and the log does not hold yet."""
    if context.feed is None:
        return
    for heard in context.feed.owed():
        draft.submit(heard)


def defer(draft: Draft, action: Defer) -> None:
    """Let a task wait for the next day's budget."""
    command = DeferTask(
        convoy=action.convoy, task=action.task, until=action.until, why=action.why
    )
    draft.submit(command)


async def fetch(context: BotContext, action: Collect) -> bytes | str | None:
    """Return a run's artifact, or why it has none; None: it may still come."""
    try:
        data = await context.github.runs.artifact(action.run, result_artifact.ARTIFACT)
    except Refused as refused:
        if refused.status in _FOR_GOOD:
            return str(refused)
        raise  # not the attempt's fault: its work waits until the forge hands it over
    if data is not None:
        return data
    now = context.clock()
    ended = context.memory.ended.setdefault(action.run, now)
    return LOST if now - ended >= context.settings.artifact_grace_s * 1000 else None
