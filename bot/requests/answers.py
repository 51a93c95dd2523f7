"""Carries requests out and answers them; boxes and buttons, and what each asks for.

A person's right is checked, the verb's rule applied, and what was said at once has one
answer: a line of the convoy's comment, or a comment. An edit notifies nobody, so what
somebody has to hear stays a comment: that a request was refused, and what was asked on
a pull request (decision 79). Who asks for more than is answered hears so once.

A tick or a button makes the same request as a command, and needs the same right; its
answer's key is made from the delivery that reported it. "Re-run" is `/brat retry`.

The labels `brat:hold` and `brat:no` are noted in the log when they are seen, so that
the rules need only the log.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from inspect import isawaitable
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from bot.door.inbox import CheckAction, Ticked
from bot.forge.checks import Button, CheckView
from bot.repository.draft import Draft
from bot.requests.verb import Asker, NotPossible, Request, RequestContext, convoy_of
from bot.requests.verb_table import BY_NAME, VERBS, endpoint_of
from bot.roles.bot_context import BotContext, allowance, usable_configuration
from bot.text import pull_request_texts, replies
from bot.text.convoy_comment import convoy_table, labels_key, wanted_labels
from bot.text.replies import Reply
from bot.text.slash_commands import box_line
from convoy.events.forge_actions import Answer, RequestIgnored
from convoy.events.hold_events import HOLD_LABEL, NO_LABEL, WorkHeld, WorkReleased
from convoy.model import ids
from convoy.model.ids import SetAside
from convoy.model.state import Convoy, State
from convoy.rules.starting import Moment


async def carry_out(
    bot: BotContext, draft: Draft, asker: Asker, request: Request
) -> Reply:
    """Carry out a request and reply; what is refused leaves the draft unchanged."""
    verb = BY_NAME[request.verb]
    may = asker.allowed or verb.right == "read"
    if not may and not await bot.github.may(asker.by, verb.right):
        return replies.denied(verb.name, verb.right)
    context = RequestContext(bot=bot, draft=draft, asker=asker)
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


class Asked(Struct, frozen=True, kw_only=True):
    by: str
    issue: int
    comment: int = 0
    """The comment with the requests; 0: it was the review, tick or button in `sign`."""
    sign: str = ""
    """See `ids.sign_key`."""
    on_pull: bool = False
    """Whether it was a pull request where people write and read."""

    @property
    def key(self) -> str:
        return self.sign or ids.key("answer", self.comment)

    def is_answered(self, state: State) -> bool:
        known = self.sign in state.heard or self.comment in state.answered
        return known or self.key in state.intents

    def is_ignored(self, draft: Draft, at: datetime | None) -> bool:
        """Whether its author had been told before that it is enough for now.

        `at`: when it was said; None: just now.
        """
        had = draft.state.answers.get(self.by.casefold())
        said = int(at.timestamp() * 1000) if at is not None else draft.now
        return had is not None and self.key != had.told and had.is_ignored(said)


def give_answer(
    context: BotContext, draft: Draft, asked: Asked, given: Sequence[Reply]
) -> None:
    """Announce the one answer to all that somebody said at once. Safe to call twice."""
    convoy = convoy_of(draft.state, asked.issue)
    is_refused = any(reply.why or reply.reaction != "rocket" for reply in given)
    config = usable_configuration(context)
    all_wanted = config is not None and config.notify.comments == "all"
    line = replies.brief_text(given)
    is_line = (
        not (is_refused or all_wanted)
        and len(line) <= MOST_LINE_CHARS
        and not (asked.on_pull and any(reply.asks for reply in given))
        and _is_kept_up(context, draft, convoy)
    )
    called = asked.by if is_refused or all_wanted else ""
    draft.submit(
        Answer(
            issue=asked.issue,
            comment=asked.comment,
            sign=asked.sign,
            reaction=replies.reaction(given) if asked.comment else "",
            text=line if is_line else replies.text(called, given),
            by=asked.by,
            convoy=convoy.name if convoy is not None and is_line else "",
        )
    )


def _is_kept_up(context: BotContext, draft: Draft, convoy: Convoy | None) -> bool:
    """Whether the convoy's comment stands, and will be edited after this draft."""
    if convoy is None or convoy.held == NO_LABEL or convoy.issue_is == "gone":
        return False
    before = context.mirror.state.convoys.get(convoy.name)
    if convoy.ended and before is not None and before.ended:
        return False
    key = ids.comment_key(convoy.name, convoy.deleted_comments)
    stands = convoy.comment is not None or key in draft.state.intents
    return (
        stands and ids.item("show", convoy.name, "comment") not in draft.state.set_aside
    )


async def answer_requests(
    context: BotContext,
    draft: Draft,
    asked: Asked,
    requests: Iterable[Request],
    convoy: str = "",
) -> None:
    """Carry out requests and announce the answer, if there are any."""
    asker = Asker(by=asked.by, number=asked.issue, convoy=convoy, nonce=asked.sign)
    given = [await carry_out(context, draft, asker, each) for each in requests]
    if given:
        give_answer(context, draft, asked, given)


