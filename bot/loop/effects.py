"""Carries out announced actions (intents) on the forge.

An intent that another process announced, or that was tried before, is first looked for
by its key: the answer to an earlier try may have been lost.

What people see of a convoy, its comment, its labels and its checks, are projections of
the log: each is written only when it differs from what the forge was last seen to show.
A check takes two writes: there is one on each accepted attempt's work, and one on the
convoy's branch when it is offered to its target. Checks of brat judge nothing, and
nothing waits for them.
"""

import asyncio
from functools import partial
from typing import Final, assert_never

from bot.forge.checks import CheckView
from bot.forge.rest import ABSENT, Refused, Unless
from bot.repository.strangers_commits import EXAMINERS
from bot.requests.answers import check_views, convoy_comment
from bot.requests.verb import convoy_of
from bot.roles.bot_context import (
    BotContext,
    Try,
    another_try,
    note_failure,
    quiet_try,
    tried,
    trying,
    usable_configuration,
)
from bot.roles.issue_intake import close_named, open_named
from bot.text import merge_texts, replies
from bot.text.convoy_comment import labels_key, wanted_labels, with_box_note
from bot.text.pull_request_texts import (
    convoy_pull_body,
    pull_title,
    required_views,
    task_pull_body,
)
from bot.text.slash_commands import ticked_in, unticked
from convoy.events.forge_actions import ActionDone
from convoy.events.hold_events import NO_LABEL
from convoy.events.people_events import lacking_approvals
from convoy.model import ids
from convoy.model.state import Convoy, Task
from convoy.model.work import Intent, Landing
from convoy.owed import SHOWN, CancelRun, Do, Effect, Show, Shown
from convoy.rules.starting import moment
from grite.errors import Unavailable


async def carry_out_effect(context: BotContext, effect: Effect) -> ActionDone | None:
    match effect:
        case Do(intent=intent):
            return ActionDone(key=intent.key, number=await _do(context, intent))
        case CancelRun(run=run, force=force):
            await context.github.runs.cancel(run, force=force)
        case Show(convoy=name, part=part):
            convoy = context.state.convoys[name]
            if context.troubles.keep_back(ids.item("show", name, part)):
                return None  # it was tried with another part
            await show_part(context, convoy, part)
            if convoy.ended and part != "comment":  # it tells that this works again
                works = frozenset({ids.item("show", name, part)})
                tell = partial(show_part, context, convoy, "comment", works)
                await tried(context, ids.item("show", name, "comment"), tell)
        case _:
            assert_never(effect)
    return None


async def _do(context: BotContext, intent: Intent) -> int:
    """Do an announced action; 0: its issue is gone, and nothing else comes of it."""
    now = another_try(context, intent.key)
    try:
        with trying(context, intent.key):
            number = await _try(context, intent, now)
    except Refused:
        convoy = context.state.convoys.get(intent.convoy)
        is_last = intent.kind == "answer" or (convoy is not None and convoy.ended)
        before = context.state.aside_of(intent.item)
        if is_last and before is not None and before.is_given_up:
            return 0
        raise
    context.memory.tried.pop(intent.key, None)
    return number


async def _try(context: BotContext, intent: Intent, now: Try) -> int:
    if intent.kind == "answer":
        return await _answer(context, intent, now)
    convoy = context.state.convoys[intent.convoy]
    match intent.kind:
        case "dispatch":
            return await _dispatch(context, convoy, intent, now)
        case "pull":
            return await _pull(context, convoy, intent, now)
        case "land":
            return await ask_to_merge(context, convoy, intent)
        case "comment":
            if found := await _said(context, convoy.issue, now):
                return found
            body = comment_body(context, convoy)
            number = await context.github.say(convoy.issue, body)
            key = ids.comment_key(convoy.name, convoy.deleted_comments)
            context.memory.shown[key] = body
            return number
        case "finish":
            return await _finish(context, convoy, intent)
        case "thread":
            return await _answer_thread(context, intent)
        case "issue":
            return await open_named(context, convoy, intent.task, now)
        case "notify":
            return 0  # an earlier version announced it
        case _:
            assert_never(intent.kind)


async def _dispatch(
    context: BotContext, convoy: Convoy, intent: Intent, now: Try
) -> int:
    task = convoy.in_session(intent.task)
    attempt = task.attempt if task else None
    if attempt is None or attempt.number != intent.attempt:
        return 0  # the attempt ended before it began: nothing to start
    runs = context.github.runs
    if now.look and (known := await runs.named(attempt.nonce)):
        return known
    now.repeat()
    session = ids.session_name(convoy.name, intent.task, intent.attempt)
    inputs = {"session": session, "log": attempt.log, "nonce": attempt.nonce}
    run = await runs.start(context.mirror.default_branch, inputs)
    run = run or await runs.named(attempt.nonce)
    if run is None:
        raise Unavailable(f"the forge does not list the run {attempt.nonce} yet")
    if intent.task:  # its work is examined when it ends
        await asyncio.to_thread(EXAMINERS.begin)
    return run


