"""The state, its lists, what it cost, and a plan, for terminals.

All is readable without colour.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final

import msgspec
from rich import box
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from brat.terminal.console import from_here, out, say, write
from convoy.model import ids
from convoy.model.session_result import estimate_words, usage_in_words
from convoy.model.state import Convoy, Lease, State, Task
from convoy.rules.landing import waiting_to_merge
from convoy.rules.starting import Moment, moment
from convoy.text import clean, clock, counted, rough, spoken_duration
from convoy.views import SCHEMA_VERSION, progress_words, saved_s, strip
from convoy.views.interventions import Intervention, same_for
from convoy.views.plan import PlanTask, plan_document
from convoy.views.reasons import landed_as, landing_document, plan_waits, waits_for

_STYLES: Final = {
    "queued": "dim",
    "running": "cyan",
    "needs-review": "yellow",
    "merged": "green",
    "blocked": "red",
    "dropped": "dim red",
}
NEXT: Final = "issue_next"
WAITS: Final = "waits for you:"
SHORT: Final = 10
"""How many digits of a commit id people see."""
_WORTH_SAYING_S: Final = 1.0


def parts_of(
    convoys: tuple[Convoy, ...], state: State, now: int
) -> Iterator[RenderableType]:
    """Yield the convoys that go on, the newest first, agents, merge trains, locks.

    What ended follows. Where none goes on, the one that ended last is shown whole.
    """
    at = moment(state, now)
    live = tuple(convoy for convoy in reversed(convoys) if not convoy.ended)
    for convoy in live or convoys[-1:]:
        yield from _whole(convoy, at, now)
    yield from _at_work(state, live, now)
    yield from _locks(at.leases)
    for convoy in reversed(convoys if live else convoys[:-1]):
        if convoy.ended:
            words = progress_words(convoy, now)
            yield Text(f"{convoy.name}: {convoy.shown_state} · {words}", style="dim")
            if not convoy.given_up_by:
                yield from _ending(convoy)


def _whole(convoy: Convoy, at: Moment, now: int) -> Iterator[RenderableType]:
    table = convoy_table(convoy, at)
    yield Text(f"{convoy.name}: {convoy.shown_state}", style="bold")
    if convoy.tasks:
        bar = Text()
        for state, places in strip(convoy, BAR_WIDTH):
            bar.append(_BAR[state] * places, style=_STYLES[state])
        yield Text.assemble(bar, " ", progress_words(convoy, now))
    table.title = None
    yield table
    yield from _ending(convoy)
    landing = landing_document(convoy)
    if landing and landing["way"] != "push" and not convoy.ended:
        yield Text(f"  {one_line(landing['said'])}")
    saved, spent = saved_s(convoy), usage_in_words(convoy.used)
    parallel = f"running in parallel saved {saved:.0f} s" * (saved >= _WORTH_SAYING_S)
    if sums := "; ".join(filter(None, (f"used {spent}" * bool(spent), parallel))):
        yield Text(f"  {sums}", style="dim")


def _ending(convoy: Convoy) -> Iterator[Text]:
    if convoy.why:
        yield Text(f"  {one_line(convoy.why)}")
    if convoy.state == "failed":
        yield Text(f"  to resume it: brat retry {convoy.name}")


BAR_WIDTH: Final = 30
_BAR: Final = {
    "merged": "█",
    "needs-review": "▓",
    "running": "▒",
    "queued": "░",
    "blocked": "!",
    "dropped": "-",
}
"""Each state's mark, to be told apart without colour."""


def _at_work(state: State, live: tuple[Convoy, ...], now: int) -> Iterator[Text]:
    """Yield the agents at work and the merge trains, a line each."""
    for convoy, task in state.newest_running():
        if convoy in live:
            took = rough(max(0, now - task.attempt.at) / 1000) if task.attempt else ""
            name = ids.session_name(convoy.name, task.number, task.started)
            yield Text(f"running agent: {name} by {task.spec.engine}, {took}")
    for convoy in live:
        for place, task in enumerate(waiting_to_merge(convoy), 1):
            where = f"{convoy.name}, place {place}: task {task.number}"
            wait = one_line(waits_for(convoy, task))
            yield Text(f"merge queue: {where} waits for {wait}")


