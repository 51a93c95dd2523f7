"""Notes what people did by hand on the forge, and tells them once what it means."""

from msgspec.structs import replace

from bot.context.bot_context import BotContext
from bot.repository.draft import Draft
from bot.roles import issue_look, pull_look
from bot.text import notices
from bot.text.convoy_comment import NO_LABEL
from convoy.events import Command
from convoy.events.forge_actions import Answer
from convoy.events.hold_events import (
    NoteClosedIssue,
    NoteDeletedBase,
    NoteReopenedIssue,
    NoteRestoredBase,
    TakeOutWork,
    WithdrawMerge,
)
from convoy.model import ids
from convoy.model.state import Convoy
from convoy.owed import HearBase, HearDequeue, HearIssue, TakeOut
from convoy.owed.owed import gestures
from convoy.rules.people import FailConvoy, NoteGoneIssue


async def is_wanted(context: BotContext, draft: Draft, convoy: str) -> bool:
    """Look just before a landing whether a person has said no by hand.

    A delivery may be late or lost, and a sweep far off. What is found is then owed.
    """
    issues = await issue_look.look(context)
    pulls = await pull_look.look(context)
    context.observed = replace(context.observed, issues=issues, pulls=pulls)
    seen = replace(context.observed, refs=draft.refs)
    return not any(gestures(draft.state.convoys[convoy], seen))


def take_out(draft: Draft, action: TakeOut) -> None:
    """Take work out, and say on its pull request what brings it back."""
    out, convoy = action.out, draft.state.convoys[action.convoy]
    task = convoy.task(action.task)
    part = task or convoy
    wanted = ids.base_branch(convoy.name) if task else convoy.target
    command = TakeOutWork(convoy=convoy.name, task=action.task, out=out)
    if draft.submit(command) is None and NO_LABEL not in (convoy.held, part.held):
        text = notices.taken_out(out, action.task, wanted)
        say(draft, out.pull, f"{convoy.name}/{action.task}", text)


def hear_dequeue(draft: Draft, action: HearDequeue) -> None:
    """Take a convoy out of the merge queue, as the forge shows, and say so once."""
    convoy = draft.state.convoys[action.convoy]
    command = WithdrawMerge(convoy=convoy.name, task=0, by=action.by)
    if draft.submit(command) is None and convoy.pull and convoy.held != NO_LABEL:
        text = notices.dequeued(action.by)
        say(draft, convoy.pull, f"{convoy.name}/queue", text)


def hear_base(draft: Draft, action: HearBase) -> None:
    """Pause a convoy whose shared branch was deleted, and say so; or let it go on."""
    name = action.convoy
    if action.there:
        draft.submit(NoteRestoredBase(convoy=name))
        return
    convoy = draft.state.convoys[name]
    if draft.submit(NoteDeletedBase(convoy=name)) is None and convoy.held != NO_LABEL:
        text = notices.base_deleted(ids.base_branch(name))
        say(draft, convoy.issue, f"{name}/base", text)


def hear(context: BotContext, draft: Draft, action: HearIssue) -> None:
    """Pause, resume or end a convoy as its issue says, and tell people once."""
    convoy = draft.state.convoys[action.convoy]
    if draft.submit(_command(action)) is not None or convoy.held == NO_LABEL:
        return
    text = notices.about_issue(action, convoy.issue, context.settings.label)
    gone = action.gesture in ("deleted", "transferred")
    number = _open_pull(convoy) if gone else convoy.issue
    if text and number is not None:
        say(draft, number, f"{convoy.name}/{action.gesture}", text)


def _open_pull(convoy: Convoy) -> int | None:
    """Return the convoy's own pull request, or else one of its tasks that is open."""
    own = (task.pull for task in convoy.tasks if task.pull and not task.settled)
    return convoy.pull or next(own, None)


def _command(action: HearIssue) -> Command:
    name = action.convoy
    match action.gesture:
        case "closed":
            return NoteClosedIssue(convoy=name)
        case "reopened":
            return NoteReopenedIssue(convoy=name)
        case "unlabelled":
            why = f"cancelled: {action.by} took the label off"
            return FailConvoy(convoy=name, why=why, by=action.by)
        case _:
            return NoteGoneIssue(convoy=name, how=action.gesture)


def say(draft: Draft, number: int, what: str, text: str) -> None:
    """Announce a comment on an issue or pull request about what was done to it."""
    sign = ids.sign_key("gesture", f"{what}/{draft.now}")
    draft.submit(Answer(issue=number, sign=sign, text=text))
