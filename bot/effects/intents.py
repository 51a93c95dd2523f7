"""Carries out announced actions (intents) on the forge by REST.

An intent that another process announced, or that was tried before, is first looked for
by its key: the answer to an earlier try may have been lost.
"""

from typing import assert_never

from bot.context.alone import note_failure
from bot.context.bot_context import BotContext
from bot.context.item_failures import Unsettled
from bot.context.retries import Try, another_try, failed_try
from bot.effects import notifications
from bot.effects.comment_body import comment_body
from bot.effects.forge_merges import ask_to_merge
from bot.effects.projections import comment_key, show
from bot.forge.rest import Refused
from bot.roles.tracked_issues import close_named
from bot.text.convoy_comment import with_box_note
from bot.text.pull_request_texts import convoy_pull_body, pull_title, task_pull_body
from bot.verbs.request_context import convoy_of
from convoy.events.forge_actions import NoteDone
from convoy.model import ids
from convoy.model.ids import action_item, show_item
from convoy.model.state import Convoy, Task, intent_item, may_try, set_aside
from convoy.model.work import Intent
from convoy.owed import SHOWN, CancelCi, CancelRun, Do, Effect, Show, Shown
from convoy.rules import head_branch
from grite.errors import Unavailable


async def perform(context: BotContext, effect: Effect) -> NoteDone | None:
    """Do one effect; return the note for the log, if there is one.

    Raises:
        Unavailable: the forge did not answer; the effect is tried again later.
        Refused: the forge said no.
    """
    match effect:
        case Do(intent=intent):
            number = await _unless_gone(context, intent)
            return NoteDone(key=intent.key, number=number)
        case CancelRun(run=run, force=force):
            await context.github.runs.cancel(run, force=force)
            return None
        case CancelCi(run=run):
            await context.github.runs.cancel(run)
            return None
        case Show(convoy=name, part=part):
            await _show(context, context.mirror.state.convoys[name], part)
            return None
        case _:
            assert_never(effect)


async def _unless_gone(context: BotContext, intent: Intent) -> int:
    """Do an announced action; 0: its issue is gone, and nothing else comes of it."""
    try:
        return await _do(context, intent)
    except Refused:
        convoy = context.mirror.state.convoys.get(intent.convoy)
        is_last = intent.kind == "answer" or (convoy is not None and convoy.ended)
        before = set_aside(context.mirror.state, intent_item(intent))
        if is_last and before is not None and before.is_given_up:
            return 0
        raise


async def _do(context: BotContext, intent: Intent) -> int:
    now = another_try(context, intent.key)
    try:
        number = await _try(context, intent, now)
    except Unsettled:
        raise
    except Unavailable:
        failed_try(context, intent.key)
        raise
    context.memory.tried.pop(intent.key, None)
    return number


async def _try(context: BotContext, intent: Intent, now: Try) -> int:
    if intent.kind == "answer":
        return await _answer(context, intent, now)
    convoy = context.mirror.state.convoys[intent.convoy]
    match intent.kind:
        case "dispatch":
            return await _dispatch(context, convoy, intent, now)
        case "pull":
            return await _pull(context, convoy, intent, now)
        case "land":
            return await ask_to_merge(context, convoy, intent)
        case "comment":
            return await _comment(context, convoy, now)
        case "finish":
            return await _finish(context, convoy, intent)
        case "notify":
            return await notifications.send(context, convoy, intent)
        case _:
            assert_never(intent.kind)


async def _dispatch(
    context: BotContext, convoy: Convoy, intent: Intent, now: Try
) -> int:
    task = convoy.in_session(intent.task)
    attempt = task.attempt if task else None
    if attempt is None or attempt.number != intent.attempt:
        return 0  # the attempt ended before it began: nothing to start
    if now.look and (run := await context.github.runs.named(attempt.nonce)):
        return run
    now.repeat()
    session = ids.session_name(convoy.name, intent.task, intent.attempt)
    inputs = {"session": session, "log": attempt.log, "nonce": attempt.nonce}
    started = await context.github.runs.start(context.mirror.default_branch, inputs)
    return started or await _found(context, attempt.nonce)


