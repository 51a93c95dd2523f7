"""What of an issue, and of issues it names, enters the log; or what people are told.

This happens once, when a convoy is accepted: after that only the log's text counts.
"""

import asyncio
from collections.abc import Container
from datetime import UTC, datetime
from hashlib import sha256
from typing import Final, Literal, NamedTuple

from msgspec.structs import replace

from bot.door.inbox import StartRequest
from bot.forge.payloads import Issue
from bot.forge.rest import ABSENT, Refused
from bot.roles.bot_context import (
    BotContext,
    Try,
    allowance,
    quiet_try,
    trying,
    usable_configuration,
)
from bot.text import phrase
from bot.text.visible_text import clean_markdown, code_span
from convoy import text as plaintext
from convoy.events.plan_events import ConvoyRequested
from convoy.model import ids
from convoy.model.ids import HOUR_MS
from convoy.model.records import NamedIssue, SubIssue
from convoy.model.state import Convoy, State
from convoy.planner import marks, own_words
from convoy.planner.issue_text import intake, questions
from convoy.rules.sub_issues import MOST_SUB_ISSUES, task_for, tasks_of
from convoy.text.redaction import redacted
from grite.errors import BratError, Unavailable

TEXT_CHARS: Final = 60_000


class Words(NamedTuple):
    """Text that is fit to be kept and shown to a model."""

    title: str
    text: str


async def admitted(
    context: BotContext, request: StartRequest, author: str
) -> Words | str:
    """Return the admissible words of a request, cleaned, or why there are none.

    The caller has asked whether the requester may write. The configuration can admit
    text of a public repository by people who may not.
    """
    title, text = request.title, request.text
    config = usable_configuration(context)
    if request.bot and config and request.bot not in config.trust.bots:
        return phrase("unlisted-label", bot=request.by, id=request.bot)
    # Trusted is what the requester or a writer wrote, or what no public can see.
    is_trusted = (
        (config is not None and config.trust.outsiders)
        or author == request.by
        or not await context.github.is_public()
        or (bool(author) and await context.github.may(author))
    )
    if not is_trusted:
        if not request.added:
            return phrase("outsider")
        title, text = f"Issue #{request.issue}", ""
    whole = "\n\n".join(filter(None, (request.added, text)))
    # Hostile text takes seconds.
    return await asyncio.to_thread(fit_words, title, whole)


def fit_words(title: str, text: str) -> Words:
    """Return title and text, shortened, without secrets and without hidden parts.

    Pure; safe to do twice. A text built to be slow takes some seconds.
    """
    line = " ".join(redacted(plaintext.clean(title)).split())
    whole = redacted(clean_markdown(text, limit=TEXT_CHARS))
    return Words(plaintext.cut(line, plaintext.TITLE_CHARS), whole)


async def edited_since(
    context: BotContext, issue: Issue, moment: datetime | None
) -> bool:
    """Whether an issue's text may have changed since; if unknown, any update counts."""
    if moment is None:
        return True
    try:
        edited = await context.github.text_edited_at(issue.number)
    except (Refused, Unavailable):
        return issue.updated_at is None or issue.updated_at > moment
    return edited is not None and edited >= moment


_SHOWN: Final = 60
_LABELS_TOLD: Final = 20
_NOT_DONE: Final = ("not_planned", "duplicate")
MOST_READ: Final = 100
"""How many named issues are read for one convoy."""


class _NoTask(BratError):
    """An item names what is no task here; the message is a clause."""


