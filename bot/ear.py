"""The ear: commands in comments, from what was said to what is decided and answered.

Each comment is answered once: by a reaction under it, and by one reply where there is
something to say. A comment that comes again (GitHub delivers twice) finds its answer
announced or given, and changes nothing.
"""

import asyncio
from typing import Final, assert_never

from bot import mayor, replies
from bot.desk import Desk
from bot.draft import Draft
from bot.inbox import Remark, Request as Labelled
from bot.replies import Reply
from bot.speech import requests as asked
from bot.speech.grammar import Misheard, Said, heard
from bot.speech.requests import Request
from bot.speech.verbs import checked, verb_of
from convoy import ids
from convoy.commands import (
    Answer,
    Command,
    DropTask,
    FailConvoy,
    FreeLease,
    PauseConvoy,
    ResumeConvoy,
    RetryTask,
    TakeLease,
)
from convoy.state import Convoy, State

EYES: Final = "eyes"


async def attend(desk: Desk, draft: Draft, remark: Remark) -> None:
    """Carry out what a comment asks for and announce its answer. Safe to call twice."""
    key = ids.answer_key(remark.comment)
    if key in draft.state.intents or remark.comment in draft.state.answered:
        return
    said = await asyncio.to_thread(heard, remark.text)  # hostile text takes seconds
    if not said:
        return
    await desk.github.react(remark.comment, EYES)
    given = [await _one(desk, draft, remark, each) for each in said]
    draft.submit(
        Answer(
            issue=remark.issue,
            comment=remark.comment,
            reaction=replies.reaction(given),
            text=replies.text(remark.by, given),
        )
    )


async def _one(
    desk: Desk, draft: Draft, remark: Remark, said: Said | Misheard
) -> Reply:
    if isinstance(said, Misheard):
        return replies.misheard(said)
    request = checked(said, "pull" if remark.on_pull else "issue")
    if isinstance(request, Misheard):
        return replies.misheard(request)
    verb = verb_of(request)
    if verb.right != "read" and not await desk.github.may_write(remark.by):
        return replies.denied(verb.name)
    if isinstance(request, asked.Start):
        return await _start(desk, draft, remark, request)
    return carry_out(desk, draft, remark, request)


async def _start(
    desk: Desk, draft: Draft, remark: Remark, request: asked.Start
) -> Reply:
    issue = await desk.github.issue(remark.issue)
    labelled = Labelled(
        issue=issue.number,
        title=issue.title,
        text=issue.body or "",
        by=remark.by,
        added=request.text,
    )
    why = await mayor.begin(desk, draft, labelled, issue)
    return replies.refused(why) if why else replies.done("The convoy is being planned.")


def carry_out(desk: Desk, draft: Draft, remark: Remark, request: Request) -> Reply:
    """Put one request to the rules and return what is to be said of it."""
    match request:
        case asked.Help(verb=verb):
            return replies.help_with(verb)
        case asked.Ping():
            return replies.pong(desk.login)
        case asked.Lock() | asked.Unlock():
            return _lease(draft, remark, request)
        case asked.PauseAll() | asked.ResumeAll():
            return _all(draft, remark, pause=isinstance(request, asked.PauseAll))
        case _:
            convoy = convoy_of(draft.state, remark.issue)
            if convoy is None:
                return replies.refused("no convoy belongs to this issue")
            return _of_convoy(draft, remark, convoy, request)


def convoy_of(state: State, number: int) -> Convoy | None:
    """Return the newest convoy that an issue or pull request belongs to."""
    found = [
        convoy
        for convoy in state.convoys.values()
        if number in (convoy.issue, convoy.pull)
        or any(task.pull == number for task in convoy.tasks)
    ]
    return found[-1] if found else None


def _of_convoy(draft: Draft, remark: Remark, convoy: Convoy, request: Request) -> Reply:
    by, name = remark.by, convoy.name
    match request:
        case asked.Status():
            return replies.status(convoy)
        case asked.Why(task=number):
            return replies.why(convoy, number)
        case asked.Pause():
            return _do(draft, PauseConvoy(convoy=name, by=by), "Nothing new starts.")
        case asked.Resume():
            return _do(draft, ResumeConvoy(convoy=name, by=by), "It goes on.")
        case asked.Cancel(task=None):
            gone = FailConvoy(convoy=name, why=f"cancelled by {by}")
            return _do(draft, gone, "The convoy is cancelled; what is done is kept.")
        case asked.Cancel(task=int(number)) | asked.Drop(task=number):
            drop = DropTask(convoy=name, task=number, why=f"dropped by {by}")
            return _do(draft, drop, f"Task {number} is dropped.")
        case asked.Retry(task=number):
            return _retry(draft, remark, convoy, number)
        case _:
            return replies.refused("that cannot be said of a convoy")


def _retry(draft: Draft, remark: Remark, convoy: Convoy, number: int | None) -> Reply:
    """Retry one task, the pull request's own, or all that is blocked."""
    own = [task.number for task in convoy.tasks if task.pull == remark.issue]
    blocked = [task.number for task in convoy.tasks if task.state == "blocked"]
    numbers = [number] if number is not None else own or blocked
    if not numbers:
        return replies.refused("nothing is blocked")
    for each in numbers:
        command = RetryTask(convoy=convoy.name, task=each, by=remark.by)
        if refused := draft.submit(command):
            return replies.refused(refused.why)
    listed = ", ".join(map(str, numbers))
    return replies.done(f"Task {listed} is queued again, with all its attempts.")


def _lease(draft: Draft, remark: Remark, request: asked.Lock | asked.Unlock) -> Reply:
    resource = request.resource
    held = draft.state.leases.get(resource)
    match request:
        case asked.Lock(ttl_s=ttl_s):
            take = TakeLease(
                resource=resource,
                holder=remark.by,
                nonce=str(remark.comment),
                now=draft.now,
                ttl_s=ttl_s,
            )
            return _do(draft, take, f"`{resource}` is yours for {ttl_s} s.")
        case asked.Unlock():
            nonce = held.nonce if held else ""
            free = FreeLease(resource=resource, holder=remark.by, nonce=nonce)
            return _do(draft, free, f"`{resource}` is free.")
        case _:
            assert_never(request)


def _all(draft: Draft, remark: Remark, *, pause: bool) -> Reply:
    """Pause or resume every convoy that can be."""
    wanted = "active" if pause else "paused"
    names = [convoy.name for convoy in draft.state.live() if convoy.state == wanted]
    for name in names:
        command: Command = (
            PauseConvoy(convoy=name, by=remark.by)
            if pause
            else ResumeConvoy(convoy=name, by=remark.by)
        )
        draft.submit(command)
    said = "Paused" if pause else "Resumed"
    return replies.done(f"{said} {len(names)} convoys.")


def _do(draft: Draft, command: Command, said: str) -> Reply:
    refused = draft.submit(command)
    return replies.refused(refused.why) if refused else replies.done(said)
