"""Carries out what people ask for, and answers it: comments, reviews, boxes, buttons.

A person's right is checked, the verb's rule applied, and what was said at once has one
answer: a line of the convoy's comment, or a comment. An edit notifies nobody, so what
somebody has to hear stays a comment: that a request was refused, and what was asked on
a pull request (decision 79). Who asks for more than is answered hears so once. One
delivered twice has its answer announced or given already, and changes nothing.

A tick or a button makes the same request as a command, and needs the same right; its
answer's key is made from the delivery that reported it. "Re-run" is `/brat retry`.

Whoever forges a mail's sender speaks in that person's name, so a text that was sent by
mail commands nothing. Only texts with commands are asked about: each takes a request.

The labels `brat:hold` and `brat:no` are noted in the log when they are seen, so that
the rules need only the log.
"""

import asyncio
import hashlib
import re
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager
from http import HTTPStatus
from inspect import isawaitable
from itertools import chain
from typing import Final

from msgspec import structs
from msgspec.structs import replace

from bot.door import delivery_meaning
from bot.door.inbox import CheckAction, Remark, Review, Ticked, Wake
from bot.forge.checks import CheckView
from bot.forge.payloads import Thread
from bot.forge.rest import Refused
from bot.forge.transport import Precedence, going
from bot.requests.verb import (
    Asker,
    NotPossible,
    Place,
    Request,
    RequestContext,
    convoy_of,
)
from bot.requests.verb_table import BY_NAME, VERBS, clean_request, endpoint_of, parsed
from bot.roles.bot_context import BotContext, BotDraft, allowance, usable_configuration
from bot.text import phrase, pull_request_texts, replies
from bot.text.convoy_comment import convoy_table, labels_key, wanted_labels
from bot.text.replies import Reply
from bot.text.slash_commands import (
    FoundCommand,
    MalformedCommand,
    SlashCommand,
    box_line,
    mentioned,
    slash_commands,
)
from bot.text.visible_text import code_block, code_span
from convoy.events.forge_actions import RequestIgnored
from convoy.events.hold_events import HOLD_LABEL, NO_LABEL, WorkHeld, WorkReleased
from convoy.events.people_events import changes_ci
from convoy.model import ids
from convoy.model.ids import SetAside
from convoy.model.state import Convoy, State
from convoy.model.work import ReviewThread
from convoy.rules.starting import Moment
from convoy.text import clock


async def carry_out(draft: BotDraft, asker: Asker, request: Request) -> Reply:
    """Carry out a request and reply; what is refused leaves the draft unchanged."""
    verb = BY_NAME[request.verb]
    may = asker.allowed or verb.right == "read"
    if not may and not await draft.bot.github.may(asker.by, verb.right):
        return replies.denied(verb.name, verb.right)
    context = RequestContext(draft=draft, asker=asker)
    words = {} if verb.text == "none" else {"text": request.text}
    try:
        if asker.at_endpoint:
            endpoint_of(request).check(context.convoy, request)
        said = verb.rule(context, **request.arguments, **words)
        text = await said if isawaitable(said) else said
        return Reply("rocket", text, asks=verb.asks, brief=verb.brief)
    except NotPossible as error:
        return replies.refused(str(error))


MOST_LINE_CHARS: Final = 1_500


def give_answer(draft: BotDraft, asker: Asker, given: Sequence[Reply]) -> None:
    """Announce the one answer to all that somebody said at once. Safe to call twice."""
    convoy = convoy_of(draft.state, asker.number)
    is_refused = any(reply.why or reply.reaction != "rocket" for reply in given)
    config = usable_configuration(draft.bot)
    all_wanted = config is not None and config.notify.comments == "all"
    line = replies.brief_text(given)
    is_line = (
        not (is_refused or all_wanted)
        and len(line) <= MOST_LINE_CHARS
        and not (asker.on_pull and any(reply.asks for reply in given))
        and _is_kept_up(draft, convoy)
    )
    called = asker.by if is_refused or all_wanted else ""
    text = line if is_line else replies.text(called, given)
    name = convoy.name if convoy is not None and is_line else ""
    draft.submit(asker.answer(replies.reaction(given), text, convoy=name))


def _is_kept_up(draft: BotDraft, convoy: Convoy | None) -> bool:
    """Whether the convoy's comment stands, and will be edited after this draft."""
    if convoy is None or convoy.held == NO_LABEL or convoy.issue_is == "gone":
        return False
    before = draft.bot.mirror.state.convoys.get(convoy.name)
    if convoy.ended and before is not None and before.ended:
        return False
    key = ids.comment_key(convoy.name, convoy.deleted_comments)
    stands = convoy.comment is not None or key in draft.state.intents
    return (
        stands and ids.item("show", convoy.name, "comment") not in draft.state.set_aside
    )