async def _pull(context: BotContext, convoy: Convoy, intent: Intent, now: Try) -> int:
    task = convoy.task(intent.task)
    if task:
        head = ids.task_branch(convoy.name, task.number)
        base = ids.base_branch(convoy.name)
    else:
        head, base = ids.base_branch(convoy.name), convoy.target
    found = await context.github.pulls.of(head, base) if now.look else None
    if found is not None and not found.merged_at:
        return found.number
    if task and _is_there(context, task, head, base):
        # A person merged it before it was noted; work that is to come needs another.
        return found.number if found and task.work else 0
    now.repeat()
    title = pull_title(convoy, task)
    pages = context.settings.pages
    body = (
        task_pull_body(convoy, task, context.settings.web, pages)
        if task
        else convoy_pull_body(convoy, context.settings.web, pages)
    )
    draft = task is not None and not lacking_approvals(convoy, task)
    return await context.github.pulls.open(
        title, body, head=head, base=base, draft=draft
    )


def _is_there(context: BotContext, task: Task, head: str, base: str) -> bool:
    """Whether a branch holds a task's work: the forge opens no pull request for it."""
    tip = context.mirror.refs.get(ids.HEADS + base, "")
    if task.state == "merged" and task.landed is None:
        return True
    work = task.work.commit if task.work else context.mirror.refs.get(ids.HEADS + head)
    if not tip or work is None:
        return False
    context.mirror.ensure([tip, work])
    return context.composer.is_ancestor(work, tip)


async def _answer(context: BotContext, intent: Intent, now: Try) -> int:
    """React to a comment and post the reply; the comment may be gone."""
    if intent.reaction and intent.comment:
        await context.github.react(intent.comment, intent.reaction)
    if not intent.text:
        return intent.comment
    if found := await _said(context, intent.issue, now):
        return found
    convoy = convoy_of(context.state, intent.issue)
    text = with_box_note(intent.text, convoy)
    body = f"{ids.marker(intent.key)}\n{text}"
    return await context.github.say(intent.issue, body)


async def _answer_thread(context: BotContext, intent: Intent) -> int:
    """Answer what was said of a line, and resolve it; 0: it is gone. Safe to repeat."""
    pulls = context.github.pulls
    threads = await pulls.threads(intent.issue)
    found = next((t for t in threads if t.comments[0].id == intent.comment), None)
    if found is None:
        return 0
    config = usable_configuration(context)
    is_done = intent.reaction != "confused"
    may_resolve = found.comments[0].is_bots or (config and config.review.resolve)
    own = (each for each in found.comments if each.by == context.login)
    number = next((e.id for e in own if intent.key in ids.keys_in(e.body)), 0)
    if not number:
        text = replies.of_thread(intent.text, is_done=is_done)
        body = f"{ids.marker(intent.key)}\n{text}"
        number = await pulls.reply(intent.issue, intent.comment, body)
    if is_done and may_resolve and not found.is_resolved:
        await pulls.resolve(found.id)
    return number


async def _said(context: BotContext, issue: int, now: Try) -> int | None:
    if now.look and (said := await context.github.said(issue, now.key, context.login)):
        return said.id
    now.repeat()
    return None


async def _finish(context: BotContext, convoy: Convoy, intent: Intent) -> int:
    works = frozenset({ids.item("action", intent.key)})
    for part in SHOWN:
        item = ids.item("show", convoy.name, part)
        if not context.state.may_try(item, context.clock()):
            continue
        try:
            await show_part(context, convoy, part, works)
        except Refused as refused:  # it is set aside by itself
            note_failure(context, item, refused)
        else:
            context.troubles.worked(item, context.state)
            works |= {item}
    if convoy.state == "complete" and convoy.given is None:
        await context.github.close_issue(convoy.issue, "completed")
        await close_named(context, convoy)
    return convoy.issue


TICK_MS: Final = 600_000
"""How long a tick without a delivery is kept; after that the box is emptied."""


def is_shown(context: BotContext, effect: Effect) -> bool:
    if not isinstance(effect, Show):
        return False
    convoy = context.state.convoys[effect.convoy]
    if _is_off_limits(convoy, effect.part):
        return True
    match effect.part:
        case "labels":
            shown = context.memory.shown
            wanted = wanted_labels(convoy, context.settings.label).items()
            return all(
                shown.get(labels_key(convoy, n)) == have for n, (have, _) in wanted
            )
        case "checks":
            return not owed_checks(context, convoy)
        case "comment":
            if convoy.comment is None:
                return True
            key = ids.comment_key(convoy.name, convoy.deleted_comments)
            seen = context.memory.shown.get(key, "")
            if not isinstance(seen, str) or convoy.comment in context.memory.unticked:
                return seen is None
            return unticked(seen) == comment_body(context, convoy)


def _is_off_limits(convoy: Convoy, part: Shown) -> bool:
    """Whether nothing may be shown there, or the issue to show it on is gone."""
    gone = convoy.issue_is == "gone" and part != "checks"
    return convoy.held == NO_LABEL or gone