async def is_turned_away(context: BotContext, draft: Draft, asked: Asked) -> bool:
    """Whether a request was answered before, or is not carried out."""
    return (
        asked.is_answered(draft.state)
        or await is_off_limits(context, asked.issue)
        or await has_heard_enough(context, draft, asked)
    )


async def has_heard_enough(context: BotContext, draft: Draft, asked: Asked) -> bool:
    """Whether a request is only noted in the draft, not carried out; safe to repeat."""
    by, comment, sign = asked.by, asked.comment, asked.sign
    given = await allowance(context, by, asked.key)
    if given == "answered":
        return False
    if given == "ignored":
        draft.submit(RequestIgnored(by=by, comment=comment, sign=sign))
        return True
    now = context.clock()
    again_at = (context.memory.answers.of(by, now).told[1] or now) + ids.HOUR_MS
    draft.submit(
        Answer(
            issue=asked.issue,
            comment=comment,
            sign=sign,
            reaction="confused" if comment else "",
            text=replies.enough(by, again_at),
            by=by,
            enough=True,
        )
    )
    return True


async def observe_labels(context: BotContext, draft: Draft) -> None:
    """Note which labels hold which convoys and tasks now. Safe to call again."""
    parts = tuple(_labelled_parts(draft.state))
    if not parts:
        return
    label_of = dict.fromkeys(await context.github.labelled(HOLD_LABEL), HOLD_LABEL)
    label_of.update(dict.fromkeys(await context.github.labelled(NO_LABEL), NO_LABEL))
    for convoy, task, held, numbers in parts:
        labels = [label_of[n] for n in numbers if n in label_of]
        label = NO_LABEL if NO_LABEL in labels else "".join(labels[:1])
        if label and label != held:
            draft.submit(WorkHeld(convoy=convoy, task=task, label=label))
        elif held and not label:
            draft.submit(WorkReleased(convoy=convoy, task=task))


async def correct_labels(context: BotContext, convoy: Convoy) -> None:
    key, settle_ms = labels_key(convoy), context.settings.settle_s * 1000
    if context.clock() - context.memory.labelled.get(key, 0) < settle_ms:
        return  # the forge may show our own writes late
    have, have_not = wanted_labels(convoy, context.settings.label)
    present = (await context.github.issue(convoy.issue)).label_names
    if have - present or have_not & present:
        context.memory.shown.pop(key, None)


async def is_off_limits(context: BotContext, number: int) -> bool:
    return NO_LABEL in (await context.github.issue(number)).label_names


def _labelled_parts(
    state: State,
) -> Iterator[tuple[str, int, str, tuple[int | None, ...]]]:
    """Give each convoy (task 0) and task, what holds it, and which numbers it obeys."""
    for convoy in state.live():
        yield convoy.name, 0, convoy.held, (convoy.issue, convoy.pull)
        for task in convoy.tasks:
            if task.pull is not None and not task.settled:
                yield convoy.name, task.number, task.held, (task.pull,)


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
    if verb is None or verb.box is None or bool(number) != verb.box.of_task:
        return None
    return Request(name, {"task": int(number)} if number else {})


async def answer_ticks(
    context: BotContext, draft: Draft, delivery: str, ticked: Ticked
) -> None:
    """Carry out the boxes' requests and announce the answer. Safe to call twice."""
    sign = ids.sign_key("tick", delivery)
    asked = Asked(by=ticked.by, issue=ticked.issue, sign=sign)
    convoy = convoy_of(draft.state, ticked.issue)
    if convoy is None or convoy.comment != ticked.comment:
        return
    if await is_turned_away(context, draft, asked):
        return
    context.memory.unticked.setdefault(ticked.comment, set()).update(ticked.boxes)
    wanted = filter(None, map(request_of_box, ticked.boxes))
    await answer_requests(context, draft, asked, wanted)


def check_views(convoy: Convoy, page: str) -> Iterator[CheckView]:
    for view in pull_request_texts.check_views(convoy, page):
        _, number = ids.checked_task(view.key) or ("", 0)
        task = convoy.task(number)
        buttons = tuple(
            Button(label=on.label, description=on.says, identifier=verb.name)
            for verb in VERBS
            if task and (on := verb.on_check) and on.offered(convoy, task)
        )
        yield replace(view, buttons=buttons)


async def answer_button(
    context: BotContext, draft: Draft, delivery: str, action: CheckAction
) -> None:
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
    asked = Asked(by=action.by, issue=number, sign=sign)
    if not await is_turned_away(context, draft, asked):
        of_commit = any(each.name == "commit" for each in verb.words)
        of_task = {"task": task.number} if task else {}
        said = {"commit": action.commit} if of_commit else of_task
        wanted = Request(verb.name, said)
        await answer_requests(context, draft, asked, [wanted], convoy.name)