async def answer_requests(
    draft: BotDraft, asker: Asker, requests: Iterable[Request]
) -> bool:
    """Carry out requests and announce the answer, if there are any.

    Return whether they were heard: not if they were answered before, or may not be.
    """
    if (
        asker.is_answered(draft.state)
        or await is_off_limits(draft.bot, asker.number)
        or await has_heard_enough(draft, asker)
    ):
        return False
    given = [await carry_out(draft, asker, each) for each in requests]
    if given:
        give_answer(draft, asker, given)
    return True


async def has_heard_enough(draft: BotDraft, asker: Asker) -> bool:
    """Whether a request is only noted in the draft, not carried out; safe to repeat."""
    by, now = asker.by, draft.bot.clock()
    given = await allowance(draft.bot, by, asker.key)
    if given == "ignored":
        draft.submit(RequestIgnored(by=by, comment=asker.comment, sign=asker.sign))
    elif given == "told":
        again_at = (draft.bot.memory.answers.of(by, now).told_at or now) + ids.HOUR_MS
        text = phrase("enough", by=by, again=clock(again_at))
        draft.submit(asker.answer("confused", text, enough=True))
    return given != "answered"


async def observe_labels(draft: BotDraft) -> None:
    """Note which labels hold which convoys and tasks now. Safe to call again."""
    parts: list[tuple[str, int, str, tuple[int | None, ...]]] = []
    for live in draft.state.live():
        parts.append((live.name, 0, live.held, (live.issue, live.pull)))
        parts += [
            (live.name, task.number, task.held, (task.pull,))
            for task in live.tasks
            if task.pull is not None and not task.settled
        ]
    if not parts:
        return
    label_of = dict.fromkeys(await draft.bot.github.labelled(HOLD_LABEL), HOLD_LABEL)
    label_of.update(dict.fromkeys(await draft.bot.github.labelled(NO_LABEL), NO_LABEL))
    for convoy, task, held, numbers in parts:
        labels = [label_of[n] for n in numbers if n in label_of]
        label = NO_LABEL if NO_LABEL in labels else "".join(labels[:1])
        if label and label != held:
            draft.submit(WorkHeld(convoy=convoy, task=task, label=label))
        elif held and not label:
            draft.submit(WorkReleased(convoy=convoy, task=task))


async def correct_labels(context: BotContext, convoy: Convoy) -> None:
    wanted = wanted_labels(convoy, context.settings.label).get(convoy.issue)
    key, settle_ms = labels_key(convoy, convoy.issue), context.settings.settle_s * 1000
    if context.clock() - context.memory.labelled.get(key, 0) < settle_ms:
        return  # the forge may show our own writes late
    present = (await context.github.issue(convoy.issue)).label_names
    if wanted and (wanted[0] - present or wanted[1] & present):
        context.memory.shown.pop(key, None)


async def is_off_limits(context: BotContext, number: int) -> bool:
    return NO_LABEL in (await context.github.issue(number)).label_names


def offered_boxes(convoy: Convoy) -> Iterator[tuple[str, str]]:
    """Give each box's key, `verb` or `verb/task`, and what it says."""
    for verb in VERBS:
        if verb.box is not None:
            for task in verb.box.offered(convoy):
                key = f"{verb.name}/{task}" if task else verb.name
                yield key, verb.box.says.format(task=task)


def convoy_comment(
    convoy: Convoy,
    ticked: frozenset[str] = frozenset(),
    asides: Sequence[SetAside] = (),
    at: Moment | None = None,
    web: str = "",
) -> str:
    """Return the one comment that shows a convoy and its boxes, as Markdown.

    `ticked` are keys of boxes that a person ticked and the bot has not handled yet;
    without `web` there are no links to runs.
    """
    lines = [
        box_line(key, says, ticked=key in ticked) for key, says in offered_boxes(convoy)
    ]
    surface = ("", *lines) if lines else ()
    marker = ids.marker(ids.comment_key(convoy.name, convoy.deleted_comments))
    return "\n".join((marker, convoy_table(convoy, asides, at, web), *surface))


def request_of_box(key: str) -> Request | None:
    name, _, number = key.partition("/")
    verb = BY_NAME.get(name)
    if verb is None or verb.box is None or bool(number) != ("{task}" in verb.box.says):
        return None
    return Request(name, {"task": int(number)} if number else {})


