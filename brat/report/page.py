"""A convoy's report as HTML: no script, no other file, nothing from the network."""

from collections.abc import Iterable
from typing import Final

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

from bot.dashboard import graph
from brat.report import gantt
from brat.report.tally import tallies
from convoy.events import Event as Fact
from convoy.state import Convoy
from convoy.told.past import past
from convoy.told.reasons import clock, waits_for
from convoy.told.review import files_of, kind_of, risks
from convoy.told.spending import spenders, spoken, used
from convoy.told.times import saved_s, worked_s

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
        convoy: as it is.
        facts: the bots' events of the whole log with their times (unix ms), in order.
        now: unix ms.
    """
    sessions = past(convoy.name, facts)
    names = {task.number: _name(task.number, task.spec.title) for task in convoy.tasks}
    if any(one.task == 0 for one in sessions):
        names = {0: "0 the plan", **names}
    return _pages.get_template("page.html").render(
        convoy=convoy,
        sessions=sessions,
        gantt=gantt.draw(sessions, names, now),
        drawing=graph.draw(convoy),
        box=graph.BOX,
        spenders=spenders(convoy),
        used=spoken(used(convoy)),
        again=[one for one in sessions if one.why],
        tallies=tallies(convoy, sessions),
        risks=risks(convoy),
        kinds={task.number: kind_of(files_of(task)) for task in convoy.tasks},
        worked_s=worked_s(convoy),
        saved_s=saved_s(convoy),
        now=now,
    )


def _name(number: int, title: str) -> str:
    short = title if len(title) <= _NAME_CHARS else f"{title[: _NAME_CHARS - 1]}…"
    return f"{number} {short}"
