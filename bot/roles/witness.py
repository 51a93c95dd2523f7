"""The witness's side in the bot: starts attempts, and fetches their artifacts.

An attempt that makes earlier work fit what has landed since starts from the branch's
tip with that work merged in and git's conflict markers left, and is told what both
sides were for and did. What it makes is one commit on that tip: the merge with the
markers is in no history.
"""

import secrets
from http import HTTPStatus
from typing import Final

from bot.forge.rest import Refused
from bot.repository.compose import Piece
from bot.roles import refinery
from bot.roles.bot_context import BotContext, BotDraft
from bot.roles.result_artifact import ARTIFACT
from bot.text import merge_texts, notices
from bot.text.merge_texts import DIFF_CHARS
from convoy.answers import ANSWERS, Question
from convoy.events import copied
from convoy.events.people_events import ConvoyPaused
from convoy.kinds import half_done, kind_of, unmerged
from convoy.model.state import Convoy, Task
from convoy.model.work import Resolution
from convoy.owed import Begin, Collect, Pause
from convoy.rules.landing import open_candidates
from convoy.rules.starting import StartTask
from convoy.text import inert

_TOO_LARGE: Final = HTTPStatus.REQUEST_ENTITY_TOO_LARGE
_FOR_GOOD: Final = frozenset({HTTPStatus.GONE, _TOO_LARGE})


def begin(draft: BotDraft, action: Begin) -> None:
    """Start the next attempt; the dispatch follows once the log holds it."""
    convoy = draft.state.convoys[action.convoy]
    task = convoy.in_session(action.task)
    session = secrets.token_hex(16)
    base, merge = action.base, ""
    resolves = None
    earlier = (task.earlier, half_done(convoy, task)) if task is not None else ()
    # An attempt may start from the merge of both tips, not from earlier work. The tips
    # are the draft's own: one of them may move in this very push.
    is_fresh = base not in {work.commit for work in earlier if work}
    if task is not None and is_fresh and kind_of(task.spec).takes_target_in:
        logged = draft.bot.mirror.state.convoys.get(convoy.name)
        if logged is None or logged.task(task.number) is None:
            return  # a refused ref of its could not be noted: the next push starts it
        branch = task.spec.takes or convoy.target
        base = merge = refinery.unresolved_merge(draft, convoy, branch)
    elif task is not None:
        resolves = resolution(draft.bot, convoy, task, base)
        if resolves is not None and base == resolves.tip:
            base = merge = resolves.merge
    brief = ""
    if task and (answering := ANSWERS.get(kind_of(task.spec).name)):
        question = Question(
            state=draft.state,
            convoy=convoy,
            task=task,
            session=session,
            repository=draft.bot.commits,
        )
        brief = answering.told(question)
    start = copied(
        StartTask,
        action,
        base=base,
        session=session,
        nonce=secrets.token_hex(8),
        now=draft.now,
        brief=brief,
        resolves=resolves,
    )
    refused = draft.submit(start)
    kept = merge
    if not kept and base in {each.commit for each in open_candidates(convoy)}:
        kept = base  # its branch may go at any time
    if kept:
        draft.bot.mirror.ensure([kept])
    if task is not None and kept and refused is None:  # so that the runner gets it
        draft.keep(convoy.name, task.number, task.started + 1, kept)


def pause(draft: BotDraft, action: Pause) -> None:
    convoy = draft.state.convoys[action.convoy]
    pause = ConvoyPaused(convoy=convoy.name, by=draft.bot.login, why=action.why)
    if draft.submit(pause) is None and action.tell:
        by, why = convoy.vouched_by or convoy.by, action.why
        text = notices.STOPPED_ALL.format(by=by, why=why)
        draft.say(convoy.issue, "breaker", f"{convoy.name}/{draft.now}", text)


def note_heard(draft: BotDraft) -> None:
    """Submit what running sessions told the feed and the log does not hold yet."""
    if draft.bot.feed is None:
        return
    for heard in draft.bot.feed.owed():
        draft.submit(heard)


async def fetch(context: BotContext, action: Collect) -> bytes | str | None:
    """Return a run's artifact, or why it has none; None: it may still come."""
    try:
        data = await context.github.runs.artifact(action.run, ARTIFACT)
    except Refused as refused:
        if refused.status in _FOR_GOOD:
            return refused.said if refused.status == _TOO_LARGE else str(refused)
        raise  # not the attempt's fault: its work waits until the forge hands it over
    if data is not None:
        return data
    now = context.clock()
    ended = context.memory.ended.setdefault(action.run, now)
    return LOST if now - ended >= context.settings.artifact_grace_s * 1000 else None


LOST: Final = "the session ended without a result: its machine or its witness died"


def resolution(
    context: BotContext, convoy: Convoy, task: Task, base: str
) -> Resolution | None:
    """Return what the next attempt makes fit; None: nothing; blocking.

    `base` is the branch's tip, or the half-done work that the attempt continues.
    """
    found, left = unmerged(convoy, task), half_done(convoy, task)
    if found is None:
        return None
    if left is None or base != left.commit:
        context.mirror.ensure([base, found.commit, found.base])
        message = inert(merge_texts.work_merge(convoy, task))
        piece = copied(Piece, found, work=found.commit, onto=base, message=message)
        merge, tip = context.composer.unresolved(piece), base
    elif found.merge and left.ground == found.merge:
        merge, tip = found.merge, left.base
    else:
        return None
    commits, paths = context.commits, found.paths
    fork = context.composer.base_of(found.base, tip) or found.base
    landed = commits.landed(fork, tip, paths)
    others = (
        other
        for other in convoy.tasks
        if other.landed in landed
        or (other.work is not None and {*other.work.files} & {*paths} and other.landed)
    )
    told = merge_texts.conflict_text(
        paths=paths,
        commits=[commits.subject(each) for each in landed],
        others=sorted(others, key=lambda task: task.ended_at, reverse=True),
        landed=commits.diff(fork, tip, DIFF_CHARS, paths),
        own=commits.diff(found.base, found.commit, DIFF_CHARS, paths),
    )
    return Resolution(attempt=found.attempt, merge=merge, tip=tip, told=told)
