"""What is done to the forge by REST: announced actions, and what people are shown.

An announced action (an intent) that this process did not announce itself, or has tried
before, is looked for by its key first: the earlier try's answer may have been lost.
"""

from typing import Final, assert_never

from bot import checks, comment, notices
from bot.desk import Desk
from bot.forge.retrying import Try, Unsettled, another_try, failed_try
from bot.orders import boxes
from bot.packet import packet
from convoy import ids
from convoy.actions import CancelRun, Do, Effect, Show
from convoy.commands import NoteDone
from convoy.state import Convoy, Intent
from grite.errors import Unavailable

TICK_MS: Final = 600_000
"""How long a tick is kept that no delivery tells of; then it can be set again."""


def is_shown(desk: Desk, effect: Effect) -> bool:
    """Whether the effect only shows what the forge was last seen to show."""
    if not isinstance(effect, Show):
        return False
    convoy = desk.mirror.state.convoys[effect.convoy]
    if convoy.held == comment.NO:
        return True
    have, _ = comment.labels(convoy, desk.settings.label)
    if desk.shown.get(labels_key(convoy)) != have or checks.owed(desk, convoy):
        return False
    if convoy.comment is None:
        return True
    seen = desk.shown.get(_comment_of(convoy), "")
    if not isinstance(seen, str) or convoy.comment in desk.unticked:
        return seen is None
    return boxes.unticked(seen) == comment.convoy_comment(convoy)


async def perform(desk: Desk, effect: Effect) -> NoteDone | None:
    """Do one effect; return what is to be noted in the log, if anything.

    Raises:
        Unavailable: the forge did not answer; it is tried again later.
        Refused: the forge said no.
    """
    match effect:
        case Do(intent=intent):
            number = await _do(desk, intent)
            return NoteDone(key=intent.key, number=number)
        case CancelRun(run=run, force=force):
            await desk.github.runs.cancel(run, force=force)
            return None
        case Show(convoy=name):
            await show(desk, desk.mirror.state.convoys[name])
            return None
        case _:
            assert_never(effect)


async def _do(desk: Desk, intent: Intent) -> int:
    now = another_try(desk, intent.key)
    try:
        number = await _try(desk, intent, now)
    except Unsettled:
        raise
    except Unavailable:
        failed_try(desk, intent.key)
        raise
    desk.tried.pop(intent.key, None)
    return number


async def _try(desk: Desk, intent: Intent, now: Try) -> int:
    if intent.kind == "answer":
        return await _answer(desk, intent, now)
    convoy = desk.mirror.state.convoys[intent.convoy]
    match intent.kind:
        case "dispatch":
            return await _dispatch(desk, convoy, intent, now)
        case "pull":
            return await _pull(desk, convoy, intent, now)
        case "comment":
            return await _comment(desk, convoy, now)
        case "finish":
            return await _finish(desk, convoy)
        case "notify":
            return await notices.send(desk, convoy, intent)
        case _:
            assert_never(intent.kind)


async def _dispatch(desk: Desk, convoy: Convoy, intent: Intent, now: Try) -> int:
    task = convoy.in_session(intent.task)
    attempt = task.attempt if task else None
    if attempt is None or attempt.number != intent.attempt:
        return 0  # it ended before it began: nothing to start
    if now.look and (run := await desk.github.runs.named(attempt.nonce)):
        return run
    now.repeat()
    session = ids.session_name(convoy.name, intent.task, intent.attempt)
    inputs = {"session": session, "log": attempt.log, "nonce": attempt.nonce}
    started = await desk.github.runs.start(desk.mirror.default_branch, inputs)
    return started or await _found(desk, attempt.nonce)


async def _found(desk: Desk, nonce: str) -> int:
    run = await desk.github.runs.named(nonce)
    if run is None:
        raise Unavailable(f"the run named {nonce} is not listed yet")
    return run


