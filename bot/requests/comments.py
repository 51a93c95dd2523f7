"""Carries out what comments and reviews ask for: commands, and verdicts on work.

Each is answered once: by a reaction, and by words if there is something to say. One
delivered twice has its answer announced or given already, and changes nothing. The
rules decide on each with its author's right.

Whoever forges a mail's sender speaks in that person's name, so a text that was sent by
mail commands nothing. Only texts with commands are asked about: each takes a request.
"""

import asyncio
import hashlib
import re
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from http import HTTPStatus
from itertools import chain
from typing import Final

from msgspec import structs

from bot.door import delivery_meaning
from bot.door.inbox import Remark, Review, Wake
from bot.forge.payloads import Thread
from bot.forge.rest import Refused
from bot.forge.transport import Precedence, going
from bot.requests import answers
from bot.requests.answers import carry_out, give_answer, has_heard_enough
from bot.requests.verb import Asker, Place, Request, convoy_of
from bot.requests.verb_table import clean_request, parsed
from bot.roles.bot_context import BotContext, BotDraft, allowance, usable_configuration
from bot.text import replies
from bot.text.phrases import phrase
from bot.text.replies import Reply
from bot.text.slash_commands import (
    FoundCommand,
    MalformedCommand,
    SlashCommand,
    mentioned,
    slash_commands,
)
from bot.text.visible_text import code_block, code_span
from convoy.model import ids
from convoy.model.state import Convoy, State
from convoy.model.work import ReviewThread
from convoy.rules.turns import changes_ci


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
    if not said or await answers.is_off_limits(context, remark.issue):
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
    if is_talk or await answers.is_off_limits(draft.bot, number):
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
