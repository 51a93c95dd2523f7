"""The title, summary and conclusion of each of brat's checks. Pure."""

from collections.abc import Iterator
from typing import Final

from bot.forge.check_runs import Conclusion, View
from bot.markdown.code_block import code_block
from bot.messages.convoy_links import comment_url
from convoy.model import ids
from convoy.model.state import Convoy, Task
from convoy.model.work import HandedIn
from convoy.rules.turns import lacking_approvals
from convoy.text import full_stop, inline
from convoy.text.project_tests import failing_places

_GATED: Final = "brat lands it when CI is green on the exact commit that will land."
_AGAIN: Final = "The next attempt is told this; its work gets a check of its own."


def views(convoy: Convoy, page: str) -> Iterator[View]:
    """Give every check that a convoy should have.

    Args:
        convoy: the convoy.
        page: the repository's address for people.
    """
    for task in convoy.tasks:
        if (view := task_view(convoy, task, page)) is not None:
            yield view
    if convoy.offered:
        yield _convoy_view(convoy, page)


def task_view(convoy: Convoy, task: Task, page: str) -> View | None:
    """Return the check on a task's newest accepted work; None: it has none."""
    work = task.handed_in
    if work is None:
        return None
    conclusion, title, why = _of_task(convoy, task, work)
    was_red = task.why if task.state == "blocked" else work.why
    return View(
        key=ids.check_key(convoy.name, task.number, work.attempt),
        commit=work.commit,
        name=ids.task_check_name(task.number),
        conclusion=conclusion,
        title=title,
        summary=f"Task {task.number} of convoy `{convoy.name}`, attempt "
        f"{work.attempt}. {why}",
        url=comment_url(convoy, page),
        places=failing_places(was_red),
    )


def _of_task(
    convoy: Convoy, task: Task, work: HandedIn
) -> tuple[Conclusion | None, str, str]:
    if task.work is None or task.work.attempt != work.attempt:
        return "failure", "Sent back", f"{_told(work.why)}\n\n{_AGAIN}"
    match task.state:
        case "merged":
            landed, branch = (task.landed or "")[:10], ids.base_branch(convoy.name)
            return "success", "Landed", f"It landed on `{branch}` as `{landed}`."
        case "dropped":
            return "cancelled", "Dropped", full_stop(inline(task.why))
        case "blocked":
            return "action_required", "Waits for a person", _told(task.why)
        case _ if lacks := lacking_approvals(convoy, task):
            return "action_required", "Waits for approval", f"It needs {inline(lacks)}."
        case _:
            return None, "In the merge queue", _GATED


def _told(why: str) -> str:
    """Return a reason: its first line as a sentence, the rest as it was printed."""
    first, _, rest = why.strip().partition("\n")
    said = full_stop(inline(first))
    return f"{said}\n\n{code_block(rest.strip())}" if rest.strip() else said


def _convoy_view(convoy: Convoy, page: str) -> View:
    conclusion: Conclusion | None = None
    title, why = f"To be landed on {convoy.target}", _GATED
    if convoy.state == "complete":
        landed = (convoy.landed or "")[:10]
        conclusion, title = "success", f"Landed on {convoy.target}"
        why = f"It landed as `{landed}`."
    elif convoy.state == "failed":
        conclusion, title, why = "failure", "Given up", full_stop(inline(convoy.why))
    return View(
        key=ids.check_key(convoy.name, 0, 1),
        commit=convoy.offered,
        name=ids.CONVOY_CHECK_NAME,
        conclusion=conclusion,
        title=title,
        summary=f"Convoy `{convoy.name}` for #{convoy.issue}. {why}",
        url=comment_url(convoy, page),
    )
