"""The witness's side in the bot: starts attempts and fetches what they leave.

What is fetched is taken in by bot/roles/handin.py.
"""

import secrets
from http import HTTPStatus
from typing import Final

from bot.desk import Desk
from bot.forge.rest import Refused
from bot.orders import replies
from bot.repository.draft import Draft
from bot.roles import intake, planning
from bot.roles.handin import LOST
from convoy import ids
from convoy.actions import Begin, Collect, Defer, Pause
from convoy.commands import Answer, DeferTask, PauseConvoy, StartTask
from convoy.patterns import choice, review
from convoy.rivals import left
from convoy.state import Convoy, Task
from convoy.text.fence import fence_of
from grite.errors import Unavailable

_FOR_GOOD: Final = frozenset({HTTPStatus.GONE, HTTPStatus.REQUEST_ENTITY_TOO_LARGE})


def begin(desk: Desk, draft: Draft, action: Begin) -> None:
    """Start the next attempt; the dispatch follows once the log holds it."""
    session = secrets.token_hex(16)
    draft.submit(
        StartTask(
            convoy=action.convoy,
            task=action.task,
            base=action.base,
            session=session,
            nonce=secrets.token_hex(8),
            now=draft.now,
            brief=_brief(desk, draft.state.convoys[action.convoy], action, session),
        )
    )


def _brief(desk: Desk, convoy: Convoy, action: Begin, session: str) -> str:
    """Return what a session that judges others' work is told of it; else nothing."""
    task = convoy.task(action.task)
    if task is not None and task.spec.kind == "split":
        return planning.told_to_split(desk, convoy, task, session)
    if task is not None and task.spec.kind == "choice":
        return _compared(desk, convoy, task, session)
    if task is None or task.spec.kind != "review":
        return ""
    subject = convoy.task(task.spec.on[0])
    if subject is None or subject.work is None:
        return ""
    work = subject.work
    diff = desk.mirror.diff(work.base, work.commit, review.DIFF_CHARS)
    return review.brief(subject, diff, fence_of(session))


def _compared(desk: Desk, convoy: Convoy, task: Task, session: str) -> str:
    """Return what a choice is told of the rivals that it may choose."""
    found = left(convoy, task)
    most = choice.room(found)
    shown = [
        (rival, desk.mirror.diff(rival.work.base, rival.work.commit, most))
        for rival in found
        if rival.work is not None
    ]
    return choice.brief(shown, fence_of(session)) if shown else ""


def pause(desk: Desk, draft: Draft, action: Pause) -> None:
    """Stop what keeps failing, and tell who wanted it."""
    convoy = draft.state.convoys[action.convoy]
    refused = draft.submit(
        PauseConvoy(convoy=convoy.name, by=desk.login, why=action.why)
    )
    if refused is None and action.tell:
        sign = ids.sign_key("breaker", f"{convoy.name}/{draft.now}")
        text = replies.stopped_all(convoy.vouched_by or convoy.by, action.why)
        draft.submit(Answer(issue=convoy.issue, sign=sign, text=text))


def note(desk: Desk, draft: Draft) -> None:
    """Note what running sessions told the feed, where the log does not say it yet."""
    if desk.feed is None:
        return
    for heard in desk.feed.owed():
        draft.submit(heard)


def defer(draft: Draft, action: Defer) -> None:
    """Let a task wait for the next day's money."""
    command = DeferTask(
        convoy=action.convoy, task=action.task, until=action.until, why=action.why
    )
    draft.submit(command)


async def fetch(desk: Desk, action: Collect) -> bytes | str | None:
    """Return the artifact of a run, why there is none, or None: it may still come."""
    try:
        data = await desk.github.runs.artifact(action.run, intake.ARTIFACT)
    except Refused as refused:
        if refused.status in _FOR_GOOD:
            return str(refused)
        # Not the attempt's fault: it keeps its work until the forge hands it over.
        raise Unavailable(str(refused)) from refused
    if data is not None:
        return data
    now = desk.clock()
    ended = desk.ended.setdefault(action.run, now)
    return LOST if now - ended >= desk.settings.artifact_grace_s * 1000 else None
