"""`brat report`: how a convoy went, as one self-contained page.

It needs no other file, no script, and nothing from the network.

The log tells when a candidate was built and when CI's verdict on it counted, not when
each check began: so the time is that of all checks of the candidate together.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import pygit2
from jinja2 import ChoiceLoader, PackageLoader
from markupsafe import Markup

from bot import wall_clock
from bot.dashboard import drawings
from bot.dashboard.page_contents import FILES, PAGES
from brat.repository import log_reader
from brat.repository.checkout import common_folder
from brat.repository.log_reader import Reader, log_repository
from brat.repository.registration import STATE_FOLDER
from brat.status.find_task import live_or_named
from brat.terminal.console import say
from convoy.events import Event
from convoy.events.merge_events import MergeAttempted, MergeDoubted, MergeLanded
from convoy.model.records import Usage
from convoy.model.session_result import usage_in_words
from convoy.model.state import Convoy
from convoy.model.task_graph import area_of
from convoy.rules.landing import JUDGED_BY_NONE
from convoy.views import history, saved_s, worked_s
from convoy.views.history import PastSession, past_sessions
from convoy.views.reasons import waits_for
from grite.errors import BratError


def check_tallies(
    convoy: str, facts: Iterable[tuple[int, Event]]
) -> list[dict[str, Any]]:
    """Return a row for each check that said something, the reddest first.

    `lost` is how often it was cancelled or ran out of time, `seconds` the average time
    from a candidate to the verdict on it.
    """
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for name, how, took_ms in _verdicts(convoy, facts):
        found[name].update({how: 1, "all": 1, "ms": took_ms})
    rows = [
        {"name": name, "seconds": said["ms"] / said["all"] / 1000}
        | {how: said[how] for how in ("green", "red", "lost")}
        for name, said in found.items()
    ]
    return sorted(rows, key=lambda row: (-row["red"], -row["lost"], row["name"]))


def _verdicts(
    convoy: str, facts: Iterable[tuple[int, Event]]
) -> Iterator[tuple[str, str, int]]:
    """Yield a check's name, how it ended, and how many ms it took."""
    built: dict[str, int] = {}
    for at, fact in facts:
        if getattr(fact, "convoy", "") != convoy:
            continue
        match fact:
            case MergeAttempted(candidate=candidate):
                built.setdefault(candidate, at)
            case MergeLanded(candidate=candidate, judged=names) if (
                names != JUDGED_BY_NONE
            ):
                took = at - built.pop(candidate, at)
                yield from ((name, "green", took) for name in names)
            case MergeDoubted(candidate=candidate, checks=names, is_red=is_red):
                took = at - built.pop(candidate, at)
                how = "red" if is_red else "lost"
                yield from ((name, how, took) for name in names)
            case _:
                pass


def engine_tallies(
    convoy: Convoy, sessions: Sequence[PastSession]
) -> Iterator[dict[str, object]]:
    """Yield a row for each engine and kind of task, sorted by name."""
    groups: dict[tuple[str, str], list[PastSession]] = defaultdict(list)
    for one in sessions:
        task = convoy.task(one.task)
        kind = area_of(task.files) if task else "plan"
        groups[one.engine, kind].append(one)
    for (engine, area), some in sorted(groups.items()):
        ended = [one for one in some if one.ended]
        landed = sum(bool(one.landed) for one in some)
        yield {
            "engine": engine,
            "kind": area,
            "sessions": len(some),
            "landed": landed,
            "percent": round(100 * landed / len(some)),
            "seconds": sum(one.took_s for one in ended) / max(1, len(ended)),
            "used": usage_in_words(sum((one.usage for one in some), Usage())),
        }


_pages: Final = PAGES.overlay(
    loader=ChoiceLoader(
        [PackageLoader("brat.report", "."), PackageLoader("bot.dashboard", "templates")]
    )
)
_STYLE: Final = Markup(FILES["brat.css"].decode())  # noqa: S704  our own file


def page(convoy: Convoy, facts: Iterable[tuple[int, Event]], now: int) -> str:
    facts = tuple(facts)
    sessions = past_sessions(convoy.name, facts)
    return _pages.get_template("page.html").render(
        convoy=convoy,
        sessions=sessions,
        gantt=drawings.draw_gantt(convoy, sessions, now),
        drawing=drawings.draw_graph(convoy),
        spenders=convoy.spenders,
        used=usage_in_words(convoy.used),
        again=[one for one in sessions if one.why],
        tallies=[*engine_tallies(convoy, sessions)],
        checks=check_tallies(convoy.name, facts),
        kinds={task.number: area_of(task.files) for task in convoy.tasks},
        worked_s=worked_s(convoy),
        saved_s=saved_s(convoy),
        waits_for=waits_for,
        style=_STYLE,
        now=now,
    )


def write_report(repo: Path, convoy: str | None, out: Path | None) -> None:
    """Write the report of a convoy, and say which file holds it; needs no bot.

    Unless they are named, the convoy is the one that has not ended, or the last, and
    the file is named after it, in brat's own folder: a new file in the checkout would
    be one to commit.
    """
    log = log_repository(repo)
    folder = common_folder(pygit2.discover_repository(str(repo)) or "") / STATE_FOLDER
    state = Reader(log).read()
    found = live_or_named(state, convoy)
    facts = history.bot_facts(log_reader.log_entries(log), state.bots)
    file = out or folder.resolve() / f"report-{found.name}.html"
    text = page(found, facts, wall_clock())
    try:
        if out is None:
            folder.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise BratError(f"cannot write {file}: {error.strerror}") from error
    say(f"wrote {file}")
