"""What people read on the forge: the convoy's comment, its labels, its pull requests.

Pure: text from state. All of it says the same as the log, which is the truth.
"""

from collections.abc import Iterator
from typing import Final

from bot import order, preview
from bot.orders import boxes
from bot.speech.code_span import code_span
from convoy import ids
from convoy.state import Convoy, Task
from convoy.text.plaintext import clean
from convoy.told.further import further
from convoy.told.order import collisions, edges
from convoy.told.reasons import waits_for
from convoy.told.spending import foreseen, spoken, used

LABELS: Final = (
    "brat:planning",
    "brat:active",
    "brat:paused",
    "brat:complete",
    "brat:failed",
)
HOLD: Final = "brat:hold"
"""Nothing of the issue's convoy, or of the pull request's task, starts or merges."""
NO: Final = "brat:no"
"""The bot never acts on this issue or pull request."""
_WHY_CHARS: Final = 160
_ORDER_CHARS: Final = 2_000
_TITLE_CHARS: Final = 256
"""The longest title GitHub takes."""
LIST_CHARS: Final = 60_000
"""GitHub takes a text of 65536 characters."""
_HARMLESS: Final = str.maketrans(
    {mark: f"\\{mark}" for mark in "\\|`[*_~"}
    # GitHub looks for names and numbers when the escapes are gone already, and `brat`
    # for its markers before.
    | {"@": "@\u200b", "#": "#\u200b", "&": "&amp;", "<": "&lt;"}
)


def labels(convoy: Convoy, start_label: str) -> tuple[set[str], set[str]]:
    """Return the labels the issue should have, and those it should not.

    What is only shown writes none.
    """
    if convoy.staged:
        return set(), set()
    have = {f"brat:{convoy.state}"}
    return have, ({*LABELS, start_label} - have)


def convoy_comment(convoy: Convoy, ticked: frozenset[str] = frozenset()) -> str:
    """Return the one comment that shows a convoy, as Markdown.

    Args:
        convoy: as it is.
        ticked: boxes that a person has ticked and the bot has not heard of yet.
    """
    lines = boxes.lines(convoy, ticked)
    surface = ("", *lines) if lines else ()
    marker = ids.marker(ids.comment_key(convoy.name))
    return "\n".join((marker, convoy_table(convoy), *surface))


def convoy_table(convoy: Convoy) -> str:
    """Return where a convoy and its tasks stand, as Markdown."""
    lines = [
        f"### Convoy `{convoy.name}`: {_headline(convoy)}",
        "",
    ]
    if convoy.tasks:
        lines += [
            "| # | Task | State | Attempts | Pull request | Landed as | Waits for |",
            "|---|---|---|---|---|---|---|",
            *fitting([_row(convoy, task) for task in convoy.tasks], "| | {} |"),
            "",
        ]
    if not convoy.ended:
        lines += _look_out(convoy)
    if convoy.staged and convoy.tasks:
        lines += [*preview.lines(convoy), ""]
    elif convoy.state == "planning" and convoy.tasks:
        lines += [*_order(convoy), ""]
        lines += ["**The plan waits for a person:** say `/brat approve`.", ""]
    if convoy.held:
        lines += [f"**Held** by the label {inline(convoy.held)}.", ""]
    if convoy.why:
        lines += [f"**Why:** {inline(convoy.why)}", ""]
    if convoy.pull is not None:
        lines += [f"The convoy's own pull request: #{convoy.pull}.", ""]
    lines += _further(convoy)
    lines += _money(convoy)
    lines.append(
        f"<sub>Asked for by {inline(convoy.by)}. "
        f"Branch `{ids.base_branch(convoy.name)}`. "
        "This comment is kept up to date; the log in `refs/grite/wal` says everything."
        "</sub>"
    )
    return "\n".join(lines)


