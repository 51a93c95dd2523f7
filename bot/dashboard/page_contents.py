"""The pages: state in, HTML out."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from markupsafe import escape
from msgspec import Struct

from bot.dashboard import assets, gantt_drawing
from bot.dashboard.access_policy import RepositoryView, Visitor
from bot.dashboard.agents_at_work import Agent
from bot.dashboard.gantt_drawing import Gantt
from bot.dashboard.graph_drawing import BOX, draw
from bot.dashboard.headline import Part, headline, parts
from bot.dashboard.lists import all_tasks, newest_first, waiting
from bot.dashboard.merge_train import Car, marks, train
from bot.dashboard.task_attempts import failing_part
from bot.verbs import endpoints
from convoy.model import ids
from convoy.model.session_result import usage_in_words
from convoy.model.state import Convoy, State, Task
from convoy.rules.verdict import Checks
from convoy.text import ago, clock, iso, rough
from convoy.views import estimates, plan, saved_s, worked_s
from convoy.views.history import Decision, PastSession
from convoy.views.interventions import interventions
from convoy.views.plan import HOW_COMPARED, plan_document
from convoy.views.reasons import reasons, waits_for

LANES: Final = ("queued", "running", "blocked", "needs-review", "merged")
HEAD: Final = 8
"""Rows of each list on the first page; every list has a page of its own."""
CLOCKS: Final = 2
"""Convoys whose sessions the first page shows over time."""
URGENT: Final = 5
"""Interventions on the first page."""
ROWS: Final = 24
"""Tasks over time on the first page: those where something happens first."""

_pages: Final = Environment(
    loader=PackageLoader("bot.dashboard", "templates"),
    autoescape=select_autoescape(default=True),
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_pages.filters["clock"] = clock
_pages.filters["iso"] = iso
_pages.filters["ago"] = ago
_pages.filters["rough"] = rough
_pages.globals["forecast"] = plan
_pages.globals["coverage_how"] = HOW_COMPARED
_pages.globals["static"] = assets.address
_pages.globals["task_buttons"] = endpoints.task_buttons


def page(
    name: str,
    view: RepositoryView,
    path: str,
    visitor: Visitor,
    **given: Any,  # noqa: ANN401  a page's own values
) -> str:
    """Return a page as HTML.

    Args:
        name: the template's name, without its ending.
        view: the repository that the page shows.
        path: the page's own path, from which it reloads itself when there is news.
        visitor: who asks; decides whether the page shows buttons.
        given: the template's other values; they go before those of every page.
    """
    values = {
        "source": view.source,
        "now": view.now,
        "trouble": view.watcher.trouble,
        "mark": view.watcher.mark,
        "path": path,
        "visitor": visitor,
        "waits_for": partial(waits_for, leases=view.leases),
        "may_write": visitor.may_write and view.source.carry_out is not None,
    }
    return _pages.get_template(f"{name}.html").render(values | given)


def index(repositories: Sequence[str], visitor: Visitor) -> str:
    """Return the list of repositories as HTML."""
    return _pages.get_template("index.html").render(
        repositories=repositories, visitor=visitor
    )


def escaped(text: str) -> str:
    """Return a stranger's text, escaped for HTML."""
    return str(escape(text))


def fault(status: int, phrase: str, said: str) -> str:
    """Return an error page as HTML."""
    return _pages.get_template("fault.html").render(
        status=status, phrase=phrase, said=said
    )


def newest_live(state: State) -> tuple[Convoy, ...]:
    """Return the convoys whose sessions the first page shows over time."""
    return tuple(reversed(tuple(state.live())[-CLOCKS:]))