async def with_named_issues(
    context: BotContext, state: State, wanted: ConvoyRequested
) -> ConvoyRequested | str:
    """Return a request with the text of each issue that an item names, or its fault."""
    if wanted.pattern or wanted.listed:
        return wanted
    labels = await asyncio.to_thread(context.commits.box_labels, wanted.base)
    text = plaintext.clean(wanted.text)
    found = await asyncio.to_thread(intake, text, labels)
    opened = [item for item in found.work.items if not item.done]
    named = [item for item in opened if item.reference]
    if len(named) > MOST_READ:
        count = f"it names {len(named)} issues"
        many = f"{count}, but brat reads at most {MOST_READ}: split it"
        return phrase("no-plan", error=many)
    if not named:
        return wanted
    read: dict[int, marks.ReferredIssue | str] = {}
    became: dict[int, NamedIssue] = {}
    out: list[str] = []
    for item in named:
        try:
            told = await _open_issue(context, item.reference, wanted.issue, became)
            read[item.at] = await _admitted_text(context, state, wanted.by, told)
            became[told.number] = NamedIssue(item.number, told.number)
        except _NoTask as why:
            read[item.at] = str(why)
            out.append(str(why))
    if len(out) == len(opened):
        nothing = f"nothing is left to do: {'; '.join(out)}"
        return phrase("no-plan", error=nothing)
    room = TEXT_CHARS - len(text)
    words = await asyncio.to_thread(marks.filled_items, text, read, room, labels)
    items = (await asyncio.to_thread(intake, words, labels)).work.items
    if fault := marks.missed_work(items):
        return phrase("no-plan", error=fault)
    # The items keep their numbers: the texts that were put in have none of their own.
    is_same = len(items) == len(found.work.items)
    return replace(wanted, text=words, named=tuple(became.values()) if is_same else ())


class Listing(NamedTuple):
    """An issue's sub-issues as they were read, or what is wrong with them."""

    listed: tuple[SubIssue, ...] = ()
    remarks: tuple[str, ...] = ()
    """What is left out, and why: a clause each."""
    fault: str = ""


async def read_list(
    context: BotContext,
    state: State,
    wanted: StartRequest | Convoy,
    top: Issue | None = None,
) -> Listing:
    """Return an issue's sub-issues, nested ones too, in the order of the forge.

    What a convoy has taken in keeps its words, and is listed also when it is closed.
    Without the `top` issue the forge is asked for it, too.
    """
    top = top or await context.github.issue(wanted.issue)
    listed = wanted.listed if isinstance(wanted, Convoy) else ()
    known = {sub.issue: sub for sub in listed}
    forge, remarks = context.github.sub_issues, list[str]()
    written = {
        each.issue
        for name, of in state.convoys.summaries()
        if of.issue == top.number
        for each in state.convoys[name].named
    }
    found: dict[int, SubIssue] = {}
    read: dict[int, Issue] = {}
    nested = await forge.of(top.number) if top.sub_issues else ()
    left = [(each, 0) for each in reversed(nested)]
    while left and len(found) <= MOST_SUB_ISSUES:
        issue, parent = left.pop()
        number, is_open = issue.number, issue.state == "open"
        is_here = issue.repository_url == top.repository_url
        if (is_here and number in found) or not (is_open or number in known):
            continue
        if not is_here:
            remarks.append(f"{_address(issue)} is in another repository")
            continue
        try:
            own = number in written and issue.is_by(context.login)
            by = context.login if own else wanted.by
            sub = known.get(number)
            if sub is None:
                text = await _admitted_text(context, state, by, issue)
                names = sorted(issue.label_names)
                others = [one for one in names if not one.startswith("brat")]
                labels = [plaintext.inline(one) for one in others]
                sub = SubIssue(
                    issue=number,
                    title=text.title,
                    text=text.body,
                    labels=tuple(labels[:_LABELS_TOLD]),
                )
        except _NoTask as why:
            remarks.append(str(why))
            continue
        people = (a.login for a in issue.assignees if a.type == "User")
        kept_by = next((login for login in people if login != context.login), "")
        closed: Literal["", "completed", "not_planned"] = ""
        if not is_open:
            closed = "not_planned" if issue.state_reason in _NOT_DONE else "completed"
        found[number] = replace(sub, step_of=parent, kept_by=kept_by, closed=closed)
        read[number] = issue
        if issue.sub_issues:
            left += [(each, number) for each in reversed(await forge.of(number))]
    for number, issue in read.items():
        blockers = await forge.blocking(issue) if issue.state == "open" else ()
        opened = [each for each in blockers if each.state == "open"]
        after = {e.number for e in opened if e.repository_url == top.repository_url}
        away = (_address(e) for e in opened if e.repository_url != top.repository_url)
        found[number] = replace(
            found[number], after=tuple(sorted(after)), away=next(away, "")
        )
    fault = ""
    if remarks and not found:
        fault = f"brat cannot work on any of its sub-issues: {'; '.join(remarks)}"
    return Listing(tuple(found.values()), tuple(remarks), fault)