async def answer_ticks(draft: BotDraft, delivery: str, ticked: Ticked) -> None:
    """Carry out the boxes' requests and announce the answer. Safe to call twice."""
    sign = ids.sign_key("tick", delivery)
    asker = Asker(by=ticked.by, number=ticked.issue, sign=sign)
    convoy = convoy_of(draft.state, ticked.issue)
    if convoy is None or convoy.comment != ticked.comment:
        return
    wanted = filter(None, map(request_of_box, ticked.boxes))
    if await answer_requests(draft, asker, wanted):
        unticked = draft.bot.memory.unticked.setdefault(ticked.comment, set())
        unticked.update(ticked.boxes)


def check_views(convoy: Convoy, page: str) -> Iterator[CheckView]:
    for view in pull_request_texts.check_views(convoy, page):
        _, number = ids.checked_task(view.key) or ("", 0)
        task = convoy.task(number)
        buttons = tuple(
            {"label": on.label, "description": on.says, "identifier": verb.name}
            for verb in VERBS
            if task and (on := verb.on_check) and on.offered(convoy, task)
        )
        yield replace(view, buttons=buttons)


async def answer_button(draft: BotDraft, delivery: str, action: CheckAction) -> None:
    """Carry out what was pressed, and announce the answer. Safe to call twice."""
    convoy = draft.state.convoys.get(action.convoy)
    verb = BY_NAME.get(action.verb)
    if convoy is None or verb is None or verb.on_check is None:
        return
    task = convoy.task(action.task)
    if task is None and verb.name != "retry":
        return  # the convoy's own check has only "Re-run"
    number = (task.pull if task else convoy.pull) or convoy.issue
    sign = ids.sign_key("rerun", delivery)
    asker = Asker(by=action.by, number=number, sign=sign, convoy=convoy.name)
    of_commit = any(each.name == "commit" for each in verb.words)
    of_task = {"task": task.number} if task else {}
    said = {"commit": action.commit} if of_commit else of_task
    await answer_requests(draft, asker, [Request(verb.name, said)])


async def answer_comment(draft: BotDraft, remark: Remark) -> None:
    """Carry out a comment's commands and announce the answer. Safe to call twice."""
    by, number = remark.by, remark.issue
    asker = Asker(by=by, number=number, remark=remark, on_pull=remark.on_pull)
    had = draft.state.answers.get(by.casefold())
    at = draft.now if remark.at is None else int(remark.at.timestamp() * 1000)
    if had is not None and asker.key != had.told and had.is_ignored(at):
        return  # its author had been told before that it is enough for now
    if remark.edited:  # it was not read in time
        known = asker.is_answered(draft.state)
        if not (known or await has_heard_enough(draft, asker)):
            text = phrase("edited-comment", by=by)
            draft.submit(asker.answer("confused", text))
        return
    said = await commands_in(draft.bot, draft.state, remark)
    if not said or await has_heard_enough(draft, asker):
        return
    await acknowledge(draft.bot, remark.comment)
    given = [replies.MAILED]
    if not await is_mailed(draft.bot, remark):
        place: Place = "pull" if remark.on_pull else "issue"
        given = [await carry_out_command(draft, asker, each, place) for each in said]
    give_answer(draft, asker, given)


async def commands_in(
    context: BotContext, state: State, remark: Remark
) -> tuple[FoundCommand, ...]:
    key = ids.key("answer", remark.comment)
    if key in state.intents or remark.comment in state.answered:
        return ()
    # Hostile text takes seconds.
    said = await asyncio.to_thread(slash_commands, remark.text)
    if not said and not remark.on_pull and convoy_of(state, remark.issue) is None:
        # A mention of the bot is read as `/brat start`.
        text = await asyncio.to_thread(mentioned, remark.text, context.login)
        config = usable_configuration(context)
        if text is not None and config is not None and config.triggers.mention:
            said = (SlashCommand(verb="start", text=text),)
    if not said or await is_off_limits(context, remark.issue):
        return ()
    return said


async def acknowledge(context: BotContext, comment: int) -> None:
    """React to a command at once, unless this process has. Safe to call twice."""
    acknowledged = context.memory.acknowledged
    if comment in acknowledged:
        return
    acknowledged.add(comment)
    try:
        with going(Precedence.AT_ONCE):
            await context.github.react(comment, "eyes")
    except BaseException:
        acknowledged.discard(comment)
        raise


async def carry_out_command(
    draft: BotDraft, asker: Asker, said: FoundCommand, place: Place
) -> Reply:
    if isinstance(said, MalformedCommand):
        return replies.malformed(said.why)
    request = await asyncio.to_thread(parsed, said, place)
    if isinstance(request, MalformedCommand):
        return replies.malformed(request.why)
    return await carry_out(draft, asker, request)


