"""Looks at what people did by hand, and tells them once what it means; calls people."""

import asyncio
from collections.abc import Awaitable, Callable, Container, Iterator
from datetime import UTC, datetime
from functools import partial
from http import HTTPStatus
from typing import Final

from msgspec.structs import replace

from bot.forge.payloads import Issue
from bot.forge.rest import Refused
from bot.repository.draft import Draft
from bot.roles.bot_context import BotContext, BotDraft, tried
from bot.text import notices, phrase
from bot.text.convoy_comment import LABELS
from bot.text.notices import call_text
from bot.text.visible_text import code_span
from convoy.events import copied
from convoy.events.hold_events import (
    NO_LABEL,
    BaseDeleted,
    BranchPushed,
    BranchTaken,
    IssueClosed,
    IssueGone,
    MergeWithdrawn,
    WorkTakenOut,
)
from convoy.events.people_events import TaskApproved
from convoy.events.task_events import ConvoyFailed
from convoy.gate import ci_files
from convoy.model import ids
from convoy.model.state import Convoy, State, Task
from convoy.model.work import Push
from convoy.owed import Call, Hear, HearPush, item_of
from convoy.owed.gestures import gestures
from convoy.rules import landing
from convoy.rules.calls import CallPeople
from convoy.rules.observed import IssueSeen, PullSeen
from convoy.rules.verdict import Checks


async def is_wanted(draft: BotDraft, convoy: str) -> bool:
    """Look just before a landing whether a person has said no; that is then owed."""
    issues = await look_at_issues(draft.bot)
    pulls = await look_at_pulls(draft.bot, draft.state)  # one may just have been noted
    draft.bot.observed = replace(draft.bot.observed, issues=issues, pulls=pulls)
    seen = replace(draft.bot.observed, refs=draft.refs)
    return not any(gestures(draft.state.convoys[convoy], seen))


PUSHED_FILES: Final = 200


def hear_push(draft: BotDraft, action: HearPush) -> None:
    """Go on from a mere update; keep what else was pushed, and ask who wants it."""
    name, number, commit = action.convoy, action.task, action.commit
    convoy = draft.state.convoys[name]
    task = convoy.task(number)
    if onto := _taken_in(draft, convoy, task, commit):
        draft.submit(copied(BranchPushed, action))
        draft.submit(copied(BranchTaken, action, by="", onto=onto))
        return
    tip = task.work.commit if task and task.work else convoy.tip or convoy.base
    patch = draft.bot.commits.examined(tip, commit, convoy.settings)
    pushed = Push(
        commit=commit,
        files=patch.files[:PUSHED_FILES],
        ci_files=ci_files(patch.files)[:PUSHED_FILES],
        faults=patch.refusals,
    )
    note = copied(BranchPushed, pushed, convoy=name, task=number)
    if draft.submit(note) is not None:
        return
    kept = draft.keep(name, number, 0, commit)
    text = notices.branch_pushed(
        ids.branch_of(name, number), pushed, tip, kept, is_tasks=bool(task)
    )
    on = (task and task.pull) or convoy.issue
    _say_once(draft, convoy, f"push/{number}", text, on)


async def took_merge(
    draft: BotDraft, action: HearPush, judged: Callable[[str], Awaitable[Checks]]
) -> bool:
    """Go on if a person merged a task's pull request as the gate and CI passed it.

    The merge approves the work. Of any other merge, say why it is asked about.
    """
    convoy, commit, bot = draft.state.convoys[action.convoy], action.commit, draft.bot
    for task in convoy.tasks:
        work, number = task.work, task.pull
        if number is None or work is None or task.state != "needs-review":
            continue
        pull = await bot.github.pulls.one(number)
        by, head, tip = pull.merged_by, pull.head.sha, convoy.tip or convoy.base
        if by is None or pull.merge_commit_sha != commit:
            continue
        await asyncio.to_thread(bot.mirror.ensure, [tip, head, commit])
        heads = (work.commit, task.candidate and task.candidate.commit)
        is_ours = head in heads and bot.composer.is_merge(tip, head, commit)
        if by.type == "Bot" or not is_ours:
            why = "it is no person's merge of the task's work alone"
        elif convoy.settings.require_ci and (await judged(head)).verdict != "green":
            why = f"CI is not green on {head[:10]}"
        else:
            approved = {"task": task.number, "commit": head, "by": by.login}
            draft.submit(copied(TaskApproved, action, **approved))
            settle = {"task": task.number, "work": work.commit, "landed": commit}
            refused = draft.submit(copied(landing.SettleEmpty, action, **settle))
            why = refused.why if refused is not None else ""
        text = phrase("merged", by=by.login)
        if why:
            text = phrase("merged-but", by=by.login, why=why)
        _say_once(draft, convoy, f"merged/{task.number}", text, number)
        if not why:
            draft.submit(copied(BranchPushed, action))
            draft.submit(copied(BranchTaken, action, by=""))
        return not why
    return False


def _taken_in(draft: BotDraft, convoy: Convoy, task: Task | None, commit: str) -> str:
    """Return what a push merges of its pull request's base; empty: it adds more.

    The base is the target, or for a task's branch the convoy's own.
    """
    base = ids.base_branch(convoy.name) if task else convoy.target
    tip = draft.refs.get(ids.HEADS + base)
    since, composer = landing.target_taken_in(convoy), draft.bot.composer
    heads: Container[str] = convoy.tips
    if tip is None or (task is not None and task.state != "needs-review"):
        return ""
    draft.bot.mirror.ensure([commit, tip, since])
    if task is not None and task.work is not None:
        since, heads = task.work.base, (task.work.commit,)
    onto = composer.updated(commit, heads, tip)
    return onto if onto and composer.is_ancestor(since, onto) else ""