async def waits_for_others(context: BotContext, state: State, issue: Issue) -> str:
    """Return why an issue gets no convoy yet; empty: nothing is in its way.

    A task does it already, or an open issue blocks it.
    """
    for convoy in state.live():
        task = task_for(convoy, issue.number)
        if convoy.issue != issue.number and task is not None and not task.settled:
            return phrase("taken", task=task.number, issue=convoy.issue)
    blockers = await context.github.sub_issues.blocking(issue) if issue.blockers else ()
    if opened := [_address(each) for each in blockers if each.state == "open"]:
        by = context.memory.blocked[issue.number] = ", ".join(opened)
        return phrase("blocked", blockers=by, label=code_span(context.settings.label))
    return ""


def _address(issue: Issue) -> str:
    home = issue.repository_url.partition("/repos/")[2]
    return f"{plaintext.cut(home, _SHOWN)}#{issue.number}"


async def close_named(context: BotContext, convoy: Convoy) -> None:
    """Close the issues whose text became tasks that have landed; safe to call twice.

    What a person did they closed themselves: if it is open, they reopened it. What brat
    wrote for a task that was dropped is closed as not planned.
    """
    tasks = {each.issue: each.task for each in convoy.named}
    for number in dict.fromkeys((*tasks, *(sub.issue for sub in convoy.listed))):
        own = tasks_of(number, convoy.listed, convoy.named)
        is_done = bool(own) and all(_has_landed(convoy, task) for task in own)
        task = convoy.task(tasks.get(number, 0))
        by_person = convoy.listed and task is not None and not task.started
        if by_person or (not is_done and (convoy.listed or not own)):
            continue
        issue: Issue | None = None
        with ABSENT:
            issue = await context.github.issue(number)
        if issue is None:
            continue
        if is_done:
            await context.github.close_issue(number, "completed")
        elif issue.is_by(context.login) and (
            ids.key("issue", convoy.name, own[0]) in ids.keys_in(issue.body or "")
        ):
            await context.github.close_issue(number, "not_planned")


def _has_landed(convoy: Convoy, number: int) -> bool:
    task = convoy.task(number)
    parts = [each.number for each in convoy.tasks if each.spec.part_of == number]
    if parts and (task is None or task.state == "dropped"):
        return all(_has_landed(convoy, part) for part in parts)
    return task is not None and task.state == "merged"