_VERB_OF: Final = {"approved": "approve", "changes_requested": "revise"}


async def answer_review(draft: BotDraft, review: Review) -> None:
    """Carry out a review and announce its answer. Safe to call twice."""
    key, number = ids.sign_key("review", str(review.review)), review.pull
    asker = Asker(
        by=review.by, number=number, sign=key, review=review.review, on_pull=True
    )
    if asker.is_answered(draft.state):
        return
    convoy = convoy_of(draft.state, number)
    if review.bot and (convoy is None or not _is_listed(draft, review)):
        return
    threads = await draft.bot.github.pulls.threads(number)
    lines = [e for t in threads for e in t.comments if e.review == review.review]
    texts = () if review.bot else (review.text, *(each.body for each in lines))
    # Hostile text takes seconds.
    heard = [await asyncio.to_thread(slash_commands, text) for text in texts]
    said = tuple(chain.from_iterable(heard))
    is_talk = convoy is None and not said
    if is_talk or await is_off_limits(draft.bot, number):
        return
    commands = {each.id for each, found in zip(lines, heard[1:], strict=False) if found}
    asking = {e.id for e in lines if e.id not in commands and not e.mailed}
    told = [t for t in threads if asking & {each.id for each in t.comments}]
    if review.verdict == "commented" and not (said or review.bot):
        told = told if await draft.bot.github.may(review.by, "write") else []
    asks = said or told or review.verdict in _VERB_OF
    if asks and await has_heard_enough(draft, asker):
        return
    is_mailed_line = any(each.mailed for each in lines if each.id in commands)
    if said and review.late:
        given = [replies.LATE_REVIEW]
    elif said and (is_mailed_line or await is_mailed(draft.bot, review)):
        given = [replies.MAILED]
    else:
        given = [await carry_out_command(draft, asker, each, "pull") for each in said]
    verbs = {each.verb for each in said if isinstance(each, SlashCommand)}
    verb = "revise" if told else ""
    if not (review.bot and review.verdict == "approved"):  # no bot approves
        verb = _VERB_OF.get(review.verdict, verb)
    if verb and convoy is not None and (review.late or verb not in verbs):
        raised = tuple(_raised(thread, review) for thread in told)
        asker = structs.replace(asker, threads=raised, allowed=review.bot)
        request = await _verdict(draft.bot, convoy, review, verb, told)
        given += [await carry_out(draft, asker, request)] if request else []
    if given:
        give_answer(draft, asker, given)


def _is_listed(draft: BotDraft, review: Review) -> bool:
    """Whether the repository lists the bot; where it does not, say so once."""
    config = usable_configuration(draft.bot)
    listed = config.review.bots if config is not None else ()
    if review.by.casefold() in map(str.casefold, listed):
        return True
    name = re.sub("[^a-z0-9-]", "", review.by.casefold().removesuffix("[bot]"))
    sign = ids.sign_key("review", f"of/{name}")
    if sign not in draft.state.heard and sign not in draft.state.intents:
        draft.say(
            review.pull,
            "review",
            f"of/{name}",
            phrase("unlisted", bot=code_span(review.by)),
        )
    return False


async def keep_missed_reviews(context: BotContext, state: State) -> None:
    """Keep lost reviews of work, as the door would; repeatable.

    Others may speak while an attempt does what the first has asked for, or when it has
    just handed that in.
    """
    for convoy in state.live():
        whole = (convoy,) if convoy.given is None else ()
        shown = (task for task in convoy.tasks if not task.settled)
        for part in (*whole, *shown):
            if part.pull is None:
                continue
            heads = {part.candidate.commit} if part.candidate else set()
            if isinstance(part, Convoy):
                heads.add(part.tip)
            elif (handed := part.handed_in) is not None:
                heads |= {handed.commit, handed.before}
                heads |= {part.work.commit} if part.work else set()
            for found in await context.github.pulls.reviews(part.pull):
                is_heard = ids.sign_key("review", str(found.id)) in state.heard
                is_own = found.user is not None and found.user.login == context.login
                if is_heard or is_own or found.commit_id not in heads:
                    continue
                review = delivery_meaning.reviewed(part.pull, found, found.user)
                if review is not None:
                    kept = structs.replace(review, late=True)
                    context.inbox.put(f"sweep-review-{found.id}", kept)