def hear(draft: BotDraft, action: Hear) -> None:
    """Note what a person did by hand, and say once what it means."""
    convoy = draft.state.convoys[draft.state.convoy_of_item(item_of(action))]
    if draft.submit(action.command) is not None:
        return
    on: int | None = convoy.issue
    match action.command:
        case WorkTakenOut(task=task, pull=pull) as out:
            wanted = ids.base_branch(convoy.name) if task else convoy.target
            text, about, on = notices.taken_out(out, wanted), f"{task}", pull
            if task and (part := convoy.task(task)) and part.held == NO_LABEL:
                return
        case MergeWithdrawn(by=by):
            text, about, on = phrase("dequeued", by=by), "queue", convoy.pull
        case BaseDeleted():
            branch = code_span(ids.base_branch(convoy.name))
            text, about = phrase("base-deleted", branch=branch), "base"
        case IssueGone(how=how):
            text, about = phrase("issue-gone", issue=convoy.issue, how=how), how
            own = (task.pull for task in convoy.tasks if task.pull and not task.settled)
            on = convoy.pull or next(own, None)  # a pull request that is open
        case ConvoyFailed(by=by):
            label, about = code_span(draft.bot.settings.label), "unlabelled"
            text = phrase("unlabelled", by=by, label=label)
        case IssueClosed():
            text, about = phrase("issue-closed"), "closed"
        case _:
            return  # an issue that is open again needs no words
    _say_once(draft, convoy, about, text, on)


def _say_once(
    draft: Draft, convoy: Convoy, about: str, text: str, on: int | None
) -> None:
    """Say what a gesture means, unless a label forbids all words or there is no place.

    A gesture that was noted is not heard again.
    """
    if text and on and convoy.held != NO_LABEL:
        draft.say(on, "gesture", f"{convoy.name}/{about}/{draft.now}", text)


NEW_MS: Final = 300_000
"""For so long the forge may not find an issue everywhere that was just opened."""


async def look_at_issues(context: BotContext) -> dict[int, IssueSeen]:
    """Return the known issues; one that the forge does not tell is as before.

    One list shows those changed last; only what it does not show is asked for alone.
    """
    convoys = {convoy.issue: convoy for convoy in context.mirror.state.live()}
    if not convoys:
        return {}
    item = ids.item("look", "latest issues")
    listed = await tried(context, item, context.github.latest_issues)
    known = context.observed.issues
    found = {number: known[number] for number in convoys if number in known}
    for number, convoy in convoys.items():
        step = partial(_issue_seen, context, convoy, listed)
        seen = await tried(context, ids.item("look", convoy.name, "issue"), step)
        if seen is not None:
            found[number] = seen
    return found


async def _issue_seen(
    context: BotContext, convoy: Convoy, listed: dict[int, Issue] | None
) -> IssueSeen | None:
    """Return an issue as the forge shows it; None: it may only not be found yet.

    The forge answers 404 for an issue that was transferred out of our sight, and 410
    also where a repository's issues are switched off.
    Source: https://docs.github.com/rest/issues/issues#get-an-issue
    """
    number = convoy.issue
    try:
        issue = (listed or {}).get(number) or await context.github.issue(number)
    except Refused as refused:
        if refused.status == HTTPStatus.GONE and "transferred" in refused.said:
            return IssueSeen(open=False, gone="transferred")
        if refused.status == HTTPStatus.GONE and "deleted" in refused.said:
            return IssueSeen(open=False, gone="deleted")
        if refused.status != HTTPStatus.NOT_FOUND or listed is None:
            raise
        if context.clock() < convoy.requested_at + NEW_MS:
            return None
        return IssueSeen(open=False, gone="transferred")
    ours = {*LABELS, context.settings.label}
    begun = datetime.fromtimestamp(convoy.requested_at // 1000, UTC)
    taken_off = ""  # who took the convoy's last label off
    if not ours & issue.label_names:
        for event in (await context.github.last_labellings(number, ours)).values():
            by = event.actor.login if event.actor else context.login
            is_new = event.created_at is not None and event.created_at >= begun
            if event.event == "unlabeled" and is_new and by != context.login:
                taken_off = taken_off or by
    return IssueSeen(open=issue.state == "open", unlabelled_by=taken_off)


async def look_at_pulls(context: BotContext, state: State) -> dict[int, PullSeen]:
    """Return the known pull requests; one that the forge does not tell is as before."""
    known = frozenset(known_pulls(state))
    if not known:
        return {}
    pulls = context.github.pulls
    listed = await tried(context, ids.item("look", "pulls"), pulls.latest) or {}
    found = {n: seen for n, seen in context.observed.pulls.items() if n in known}
    for number in sorted(known):
        pull = listed.get(number)
        if pull is None:
            pull = await tried(
                context, ids.item("pull", number), partial(pulls.one, number)
            )
        if pull is not None:
            merged = pull.merged_at is not None
            found[number] = PullSeen(
                number=pull.number,
                open=pull.state == "open",
                merged=merged,
                merge_commit=pull.merge_commit_sha if merged else None,
                head=pull.head.sha,
                base=pull.base.ref,
                draft=pull.draft,
            )
    return found


def known_pulls(state: State) -> Iterator[int]:
    for convoy in state.live():
        if number := convoy.given.number if convoy.given else convoy.pull:
            yield number
        for task in convoy.tasks:
            if task.pull is not None and not task.settled:
                yield task.pull


def call_people(draft: Draft, action: Call) -> None:
    convoy = draft.state.convoys[action.convoy]
    text = call_text(convoy, action.needs)
    draft.submit(CallPeople(convoy=convoy.name, text=text, now=draft.now))