def _look_out(convoy: Convoy) -> list[str]:
    warned = "; ".join(map(inline, convoy.warnings))
    risks = "; ".join(map(inline, collisions(convoy)))
    told = [f"**Look out:** {warned}.", ""] if warned else []
    return told + ([f"**May collide**, at a guess: {risks}.", ""] if risks else [])


def _order(convoy: Convoy) -> Iterator[str]:
    """Give the plan's order as a picture, and the reason of each of its edges."""
    told = [
        f"task {task.number}: {inline(edge)}"
        for task in convoy.tasks
        for edge in edges(task.spec)
    ]
    if told and len(convoy.tasks) <= order.MOST:
        lines = fitting(told, "{}", _ORDER_CHARS)
        yield from (*order.picture(convoy), "", *(f"- {line}" for line in lines))


def _money(convoy: Convoy) -> list[str]:
    about = "" if convoy.ended else foreseen(convoy)
    spent = spoken(used(convoy))
    told = [f"Estimate: {about}."] * bool(about)
    told += [f"Its sessions used {spent}."] * bool(spent)
    return [" ".join(told), ""] if told else []


def _further(convoy: Convoy) -> list[str]:
    """Return the further work that agents saw, with the command that adds each."""
    lines = []
    for found in further(convoy):
        add = code_span(f"/brat add -- {found.title}", _WHY_CHARS)
        why = f" ({inline(found.why)})" if found.why else ""
        lines.append(f"- of task {found.task}{why}: {add}")
    if not lines:
        return []
    heading = "**Agents saw further work.** Say what is to be added:"
    return [heading, "", *fitting(lines, "- {}"), ""]


def _headline(convoy: Convoy) -> str:
    if not convoy.tasks:
        return convoy.state
    counts: dict[str, int] = {}
    for task in convoy.tasks:
        counts[task.state] = counts.get(task.state, 0) + 1
    merged = counts.pop("merged", 0)
    rest = "".join(f" · {number} {state}" for state, number in counts.items())
    return f"{convoy.state}, {merged}/{len(convoy.tasks)} merged{rest}"


def _row(convoy: Convoy, task: Task) -> str:
    pull = f"#{task.pull}" if task.pull else ""
    landed = f"`{task.landed[:10]}`" if task.landed else ""
    cells = (
        str(task.number),
        inline(task.spec.title),
        task.state,
        str(task.started),
        pull,
        landed,
        inline(waits_for(convoy, task)),
    )
    return f"| {' | '.join(cells)} |"


def pull_title(convoy: Convoy, task: Task | None) -> str:
    """Return the title of a task's pull request; None is the convoy's own."""
    if task:
        return task.spec.title[:_TITLE_CHARS]
    end = f" (convoy {convoy.name})"
    return convoy.title[: _TITLE_CHARS - len(end)] + end


def pull_body(convoy: Convoy, task: Task) -> str:
    """Return the text of a task's pull request."""
    lines = (
        ids.marker(ids.pull_key(convoy.name, task.number)),
        f"Task {task.number} of convoy `{convoy.name}`, for #{convoy.issue}.",
        "",
        "brat merges this when CI is green on the exact commit that will land.",
    )
    return "\n".join(lines)


def fitting(lines: list[str], more: str, chars: int = LIST_CHARS) -> list[str]:
    """Return as many lines as fit into a text, and how many are left out."""
    left = chars
    for number, line in enumerate(lines):
        left -= len(line) + 1
        if left < 0:
            return [*lines[:number], more.format(f"and {len(lines) - number} more")]
    return lines


def harmless(text: str) -> tuple[str, ...]:
    """Return hostile text as harmless lines, whole."""
    lines = clean(text).strip().split("\n")
    return tuple(line.strip().translate(_HARMLESS) for line in lines)


def inline(text: str) -> str:
    """Return hostile text as one harmless line of a table."""
    return " ".join(clean(text).split())[:_WHY_CHARS].translate(_HARMLESS)