def _locks(leases: tuple[Lease, ...]) -> Iterator[Text]:
    held: dict[str, list[Lease]] = defaultdict(list)
    for lease in leases:
        held[lease.holder].append(lease)
    for holder, own in held.items():
        what = ", ".join(lease.resource for lease in own)
        until = clock(max(lease.expires for lease in own))
        yield Text(f"lock: {one_line(what)} held by {one_line(holder)} until {until}")


def intervention_lines(
    found: Intervention, others: tuple[int, ...] = (), *, whole: bool = False
) -> Iterator[Text]:
    """Yield what waits, the commands that help, and which other tasks wait alike."""
    task = f" task {found.task}" if found.task else ""
    where = f"{found.convoy}{task}: " if found.convoy else ""
    why = kept_lines(found.why, "      ") if whole else one_line(found.why)
    yield Text(f"  {where}{why}", style="red")
    for command in found.commands:
        yield Text(f"    {from_here(command, alone=True)}")
    if others:
        yield Text(f"    {from_here(same_for(found, others))}")


def one_line(text: str) -> str:
    """Return untrusted text's first paragraph as one line without control codes."""
    return " ".join(clean(text).strip().partition("\n\n")[0].split())


def kept_lines(text: str, indent: str = "    ") -> str:
    """Return untrusted text with its line breaks and without control codes.

    Every line but the first is indented, so that none looks like a line of brat's own.
    """
    lines = [line.rstrip() for line in clean(text).strip().expandtabs(4).split("\n")]
    return "\n".join((*lines[:1], *(line and indent + line for line in lines[1:])))


def convoy_table(convoy: Convoy, at: Moment | None = None) -> Table:
    title = f"{convoy.name}: {convoy.shown_state}"
    table = Table(title=title, title_justify="left", box=box.SIMPLE)
    table.add_column("task", no_wrap=True, overflow="ellipsis", min_width=24)
    table.add_column("state", no_wrap=True, min_width=len("needs-review"))
    table.add_column("tries", no_wrap=True, min_width=len("tries"))
    table.add_column("pull", no_wrap=True, min_width=len("pull"))
    table.add_column("landed as", no_wrap=True, min_width=SHORT)
    table.add_column("waits for", no_wrap=True, overflow="ellipsis", max_width=48)
    if waits := plan_waits(convoy):
        table.add_row("the plan", "queued", "", "", "", Text(one_line(waits)))
    for task in convoy.tasks:
        table.add_row(
            Text(f"{task.number} {one_line(task.spec.title)}"),
            Text(task.state, style=_STYLES[task.state]),
            str(task.started or ""),
            f"#{task.pull}" if task.pull else "",
            landed_as(task),
            Text(one_line(waits_for(convoy, task, at))),
        )
    return table


def convoys_table(state: State) -> Table:
    table = plain_table("convoy", "state", "issue", "tasks", "merged", "pull")
    for convoy in state.convoys.values():
        merged = sum(task.state == "merged" for task in convoy.tasks)
        table.add_row(
            convoy.name,
            convoy.shown_state,
            f"#{convoy.issue}",
            str(len(convoy.tasks)),
            str(merged),
            f"#{convoy.pull}" if convoy.pull else "",
        )
    return table


LastLine = Callable[[Convoy, Task], str]
"""Returns what a running session printed last; empty: that is not known here."""