async def _verdict(
    context: BotContext,
    convoy: Convoy,
    review: Review,
    verb: str,
    told: Sequence[Thread],
) -> Request | None:
    """Return what a verdict asks for; None: an approval that the convoy needs not."""
    work = [task for task in convoy.tasks if task.pull == review.pull]
    is_whole = convoy.pull == review.pull and convoy.given is None
    if not work and not (is_whole and verb == "revise"):
        return None
    if verb != "approve":
        return Request(verb, text=await _review_text(context, review, told))
    is_asked_for = convoy.settings.approvals or any(map(changes_ci, work))
    return Request(verb, {"commit": review.commit}) if is_asked_for else None


def _raised(thread: Thread, review: Review) -> ReviewThread:
    said = " ".join(e.body for e in thread.comments if e.review == review.review)
    plain = " ".join(said.split()).casefold()
    return ReviewThread(
        comment=thread.comments[0].id,
        path=thread.path,
        line=thread.line,
        pull=review.pull,
        by=review.by,
        bot=review.bot,
        says=hashlib.blake2b(plain.encode(), digest_size=8).hexdigest(),
    )


HUNK_LINES: Final = 12


async def _review_text(
    context: BotContext, review: Review, told: Sequence[Thread]
) -> str:
    """Return all that an agent is told of a review: no stranger's word is in it."""
    trusted = {review.by, context.login}
    config = usable_configuration(context)
    trusted |= set(config.review.bots) if config is not None else set()
    for by in {each.by for thread in told for each in thread.comments} - trusted:
        if by and await context.github.may(by, "write"):
            trusted.add(by)
    said = [review.text, *(_thread_text(thread, trusted) for thread in told)]
    text = await asyncio.to_thread(clean_request, "\n\n".join(filter(None, said)))
    return text.strip() or "see the review's comments on the changed lines"


def _thread_text(thread: Thread, trusted: set[str]) -> str:
    where = f"{thread.path}, line {thread.line}" if thread.line else thread.path
    hunk = "\n".join(thread.comments[0].hunk.splitlines()[-HUNK_LINES:])
    said = (
        f"{each.by}: {ids.without_markers(each.body)}"
        for each in thread.comments
        if each.by in trusted and not each.mailed
    )
    first = f"Thread {thread.comments[0].id}, on {code_span(where, 200)}:"
    return "\n\n".join((first, code_block(hunk), *said))


async def is_mailed(context: BotContext, said: Remark | Review) -> bool:
    node, github = said.node, context.github
    if not node and isinstance(said, Review):
        reviews = await github.pulls.reviews(said.pull)
        node = next((one.node_id for one in reviews if one.id == said.review), "")
    elif not node and isinstance(said, Remark):
        comment = await github.remark(said.comment)
        node = comment.node_id if comment is not None else ""
    if not node:
        raise Refused("the text of a command", HTTPStatus.GONE, "it no longer exists")
    return await github.is_mailed(node)


READ_AT_ONCE: Final = 4
"""How many comments are read at once: hostile text takes seconds."""


@asynccontextmanager
async def acknowledging(
    context: BotContext, wake: Wake, tell: Callable[[str], None]
) -> AsyncIterator[None]:
    """React to commands while the block lasts; `tell` hears of failures."""
    try:
        async with asyncio.TaskGroup() as group:
            keep = _keep_acknowledging(context, wake, tell)
            looking = group.create_task(keep, name="acknowledging")
            try:
                yield
            finally:
                looking.cancel()
    except BaseExceptionGroup as only:  # the block's: looking never fails
        raise only.exceptions[0] from None


async def _keep_acknowledging(
    context: BotContext, wake: Wake, tell: Callable[[str], None]
) -> None:
    """React to each waiting command once, until cancelled."""
    seen, slots, told = set[int](), asyncio.Semaphore(READ_AT_ONCE), ""

    def note(why: str) -> None:
        nonlocal told
        if why != told:
            told = why
            tell(why)

    async def react(remark: Remark) -> None:
        key = ids.key("answer", remark.comment)
        try:
            async with slots:
                with going(Precedence.ANSWER):
                    if (
                        await commands_in(context, context.mirror.state, remark)
                        and await allowance(context, remark.by, key) == "answered"
                    ):
                        await acknowledge(context, remark.comment)
        except Exception as error:  # noqa: BLE001  the tick meets it, too, and logs it
            note(f"a command cannot be acknowledged: {error}")

    async with asyncio.TaskGroup() as group:
        kept = wake.kept
        while True:
            try:
                waiting = {
                    each.comment: each for each in context.inbox.remarks().values()
                }
            except OSError as error:  # another process has just finished a file
                note(f"the inbox cannot be read: {error}")
            else:
                context.memory.acknowledged.intersection_update(waiting)
                for number in waiting.keys() - seen:
                    if not waiting[number].edited:
                        group.create_task(react(waiting[number]))
                seen = set(waiting)
            kept = await wake.more_kept(kept)