def overview(
    view: RepositoryView,
    clocks: Sequence[tuple[Convoy, tuple[PastSession, ...]]] = (),
    agents: Sequence[Agent] = (),
) -> Mapping[str, Any]:
    """Return the first page's values: the head of each list.

    Args:
        view: the repository.
        clocks: convoys with all their sessions, to be shown over time.
        agents: those at work that are shown.
    """
    state, waits, seen = view.state, waiting(view), view.source.checks()
    lanes: dict[str, list[tuple[Convoy, Task]]] = defaultdict(list)
    for convoy, task in all_tasks(state):
        lanes[task.state].append((convoy, task))
    convoys, live = newest_first(state), [*state.live()]
    return {
        "headline": headline(live, waits, view.watcher.trouble),
        "clocks": [_shown(*each, view.now, seen) for each in clocks],
        "interventions": waits[:URGENT],
        "waiting": len(waits),
        "lanes": [(name, len(lanes[name]), lanes[name][:HEAD]) for name in LANES],
        "convoys": convoys[:HEAD],
        "convoy_count": len(convoys),
        "agents": agents,
        "session_count": sum(1 for _ in state.running()),
        "saved_s": sum(map(saved_s, state.convoys.values())),
    }


class Clock(Struct, frozen=True, kw_only=True):
    """A convoy on the first page."""

    convoy: Convoy
    merged: int
    parts: tuple[Part, ...]
    finish: str
    gantt: Gantt | None
    train: tuple[Car, ...]


def _shown(
    convoy: Convoy,
    sessions: tuple[PastSession, ...],
    now: int,
    seen: Mapping[str, Checks],
) -> Clock:
    found = estimates.finish(convoy, sessions, now)
    chart = gantt_drawing.draw(convoy, sessions, now, found, ROWS) if sessions else None
    return Clock(
        convoy=convoy,
        merged=sum(task.state == "merged" for task in convoy.tasks),
        parts=parts(convoy),
        finish=estimates.finish_words(found) if found else "",
        gantt=chart,
        train=train(convoy, seen)[:HEAD],
    )


def of_convoy(
    state: State,
    convoy: Convoy,
    now: int,
    sessions: tuple[PastSession, ...] = (),
    seen: Mapping[str, Checks] | None = None,
    decisions: Sequence[Decision] = (),
) -> Mapping[str, Any]:
    """Return the values of a convoy's page.

    Args:
        state: what the log says.
        convoy: one of its convoys.
        now: unix ms.
        sessions: all that it has had.
        seen: what CI was seen to say last, by commit; None: nothing is known.
        decisions: what people decided in it, the newest first.
    """
    estimate = estimates.finish(convoy, sessions, now)
    found = (each for each in interventions(state, now) if each.convoy == convoy.name)
    return {
        "convoy": convoy,
        "base": ids.base_branch(convoy.name),
        "drawing": draw(convoy),
        "box": BOX,
        "gantt": gantt_drawing.draw(convoy, sessions, now, estimate)
        if sessions
        else None,
        "finish": estimates.finish_words(estimate) if estimate else "",
        "progress": parts(convoy),
        "merged": sum(task.state == "merged" for task in convoy.tasks),
        "plan": plan_document(convoy),
        "train": train(convoy, seen or {}),
        "decisions": decisions,
        "buttons": endpoints.convoy_buttons(convoy),
        "interventions": tuple(found),
        "worked_s": worked_s(convoy),
        "saved_s": saved_s(convoy),
        "used": usage_in_words(convoy.used),
    }


def of_task(
    view: RepositoryView, convoy: Convoy, task: Task, output: str
) -> Mapping[str, Any]:
    """Return the values of a task's page; `output` is what a session of it printed."""
    checks = view.source.checks().get(task.candidate.commit) if task.candidate else None
    return {
        "convoy": convoy,
        "task": task,
        "branch": ids.task_branch(convoy.name, task.number),
        "reasons": reasons(view.state, convoy, task, view.now),
        "run": task.newest_run,
        "used": usage_in_words(task.used),
        "output": output,
        "failing": failing_part(output),
        "checks": marks(checks) if checks else (),
    }
