"""The comment that calls people, and its form in plain text. Pure."""

from collections.abc import Iterator
from typing import Final

from convoy.gate import unallowed
from convoy.model.ids import SetAside
from convoy.model.state import Convoy, Task
from convoy.rules.people import Need
from convoy.text import full_stop, inline

_MOST: Final = 10


def call_text(convoy: Convoy, needs: tuple[Need, ...], whom: str) -> str:
    """Return the comment as Markdown: whom it calls, what waits, how to answer.

    Args:
        convoy: the convoy that waits.
        needs: the things that wait for a person.
        whom: the login of the person called; empty: nobody by name.
    """
    called = f"@{whom} " if whom else ""
    lines = [f"{called}This waits for a person:", ""]
    lines += ["- " + "".join(_said(convoy, need)) for need in needs[:_MOST]]
    if more := len(needs[_MOST:]):
        lines.append(f"- and {more} more, as the convoy's comment says")
    return "\n".join(lines)


def call_notice(convoy: Convoy, needs: tuple[Need, ...]) -> str:
    """Return the call in plain text, for people who do not see the issue."""
    lines = []
    for need in needs[:_MOST]:
        task = convoy.task(need.task)
        why = task.why if task and need.kind == "unblock" else ""
        why = need.aside.why if need.aside else why
        why = convoy.sync.stalled if need.kind == "landing" else why
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
            yield f"the convoy failed: {full_stop(inline(convoy.why))} "
            yield "`/brat retry` takes it up with its work; the label starts anew."
        case "approve the plan":
            yield "the plan: look at it, and say `/brat approve`."
        case "approve the work":
            pull = f"#{task.pull}" if task else "its pull request"
            yield f"its work is to be approved on {pull}."
        case "let it land" | "landing":
            yield from _landing(convoy)
        case "refused":
            yield from _refused(need.aside, task)
        case "unblock":
            yield _unblocking(convoy, task)


def _unblocking(convoy: Convoy, task: Task | None) -> str:
    if task is None:
        return ""
    why = full_stop(inline(task.why))
    if unallowed(task, convoy.settings.gate):
        return why  # it says what helps: another try would not
    return f"{why} Say `/brat retry {task.number}` or `/brat drop {task.number}`."


def _landing(convoy: Convoy) -> Iterator[str]:
    if convoy.sync.stalled:
        yield f"its landing: {full_stop(inline(convoy.sync.stalled))} "
        yield "Once that is put right, say `/brat retry`."
    else:
        yield f"pull request #{convoy.pull} is green and waits for "
        yield f"{inline(convoy.landing_waits)}."


def _refused(aside: SetAside | None, task: Task | None) -> Iterator[str]:
    if aside is None:
        return
    yield f"{full_stop(inline(aside.why))} "
    if aside.helps:
        yield f"{inline(aside.helps)} "
    again = f"/brat retry task-{task.number}" if task else "/brat retry"
    yield f"It is tried again from time to time, or say `{again}`."