def sessions_table(state: State, now: int, last_line: LastLine) -> Table:
    """Return the sessions that have not ended, the longest first."""
    table = plain_table("session", "engine", "elapsed", "task", "prints")
    begun = [
        (task.attempt.at if task.attempt else now, convoy, task)
        for convoy, task in state.running()
    ]
    for at, convoy, task in sorted(begun, key=lambda one: one[0]):
        table.add_row(
            ids.session_name(convoy.name, task.number, task.started),
            task.spec.engine,
            spoken_duration(max(0, now - at) // 1000),
            Text(one_line(task.spec.title)),
            Text(one_line(last_line(convoy, task))),
        )
    return table


def queue_table(state: State) -> Table:
    """Return the merge queues of all live convoys, in the order of landing."""
    table = plain_table("convoy", "place", "task", "pull", "candidate", "waits for")
    for convoy in state.live():
        for place, task in enumerate(waiting_to_merge(convoy), 1):
            table.add_row(
                convoy.name,
                str(place),
                Text(f"{task.number} {one_line(task.spec.title)}"),
                f"#{task.pull}" if task.pull else "",
                task.candidate.commit[:SHORT] if task.candidate else "",
                Text(one_line(waits_for(convoy, task))),
            )
    return table


def plain_table(*columns: str) -> Table:
    table = Table(box=box.SIMPLE)
    for column in columns:
        table.add_column(column, no_wrap=column not in _PROSE, overflow="ellipsis")
    return table


_PROSE: Final = frozenset({"task", "prints", "waits for", "why", "used"})
"""Columns that are broken into lines where a table is too wide; others stay whole."""


def cost_table(convoys: Iterable[Convoy]) -> Table:
    """Return a table of what each task's sessions used, with a sum for each convoy."""
    table = plain_table("convoy", "task", "tries", "minutes", "used")
    for convoy in convoys:
        for task in convoy.spenders:
            table.add_row(
                convoy.name,
                Text(f"{task.number} {one_line(task.spec.title)}"),
                str(task.started or ""),
                f"{task.worked_ms / 60_000:.1f}",
                Text(usage_in_words(task.used)),
            )
        spent = usage_in_words(convoy.used) or "unknown"
        table.add_row(convoy.name, "total", "", "", Text(spent))
        if convoy.estimate is not None:
            likely = estimate_words(convoy.estimate)
            table.add_row(convoy.name, "estimate", "", "", Text(likely))
    return table


def print_document(told: dict[str, Any]) -> None:
    whole = {"schema_version": SCHEMA_VERSION} | told
    # Encoded in one go and then indented, both in C: a log may have many convoys.
    write(msgspec.json.format(json.dumps(whole), indent=2))


def print_rows(
    name: str,
    rows: Sequence[object],
    drawn: Callable[[], RenderableType],
    *,
    as_json: bool,
    none: str = "",
) -> None:
    """Print a list for a program, or as a table; `none` is said where it is empty."""
    if as_json:
        print_document({name: msgspec.to_builtins(rows)})
    elif rows:
        out.print(drawn())
    else:
        say(none or f"no {name}")


def cost_rows(convoys: Iterable[Convoy]) -> list[dict[str, Any]]:
    """Return what `brat cost --json` prints; docs/status.md describes every field."""
    return [
        {
            "name": convoy.name,
            "usage": convoy.used,
            "estimate": convoy.estimate,
            "tasks": [
                {
                    "number": task.number,
                    "title": task.spec.title,
                    "attempts": task.started,
                    "worked_s": task.worked_ms / 1000,
                    "usage": task.used,
                }
                for task in convoy.spenders
            ],
        }
        for convoy in convoys
    ]


_LEVEL: Final = "  "


def plan_screen(convoy: Convoy) -> Text:
    """Return a convoy's plan whole; empty: there is none yet."""
    lines = ((line, line.lstrip(" ")) for line in _lines(convoy))
    kept = (" " * (len(line) - len(bare)) + one_line(bare) for line, bare in lines)
    return Text("\n".join(kept))


def _lines(convoy: Convoy) -> Iterator[str]:
    found = plan_document(convoy)
    if not found.tasks:
        return
    yield f"plan: {counted(len(found.tasks), 'task')} ({found.planner})"
    for task in found.tasks:
        yield from _plan_task(task)
    edges = (
        f"{wait.on} -> {task.number}" for task in found.tasks for wait in task.waits
    )
    yield f"graph: {', '.join(edges) or 'no task waits for another'}"
    if told := estimate_words(convoy.estimate):
        yield f"estimate: {told}"
    yield from (f"warning: {each}" for each in convoy.warnings)


def _plan_task(task: PlanTask) -> Iterator[str]:
    yield f"{task.number}. {task.title}"
    if task.does:
        yield f"{_LEVEL}does: {task.does}"
    yield f"{_LEVEL}changes: {_named(task.paths)}"
    if task.creates:
        yield f"{_LEVEL}creates: {_named(task.creates)}"
    yield f"{_LEVEL}engine: {task.engine}" + (f" ({task.why})" if task.why else "")
    for wait in task.waits:
        yield f"{_LEVEL}waits for task {wait.on}: {wait.why}"
    if task.acceptance:
        yield f"{_LEVEL}done when this passes: {task.acceptance}"
    if task.protected:
        paths = _named(task.protected)
        yield f"{_LEVEL}needs protected paths: {paths}; {task.protected_by}"


def _named(paths: Sequence[str]) -> str:
    return ", ".join(paths) or "no paths declared"