async def _pull(desk: Desk, convoy: Convoy, intent: Intent, now: Try) -> int:
    task = convoy.task(intent.task)
    if task:
        head = ids.task_branch(convoy.name, task.number)
        base = ids.base_branch(convoy.name)
    else:
        head, base = ids.base_branch(convoy.name), convoy.target
    if now.look and (found := await desk.github.pull_of(head, base)):
        return found.number
    now.repeat()
    title = comment.pull_title(convoy, task)
    pages = desk.settings.pages
    body = (
        comment.pull_body(convoy, task) if task else packet(convoy, _web(desk), pages)
    )
    return await desk.github.open_pull(title, body, head=head, base=base)


def _web(desk: Desk) -> str:
    """Return where people look at the repository; a forge on loopback has no pages."""
    settings = desk.settings
    return "" if settings.sole else f"{settings.git_url}/{settings.repository}"


async def _comment(desk: Desk, convoy: Convoy, now: Try) -> int:
    if found := await _said(desk, convoy.issue, now):
        return found
    body = comment.convoy_comment(convoy)
    number = await desk.github.say(convoy.issue, body)
    desk.shown[_comment_of(convoy)] = body
    return number


async def _answer(desk: Desk, intent: Intent, now: Try) -> int:
    """React to a comment and say what is to be said; a comment that is gone is fine."""
    if intent.reaction and intent.comment:
        await desk.github.react(intent.comment, intent.reaction)
    if not intent.text:
        return intent.comment
    if found := await _said(desk, intent.issue, now):
        return found
    body = f"{ids.marker(intent.key)}\n{intent.text}"
    return await desk.github.say(intent.issue, body)


async def _said(desk: Desk, issue: int, now: Try) -> int | None:
    """Return the comment that an earlier try wrote; None: it is to be written."""
    if now.look and (said := await desk.github.said(issue, now.key, desk.login)):
        return said.id
    now.repeat()
    return None


async def _finish(desk: Desk, convoy: Convoy) -> int:
    await show(desk, convoy)
    if convoy.state == "complete":
        await desk.github.close_issue(convoy.issue, "completed")
    return convoy.issue


async def show(desk: Desk, convoy: Convoy) -> None:
    """Bring the convoy's comment, checks and labels up to date; idempotent.

    Writes only what differs from what the forge was last seen to show.
    """
    if convoy.held == comment.NO:
        return
    await _show_labels(desk, convoy)
    await checks.show(desk, convoy)
    if convoy.comment is not None:
        await _show_comment(desk, convoy, convoy.comment)


async def _show_comment(desk: Desk, convoy: Convoy, number: int) -> None:
    """Edit the comment, but never over a tick that nobody has heard of yet."""
    key = _comment_of(convoy)
    if desk.shown.get(key, "") is None:
        return  # a person deleted it
    stands = await desk.github.comment(number)
    if stands is not None:
        body = comment.convoy_comment(convoy, _unheard(desk, number, stands))
        if stands != body:
            await desk.github.edit_comment(number, body)
        stands = body
    desk.shown[key] = stands
    for box in desk.unticked.pop(number, set()):
        desk.ticks.pop((number, box), None)


def _unheard(desk: Desk, number: int, text: str) -> frozenset[str]:
    """Return the ticks whose delivery, which says whose they are, is under way."""
    now, heard = desk.clock(), desk.unticked.get(number, set())
    return frozenset(
        box
        for box in boxes.ticked_in(text) - heard
        if now - desk.ticks.setdefault((number, box), now) < TICK_MS
    )


async def _show_labels(desk: Desk, convoy: Convoy) -> None:
    key = labels_key(convoy)
    have, have_not = comment.labels(convoy, desk.settings.label)
    if desk.shown.get(key) == have:
        return
    present = (await desk.github.issue(convoy.issue)).label_names
    if isinstance(before := desk.shown.get(key), set):
        present = (present | before) - have  # a late look need not show our own writes
    await desk.github.relabel(convoy.issue, have - present, have_not & present)
    desk.shown[key] = have


def labels_key(convoy: Convoy) -> str:
    """Return under what name the desk keeps which labels the issue was seen to have."""
    return f"labels:{convoy.name}"


def _comment_of(convoy: Convoy) -> str:
    return f"comment:{convoy.name}"