async def open_named(context: BotContext, convoy: Convoy, number: int, now: Try) -> int:
    """Open a task's sub-issue; 0: it is too late. Safe to cut off and to call again."""
    task, forge = convoy.task(number), context.github
    if task is None or convoy.ended or convoy.issue_is == "gone":
        return 0
    since = datetime.fromtimestamp((convoy.requested_at - HOUR_MS) // 1000, UTC)
    key, login = now.key, context.login
    found = await forge.issue_marked(key, login, since) if now.look else None
    if found is None:
        now.repeat()
        # No text of a task can hold a marker, or call somebody.
        words = "\n".join(plaintext.harmless(redacted(own_words(task.spec))))
        told = f"<sub>Task {number} of #{convoy.issue}.</sub>"
        rest = "See the plan for the rest."
        body = f"{plaintext.posted(words, rest)}\n\n{told}\n\n{ids.marker(key)}"
        found = await forge.open_issue(redacted(task.spec.title), body)
    await forge.sub_issues.add(convoy.issue, await forge.issue(found))
    return found


async def _admitted_text(
    context: BotContext, state: State, by: str, issue: Issue
) -> marks.ReferredIssue:
    number = issue.number
    if any(convoy.issue == number for convoy in state.live()):
        raise _NoTask(f"#{number} has its own unfinished convoy")
    body, author = issue.body or "", issue.user.login if issue.user else ""
    asked = StartRequest(issue=number, title=issue.title, text=body, by=by)
    words = await admitted(context, asked, author)
    if not isinstance(words, Words):
        raise _NoTask(f"#{number} was written by someone without write access")
    return marks.ReferredIssue(number, words.title, words.text)


async def _open_issue(
    context: BotContext, written: str, own: int, before: Container[int]
) -> Issue:
    """Return the issue that an item names, other than its own and those `before`."""
    number = marks.number_here(written, context.github.repository, context.settings.web)
    if number is None:
        what = "is not an issue in this repository"
        what = "is a pull request, not an issue" if "/pull/" in written else what
        raise _NoTask(f"{plaintext.cut(written, _SHOWN)} {what}")
    if number in before:
        raise _NoTask(f"#{number} is named twice")
    if number == own:
        raise _NoTask(f"#{number} is this issue itself")
    issue: Issue | None = None
    with ABSENT:
        issue = await context.github.issue(number)
    if issue is None:
        raise _NoTask(f"this repository has no issue #{number}")
    if issue.pull_request is not None:
        raise _NoTask(f"#{number} is a pull request")
    if issue.state != "open":
        raise _NoTask(f"#{number} {marks.CLOSED}")
    return issue


async def refuse(context: BotContext, request: StartRequest, why: str) -> None:
    """Say why nothing will happen, once, and take the label off.

    It stays where the issue waits only for others.
    Who opens more issues than are answered gets no word for the rest of the hour.
    """
    if why != phrase("asked-above"):
        await tell_requester(context, request, f"denied:{request.issue}", why)
    waits = request.issue in context.memory.blocked
    if request.trigger == "label" and not waits:
        label = context.settings.label
        await context.github.relabel(request.issue, set(), {label})
        context.memory.unread.pop(request.issue, None)


async def tell_requester(
    context: BotContext, request: StartRequest, key: str, why: str
) -> None:
    """Say something about a request on its issue, under a key; safe to call twice."""
    if await allowance(context, request.by, key) != "answered":
        return
    now = quiet_try(context, key)
    said = await context.github.said(request.issue, key, context.login)
    body = plaintext.posted(f"{ids.marker(key)}\n{why}", phrase("more-faults"))
    if said is None:
        now.repeat()  # only once the previous comment would be visible
        await context.hold()
        with trying(context, key):
            await context.github.say(request.issue, body)
    elif said.body != body:
        await context.github.edit_comment(said.id, body)


async def asked_back(
    context: BotContext, request: StartRequest, words: Words, *, ask: bool
) -> str | None:
    """Return why a request waits for answers, which it asks for; None: it need not.

    The key names the text that was asked about: whoever answers in the issue changes
    it, and is not asked a second time. Safe to call twice. `ask` says whether the
    configuration wants it.
    """
    wanted = questions(words.title, words.text) if ask else ()
    if not wanted or request.added or request.trigger == "schedule":
        return None
    asked = f"asked:{request.issue}"
    text = sha256(f"{words.title}\n{words.text}".encode()).hexdigest()[:12]
    key = f"{asked}:{text}"
    if await context.github.said(request.issue, asked, context.login):
        same = await context.github.said(request.issue, key, context.login)
        return phrase("asked-above") if same else None
    listed = "\n".join(f"{at}. {each}" for at, each in enumerate(wanted, 1))
    told = phrase("questions", by=request.by, listed=listed)
    await tell_requester(context, request, asked, f"{told}\n{ids.marker(key)}")
    return phrase("asked-above")