async def _found(context: BotContext, nonce: str) -> int:
    run = await context.github.runs.named(nonce)
    if run is None:
        raise Unavailable(f"the run named {nonce} is not listed yet")
    return run


async def _pull(context: BotContext, convoy: Convoy, intent: Intent, now: Try) -> int:
    task = convoy.task(intent.task)
    if task:
        head = ids.task_branch(convoy.name, task.number)
        base = ids.base_branch(convoy.name)
    else:
        head, base = head_branch(convoy), convoy.target
    found = await context.github.pulls.of(head, base) if now.look else None
    if found is not None and not found.merged_at:
        return found.number
    if task and _is_there(context, task, base):
        return 0
    now.repeat()
    title = pull_title(convoy, task)
    pages = context.settings.pages
    body = (
        task_pull_body(convoy, task, context.settings.web, pages)
        if task
        else convoy_pull_body(convoy, context.settings.web, pages)
    )
    return await context.github.pulls.open(title, body, head=head, base=base)


def _is_there(context: BotContext, task: Task, base: str) -> bool:
    """Whether a branch holds a task's work: the forge opens no pull request for it."""
    tip = context.mirror.refs.get(ids.HEADS + base, "")
    if task.state == "merged" and task.landed is None:
        return True
    if not tip or task.work is None:
        return False
    context.mirror.ensure([tip, task.work.commit])
    return context.composer.is_ancestor(task.work.commit, tip)


async def _comment(context: BotContext, convoy: Convoy, now: Try) -> int:
    if found := await _said(context, convoy.issue, now):
        return found
    body = comment_body(context, convoy)
    number = await context.github.say(convoy.issue, body)
    context.memory.shown[comment_key(convoy)] = body
    return number


async def _answer(context: BotContext, intent: Intent, now: Try) -> int:
    """React to a comment and post the reply; the comment may be gone."""
    if intent.reaction and intent.comment:
        await context.github.react(intent.comment, intent.reaction)
    if not intent.text:
        return intent.comment
    if found := await _said(context, intent.issue, now):
        return found
    convoy = convoy_of(context.mirror.state, intent.issue)
    text = with_box_note(intent.text, convoy)
    body = f"{ids.marker(intent.key)}\n{text}"
    return await context.github.say(intent.issue, body)


async def _said(context: BotContext, issue: int, now: Try) -> int | None:
    """Return the comment that an earlier try wrote; None: write it now."""
    if now.look and (said := await context.github.said(issue, now.key, context.login)):
        return said.id
    now.repeat()
    return None


async def _show(context: BotContext, convoy: Convoy, part: Shown) -> None:
    """Show a part; of a convoy that ended, the comment tells that it works again."""
    await show(context, convoy, part)
    if convoy.ended and part != "comment":
        works = frozenset({show_item(convoy.name, part)})
        await show(context, convoy, "comment", works)


async def _shown_last(
    context: BotContext, convoy: Convoy, part: Shown, works: frozenset[str]
) -> frozenset[str]:
    """Show a part for the last time; one that is refused is set aside by itself.

    Returns what works now, the part itself included if it does.
    """
    item = show_item(convoy.name, part)
    try:
        await show(context, convoy, part, works)
    except Refused as refused:
        note_failure(context, item, refused)
        return works
    context.memory.failures.worked(item, context.mirror.state)
    return works | {item}


async def _finish(context: BotContext, convoy: Convoy, intent: Intent) -> int:
    works = frozenset({action_item(intent.key)})
    for part in SHOWN:
        item = show_item(convoy.name, part)
        if may_try(context.mirror.state, item, context.clock()):
            works = await _shown_last(context, convoy, part, works)
    if convoy.state == "complete":
        await context.github.close_issue(convoy.issue, "completed")
        await close_named(context, convoy)
    return convoy.issue
