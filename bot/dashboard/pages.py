"""The pages: state in, HTML out."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from markupsafe import escape

from bot import deeds
from bot.dashboard import assets
from bot.dashboard.graph import BOX, draw
from bot.dashboard.lists import all_tasks, newest_first, waiting
from bot.dashboard.porch import Sight, Visitor
from convoy import ids
from convoy.queue import waiting_to_merge
from convoy.state import Convoy, State, Task
from convoy.told.interventions import interventions
from convoy.told.reasons import clock, reasons, waits_for
from convoy.told.spending import spoken, used
from convoy.told.times import saved_s, worked_s

LANES: Final = ("queued", "running", "blocked", "needs-review", "merged")
HEAD: Final = 8
"""Rows of a list on the first page; the list has a page of its own."""
URGENT: Final = 5
"""Of what waits for a person."""

_pages: Final = Environment(
    loader=PackageLoader("bot.dashboard", "pages"),
    autoescape=select_autoescape(default=True),
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_pages.filters["clock"] = clock
_pages.globals["waits_for"] = waits_for
_pages.globals["static"] = assets.address
_pages.globals["offered_of_task"] = deeds.offered_of_task


def page(name: str, sight: Sight, path: str, visitor: Visitor, **given: Any) -> str:  # noqa: ANN401  a page's own values
    """Return a page as HTML.

    Args:
        name: the template's, without its ending.
        sight: what it is of.
        path: where it stands; it asks there for itself when there is news.
        visitor: who asks; whether it shows buttons.
        given: what the template needs.
    """
    return _pages.get_template(f"{name}.html").render(
        house=sight.house,
        trouble=sight.news.trouble,
        mark=sight.news.mark,
        path=path,
        visitor=visitor,
        may_write=visitor.may_write and sight.house.ask is not None,
        **given,
    )


def index(repositories: Sequence[str], visitor: Visitor) -> str:
    """Return the list of repositories as HTML."""
    return _pages.get_template("index.html").render(
        repositories=repositories, visitor=visitor
    )


def escaped(text: str) -> str:
    """Return anybody's text as HTML that shows it."""
    return str(escape(text))


def fault(status: int, phrase: str, said: str) -> str:
    """Return as HTML why somebody does not get what they asked for."""
    return _pages.get_template("fault.html").render(
        status=status, phrase=phrase, said=said
    )


def overview(sight: Sight) -> Mapping[str, Any]:
    """Return what the first page shows: the head of each list."""
    state, waits = sight.state, waiting(sight)
    lanes: dict[str, list[tuple[Convoy, Task]]] = defaultdict(list)
    for convoy, task in all_tasks(state):
        lanes[task.state].append((convoy, task))
    convoys, running = newest_first(state), [*state.running()]
    return {
        "interventions": waits[:URGENT],
        "waiting": len(waits),
        "lanes": [(name, len(lanes[name]), lanes[name][:HEAD]) for name in LANES],
        "convoys": convoys[:HEAD],
        "convoy_count": len(convoys),
        "sessions": running[:HEAD],
        "session_count": len(running),
        "saved_s": sum(map(saved_s, state.convoys.values())),
    }


def of_convoy(state: State, convoy: Convoy, now: int) -> Mapping[str, Any]:
    """Return what a convoy's page shows."""
    found = (each for each in interventions(state, now) if each.convoy == convoy.name)
    return {
        "convoy": convoy,
        "base": ids.base_branch(convoy.name),
        "drawing": draw(convoy),
        "box": BOX,
        "queue": waiting_to_merge(convoy),
        "buttons": deeds.offered_of_convoy(convoy),
        "interventions": tuple(found),
        "worked_s": worked_s(convoy),
        "saved_s": saved_s(convoy),
        "used": spoken(used(convoy)),
    }


def of_task(
    state: State, convoy: Convoy, task: Task, now: int, output: str
) -> Mapping[str, Any]:
    """Return what a task's page shows; `output` is what its session printed."""
    return {
        "convoy": convoy,
        "task": task,
        "branch": ids.task_branch(convoy.name, task.number),
        "reasons": reasons(state, convoy, task, now),
        "run": task.newest_run,
        "used": spoken(task.used),
        "output": output,
    }
