"""A plan in the convoy's comment: a diagram, and folded, a few lines a task."""

from collections.abc import Iterator, Sequence
from typing import Final

from bot.text.visible_text import code_span
from convoy.model.state import Convoy
from convoy.text import clean, counted, fitting, inline
from convoy.views.plan import PlanDocument, PlanTask, plan_document

NODE_CHARS: Final = 40
DRAWN_MOST: Final = 30
"""A diagram with more tasks would be unreadable."""


def _mermaid(convoy: Convoy) -> Iterator[str]:
    yield "graph LR"
    for task in convoy.tasks:
        yield f'  t{task.number}["{task.number}. {_label(task.spec.title)}"]'
    for task in convoy.tasks:
        yield from (f"  t{number} --> t{task.number}" for number in task.spec.after)


def _label(title: str) -> str:
    """Return a title without characters that could end the label or be markup."""
    harmless = "".join(c if c.isalnum() or c in " .,/-" else " " for c in title)
    return " ".join(harmless[:NODE_CHARS].split())


MOST_CHARS: Final = 30_000
"""However much room there is, nobody reads more."""
_ENDS_CHARS: Final = 1_500
"""For what frames the lists: headings, the fold and the lines that say what is cut."""
_NAMES: Final = 8
_PATH_CHARS: Final = 120
_COMMAND_CHARS: Final = 300


def plan_section(convoy: Convoy, room: int) -> list[str]:
    """Return a convoy's plan as folded Markdown; empty: there is none, or no room."""
    found = plan_document(convoy)
    room = min(room, MOST_CHARS) - _ENDS_CHARS
    if not found.tasks or room <= 0:
        return []
    graph: tuple[str, ...] = ()
    if len(convoy.tasks) <= DRAWN_MOST and any(t.spec.after for t in convoy.tasks):
        graph = ("```mermaid", *_mermaid(convoy), "```", "")
    room -= sum(map(len, graph))
    changed = diff_block(found.changes, room // 4, convoy.name)
    if changed:
        heading = "**Changed** since the plan was made or last approved:"
        changed = [heading, "", *changed, ""]
    room -= sum(len(line) + 1 for line in changed)
    blocks = fitting(
        ["\n".join(_task(task)) for task in found.tasks],
        f"- {{}}: `brat convoy show {convoy.name}` shows them all",
        room,
    )
    is_open = " open" if convoy.state == "planning" else ""
    return [
        f"<details{is_open}><summary>{_summary(found)}</summary>",
        "",
        *graph,
        *changed,
        *blocks,
        "",
        "</details>",
        "",
    ]


def diff_block(changes: Sequence[str], room: int, name: str) -> list[str]:
    """Return changes of a plan as a block of code; empty: there are none.

    Back quotes in a change could end the block.
    """
    if not changes:
        return []
    more = f"{{}}: brat convoy show {name}"
    told = [" ".join(clean(each).split()).replace("`", "'") for each in changes]
    lines = fitting(told, more, max(0, room))
    return ["```diff", *lines, "```"]


def _summary(found: PlanDocument) -> str:
    told = f"The plan: {counted(len(found.tasks), 'task')}"
    if found.changes:
        told += f", {counted(len(found.changes), 'change')}"
    if found.protected:
        told += f", {counted(len(found.protected), 'task')} with protected paths"
    return told


def _task(task: PlanTask) -> Iterator[str]:
    engine = code_span(task.engine)
    why = f": {inline(task.why)}" if task.why else ""
    yield f"- **{task.number}. {inline(task.title)}**"
    if task.does:
        yield f"  - does: {inline(task.does)}"
    changes = f"changes {_paths(task.paths)}" if task.paths else ""
    makes = f"makes {_paths(task.creates)}" if task.creates else ""
    touches = "; ".join(filter(None, (changes, makes)))
    yield f"  - {touches or 'declares no paths'}"
    yield f"  - engine {engine}{why}"
    for wait in task.waits:
        yield f"  - waits for task {wait.on}: {inline(wait.why)}"
    if task.acceptance:
        yield f"  - done when {code_span(task.acceptance, _COMMAND_CHARS)} passes"
    if task.protected:
        by = inline(task.protected_by)
        yield f"  - **needs protected paths**: {_paths(task.protected)}; {by}"


def _paths(paths: Sequence[str]) -> str:
    more = len(paths) - _NAMES
    named = ", ".join(code_span(path, _PATH_CHARS) for path in paths[:_NAMES])
    return f"{named} and {more} more" if more > 0 else named
