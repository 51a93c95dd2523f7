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
from inspect import isawaitable
from typing import Final

from msgspec.structs import replace

from bot.door.inbox import CheckAction, Ticked
from bot.forge.checks import CheckView
from bot.requests.verb import Asker, NotPossible, Request, RequestContext, convoy_of
from bot.requests.verb_table import BY_NAME, VERBS, endpoint_of
from bot.roles.bot_context import BotContext, BotDraft, allowance, usable_configuration
from bot.text import pull_request_texts, replies
from bot.text.convoy_comment import convoy_table, labels_key, wanted_labels
from bot.text.phrases import phrase
from bot.text.replies import Reply
from bot.text.slash_commands import box_line
from convoy.events.forge_actions import RequestIgnored
from convoy.events.hold_events import HOLD_LABEL, NO_LABEL, WorkHeld, WorkReleased
from convoy.model import ids
from convoy.model.ids import SetAside
from convoy.model.state import Convoy
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
