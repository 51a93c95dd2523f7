"""Calling people: one new comment, with who is asked, what waits, and what to say."""

from collections.abc import Iterator
from typing import Final

from bot.comment import inline
from bot.orders.vouching import is_login
from bot.repository.draft import Draft
from convoy.actions import Call
from convoy.commands import CallPeople
from convoy.needs import Need
from convoy.state import Convoy

_MOST: Final = 10
_BOT: Final = "[bot]"


def call(draft: Draft, action: Call) -> None:
    """Announce the comment that calls who answers for the convoy."""
    convoy = draft.state.convoys[action.convoy]
    call = CallPeople(
        convoy=convoy.name,
        text=_text(convoy, action.needs),
        now=draft.now,
        notice=_notice(convoy, action.needs),
    )
    draft.submit(call)


def _text(convoy: Convoy, needs: tuple[Need, ...]) -> str:
    by = convoy.vouched_by or convoy.by
    whom = f"@{by} " if is_login(by) and not by.endswith(_BOT) else ""
    lines = [f"{whom}This waits for a person:", ""]
    lines += ["- " + "".join(_said(convoy, need)) for need in needs[:_MOST]]
    if more := len(needs[_MOST:]):
        lines.append(f"- and {more} more, as the convoy's comment says")
    return "\n".join(lines)


def _notice(convoy: Convoy, needs: tuple[Need, ...]) -> str:
    """Return the same in plain text, for people who are not on the issue."""
    lines = []
    for need in needs[:_MOST]:
        task = convoy.task(need.task)
        why = task.why if task and need.kind == "unblock" else ""
        about = f"task {task.number}, {task.spec.title}: " if task else ""
        lines.append(f"- {about}{' '.join((why or need.kind).split())}")
    if more := len(needs[_MOST:]):
        lines.append(f"- and {more} more")
    return "\n".join(lines)


def _said(convoy: Convoy, need: Need) -> Iterator[str]:
    task = convoy.task(need.task)
    if task is not None:
        yield f"task {task.number}, {inline(task.spec.title)}: "
    match need.kind:
        case "failed":
            yield f"the convoy failed: {inline(convoy.why)}. "
            yield "To try again, set the label again."
        case "approve the plan":
            yield "the plan: look at it, and say `/brat approve`."
        case "approve the work":
            pull = f"#{task.pull}" if task else "its pull request"
            yield f"its work is to be approved on {pull}."
        case "unblock":
            yield f"{inline(task.why if task else '')}. Say "
            yield f"`/brat retry {need.task}` or `/brat drop {need.task}`."
