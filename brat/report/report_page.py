"""A convoy's report as HTML: no script, no other file, nothing from the network."""

from collections.abc import Iterable
from typing import Final

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

from bot.dashboard import graph_drawing
from brat.report import gantt
from brat.report.check_tally import check_tallies
from brat.report.engine_tally import tallies
from convoy.events import Event as Fact
from convoy.model.path_area import area_of
from convoy.model.spending import spenders, spoken, used
from convoy.model.state import Convoy
from convoy.text.counts_and_times import clock
from convoy.views.elapsed import saved_s, worked_s
from convoy.views.reasons import waits_for
from convoy.views.risk import files_of, risks
from convoy.views.session_history import past

_NAME_CHARS: Final = 28

_pages: Final = Environment(
    loader=PackageLoader("brat.report", "."),
    autoescape=select_autoescape(default=True),
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_pages.filters["clock"] = clock
_pages.globals["waits_for"] = waits_for
_pages.globals["spoken"] = spoken


def page(convoy: Convoy, facts: Iterable[tuple[int, Fact]], now: int) -> str:
    """Return the page.

    Args:
        convoy: its present state.
        facts: the bots' events of the whole log with their times (unix ms), in order.
        now: unix ms.
    """
    facts = tuple(facts)
    sessions = past(convoy.name, facts)
    names = {task.number: _name(task.number, task.spec.title) for task in convoy.tasks}
    if any(one.task == 0 for one in sessions):
        names = {0: "0 the plan", **names}
    return _pages.get_template("page.html").render(
        convoy=convoy,
        sessions=sessions,
        gantt=gantt.draw(sessions, names, now),
        drawing=graph_drawing.draw(convoy),
        box=graph_drawing.BOX,
        spenders=spenders(convoy),
        used=spoken(used(convoy)),
        again=[one for one in sessions if one.why],
        tallies=tallies(convoy, sessions),
        checks=check_tallies(convoy.name, facts),
        risks=risks(convoy),
        kinds={task.number: area_of(files_of(task)) for task in convoy.tasks},
        worked_s=worked_s(convoy),
        saved_s=saved_s(convoy),
        now=now,
    )


def _name(number: int, title: str) -> str:
    short = title if len(title) <= _NAME_CHARS else f"{title[: _NAME_CHARS - 1]}…"
    return f"{number} {short}"
