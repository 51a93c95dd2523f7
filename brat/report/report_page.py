"""A convoy's report as HTML: no other file, nothing from the network.

All but its slider is there without scripts.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from jinja2 import (
    ChoiceLoader,
    Environment,
    PackageLoader,
    StrictUndefined,
    select_autoescape,
)
from markupsafe import Markup
from msgspec import json

from bot.dashboard import assets, drawings
from brat.report.check_tally import check_tallies
from brat.report.engine_tally import tallies
from brat.report.report_slider import HASH, SCRIPT, Moment
from convoy.events import Event as Fact
from convoy.model.session_result import usage_in_words
from convoy.model.state import Convoy
from convoy.model.task_graph import area_of
from convoy.text import clock, rough
from convoy.views import saved_s, worked_s
from convoy.views.estimates import files_of, risks
from convoy.views.history import past_sessions
from convoy.views.reasons import waits_for

_pages: Final = Environment(
    loader=ChoiceLoader(
        [PackageLoader("brat.report", "."), PackageLoader("bot.dashboard", "templates")]
    ),
    autoescape=select_autoescape(default=True),
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_pages.filters["clock"] = clock
_pages.filters["rough"] = rough
_pages.globals["style"] = Markup(assets.text("brat.css"))  # noqa: S704  our own file
_pages.globals["script"], _pages.globals["script_hash"] = SCRIPT, HASH
_pages.globals["waits_for"] = waits_for
_pages.globals["spoken"] = usage_in_words


def page(
    convoy: Convoy,
    facts: Iterable[tuple[int, Fact]],
    now: int,
    moments: Sequence[Moment] = (),
) -> str:
    """Return the page.

    Args:
        convoy: its present state.
        facts: the bots' events of the whole log with their times (unix ms), in order.
        now: unix ms.
        moments: what the slider shows, the oldest first; without any there is none.
    """
    facts = tuple(facts)
    sessions = past_sessions(convoy.name, facts)
    return _pages.get_template("page.html").render(
        convoy=convoy,
        sessions=sessions,
        gantt=drawings.draw_gantt(convoy, sessions, now),
        drawing=drawings.draw_graph(convoy),
        box=drawings.BOX_SIZE,
        spenders=convoy.spenders,
        used=usage_in_words(convoy.used),
        again=[one for one in sessions if one.why],
        tallies=tallies(convoy, sessions),
        checks=check_tallies(convoy.name, facts),
        risks=risks(convoy),
        kinds={task.number: area_of(files_of(task)) for task in convoy.tasks},
        worked_s=worked_s(convoy),
        saved_s=saved_s(convoy),
        now=now,
        moments=json.encode(moments).decode() if moments else "",
    )