async def show_part(
    context: BotContext,
    convoy: Convoy,
    part: Shown,
    works: frozenset[str] = frozenset(),
) -> None:
    """Bring a part of what people see of the convoy up to date; idempotent.

    Writes only what differs from what the forge was last seen to show. Of what is in
    `works`, tried just now, the comment tells no longer.
    """
    if _is_off_limits(convoy, part):
        return
    match part:
        case "labels":
            for issue, labels in wanted_labels(convoy, context.settings.label).items():
                await _show_labels(context, convoy, issue, *labels)
        case "checks":
            await show_checks(context, convoy)
        case "comment":
            if convoy.comment is not None:
                await _show_comment(context, convoy, convoy.comment, works)


async def _show_comment(
    context: BotContext, convoy: Convoy, number: int, works: frozenset[str]
) -> None:
    """Edit the comment, but keep a tick whose delivery has not arrived yet."""
    key = ids.comment_key(convoy.name, convoy.deleted_comments)
    if context.memory.shown.get(key, "") is None:
        return  # a person deleted it: the next look notes that
    stands = await context.github.comment(number)
    if stands is not None:
        # A delivery names the person who ticked; it has yet to arrive.
        now, heard = context.clock(), context.memory.unticked.get(number, set())
        unheard = frozenset(
            box
            for box in ticked_in(stands) - heard
            if now - context.memory.ticks.setdefault((number, box), now) < TICK_MS
        )
        body = comment_body(context, convoy, unheard, works)
        if stands != body:
            await context.github.edit_comment(number, body)
        stands = body
    context.memory.shown[key] = stands
    for box in context.memory.unticked.pop(number, set()):
        context.memory.ticks.pop((number, box), None)


async def _show_labels(
    context: BotContext, convoy: Convoy, issue: int, have: set[str], have_not: set[str]
) -> None:
    key, shown = labels_key(convoy, issue), context.memory.shown
    if shown.get(key) == have:
        return
    is_own, known = issue == convoy.issue, context.state.convoys.summaries()
    newest = [name for name, each in known if each.issue == issue][-1:]
    # Of an issue that has a newer convoy, or was deleted or moved, nothing is shown.
    if not (is_own and convoy.ended and newest != [convoy.name]):
        present = frozenset(have)
        with Unless() if is_own else ABSENT:
            present = (await context.github.issue(issue)).label_names
        if is_own and isinstance(before := shown.get(key), set):
            present = (present | before) - have  # the forge may show our writes late
        context.memory.labelled[key] = context.clock()
        await context.github.relabel(issue, have - present, have_not & present)
    shown[key] = have


def comment_body(
    context: BotContext,
    convoy: Convoy,
    ticked: frozenset[str] = frozenset(),
    works: frozenset[str] = frozenset(),
) -> str:
    """Return the comment, as Markdown.

    `ticked` are boxes that a person ticked and the bot has not handled yet; `works` is
    what was set aside and works again.
    """
    state = context.state
    asides = state.shown_asides(convoy.name, works)
    at = moment(state, context.clock())
    return convoy_comment(convoy, ticked, asides, at, context.settings.web)


def owed_checks(context: BotContext, convoy: Convoy) -> list[CheckView]:
    page = f"{context.settings.git_url}/{context.settings.repository}"
    views = [*check_views(convoy, page)]
    rules, candidate = context.observed.rules.get(convoy.target), convoy.candidate
    seen = context.observed.checks.get(candidate.commit) if candidate else None
    if context.settings.by_job and rules and seen:
        views += required_views(convoy, rules.checks, seen, page)
    return [each for each in views if context.memory.shown.get(each.key) != each]


async def show_checks(context: BotContext, convoy: Convoy) -> None:
    """Bring a convoy's checks up to date, each of them alone; idempotent."""
    refusals = []
    for view in owed_checks(context, convoy):
        now, runs = quiet_try(context, view.key), context.github.check_runs
        try:
            found = await runs.found(view)
            if found is None:
                now.repeat()
            with trying(context, view.key):
                await runs.show(view, found)
        except Refused as refused:
            refusals.append(refused)
        else:
            context.memory.shown[view.key] = view
    if refusals:
        raise refusals[0]


async def ask_to_merge(context: BotContext, convoy: Convoy, intent: Intent) -> int:
    """Return the pull request's number, once the forge has been asked; 0: too late.

    Only the candidate that was announced is merged. Safe to repeat: a pull request that
    is merged or queued already is left alone.
    """
    candidate, number = convoy.candidate, convoy.pull
    if convoy.ended or number is None or candidate is None:
        return 0
    if candidate.commit != intent.text:
        return 0  # another candidate has taken its place
    pulls = context.github.pulls
    seen = await pulls.mergeable(number)
    if seen.merged or seen.queued:
        return number
    landing = convoy.landing or Landing()
    if landing.way == "queue":
        await pulls.enqueue(number, candidate.commit)
    else:
        title, text = merge_texts.landing_message(convoy, landing.method)
        await pulls.merge(number, candidate.commit, landing.method, title, text)
    return number
