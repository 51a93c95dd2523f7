"""The read-only commands: they read refs, print a view, and need no bot."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import msgspec
from rich.console import Group, RenderableType
from rich.text import Text

from bot import wall_clock
from brat.repository import checkout as checkouts
from brat.repository.log_reader import Reader, log_repository
from brat.status import status_screen
from brat.status.find_task import convoy_named, live_or_named, task_in
from brat.status.local_attention import here
from brat.status.status_screen import (
    cost_document,
    cost_table,
    plan_screen,
)
from brat.terminal import live_screen
from brat.terminal.console import out, say, write
from brat.terminal.live_screen import View
from convoy import views
from convoy.model.session_result import usage_in_words
from convoy.model.state import Convoy, State, Task
from convoy.rules.starting import valid_leases
from convoy.views.interventions import Intervention, interventions, needs_a_person
from grite.errors import BratError

OK: Final = 0
BLOCKED: Final = 1
ENDED_SHOWN: Final = 5
"""How many of the newest ended convoys are still shown to people."""
INDENT: Final = "    "
"""Before each further line of a text that has several."""
NOTHING_YET: Final = 'no convoy yet; next: brat mayor start --task "..."'


def status(path: Path, convoy: str | None, *, as_json: bool, watch: bool) -> int:
    """Print every convoy, or one; return 1 while something waits for a person.

    People see the live convoys and the last few that ended; programs get all convoys.
    """
    reader = Reader(log_repository(path))

    def seen() -> View:
        state = reader.read()
        return watched(state, reader.faults, convoy, here(path, state))

    if watch:
        live_screen.watch(seen, status_screen.WAITS, "brat status")
    state = reader.read()
    shown, local = _shown(state, convoy), here(path, state)
    if watch:
        pass  # the person has seen enough
    elif as_json:
        whole = views.state_document(state, wall_clock(), reader.faults, local)
        names = {each.name for each in shown}
        whole["convoys"] = [each for each in whole["convoys"] if each["name"] in names]
        print_document(whole)
    else:
        if (screen := looked(state, reader.faults, convoy, local)) != NOTHING_YET:
            out.print(screen)
        if not shown and not any(each.issue for each in local):
            say(NOTHING_YET)
    found = (*local, *interventions(state, wall_clock(), reader.faults))
    return BLOCKED if needs_a_person(found, convoy) else OK


def convoy(path: Path, name: str, *, as_json: bool) -> int:
    """Print one convoy with its plan; return 1 while it waits for a person."""
    reader = Reader(log_repository(path))
    state = reader.read()
    found, local = convoy_named(state, name), here(path, state)
    if as_json:
        whole = views.state_document(state, wall_clock(), reader.faults, local)
        leases = valid_leases(state, wall_clock())
        print_document(whole | {"convoys": [views.planned_document(found, leases)]})
    else:
        out.print(looked(state, reader.faults, name, local, whole=True))
        out.print(plan_screen(found), soft_wrap=True)
    waits = (*local, *interventions(state, wall_clock(), reader.faults))
    return BLOCKED if needs_a_person(waits, name) else OK


def looked(
    state: State,
    faults: tuple[str, ...],
    convoy: str | None,
    local: tuple[Intervention, ...],
    *,
    whole: bool = False,
) -> RenderableType:
    """Return what people see of a repository: live convoys and the last that ended."""
    newer, older = _newer(_shown(state, convoy))
    now = wall_clock()
    screen = status_screen.state_screen(newer, state, now, faults, local, whole=whole)
    return Group(*older, screen) if screen.renderables else NOTHING_YET


def watched(
    state: State,
    faults: tuple[str, ...],
    convoy: str | None,
    local: tuple[Intervention, ...],
) -> View:
    """Return the same for a screen that stays."""
    newer, older = _newer(_shown(state, convoy))
    view = status_screen.state_view(newer, state, wall_clock(), faults, local)
    if not (newer or view.pinned):
        return View(rest=NOTHING_YET)
    return View(rest=Group(view.rest, *older), pinned=view.pinned)


def _newer(shown: tuple[Convoy, ...]) -> tuple[tuple[Convoy, ...], tuple[Text, ...]]:
    """Return the convoys to show whole, and a line on the rest, if there are more."""
    ended = [each for each in shown if each.ended]
    older = {each.name for each in ended[:-ENDED_SHOWN]}
    more = f"{len(older)} more have ended; see: brat convoy list"
    line = (Text(more, style="dim"),) if older else ()
    return tuple(each for each in shown if each.name not in older), line


def _shown(state: State, convoy: str | None) -> tuple[Convoy, ...]:
    if convoy is not None:
        return (convoy_named(state, convoy),)
    return tuple(state.convoys.values())


def task(path: Path, number: int, convoy: str | None, *, as_json: bool) -> int:
    """Print one task whole."""
    state = Reader(log_repository(path)).read()
    found = live_or_named(state, convoy)
    leases = valid_leases(state, wall_clock())
    told = views.task_document(found, task_in(found, number), leases)
    if as_json:
        print_document({"schema_version": views.SCHEMA_VERSION, "task": told})
        return OK
    told["usage"] = usage_in_words(task_in(found, number).used)
    for key, value in told.items():
        label = key.replace("_", " ")
        write(f"{label:14} {status_screen.kept_lines(_worded(value), INDENT)}")
    return OK


def cost(path: Path, convoy: str | None, *, as_json: bool) -> int:
    """Print what every convoy's tasks used, or one convoy's."""
    shown = _shown(Reader(log_repository(path)).read(), convoy)
    if as_json:
        print_document(cost_document(shown))
    elif shown:
        out.print(cost_table(shown))
    else:
        say(NOTHING_YET)
    return OK


def convoys(path: Path, *, as_json: bool) -> int:
    """Print all convoys, a line each."""
    return _table(
        path,
        as_json,
        "convoys",
        lambda state: views.convoys(state, wall_clock()),
        status_screen.convoys_table,
    )


def sessions(path: Path, *, as_json: bool, watch: bool) -> int:
    """Print the sessions that have not ended, a line each."""
    printed = _last_lines(path)

    def drawn(state: State) -> RenderableType:
        return status_screen.sessions_table(state, wall_clock(), printed)

    if watch:
        reader = Reader(log_repository(path))
        live_screen.watch(
            lambda: View(drawn(reader.read())), "agents at work", "brat session list"
        )
        return OK
    return _table(path, as_json, "sessions", views.sessions, drawn)


def _last_lines(path: Path) -> status_screen.LastLine:
    """Return what tells the last line of a session whose output is on this machine."""
    from brat.status import task_output  # loads the forge's own records

    try:
        folder = checkouts.find(path).folder
    except BratError:  # a bare repository: its sessions run elsewhere
        return lambda _convoy, _task: ""

    def last_line(convoy: Convoy, task: Task) -> str:
        said = task_output.of(folder, convoy, task).last(running=True)
        return next((line for line in reversed(said.splitlines()) if line.strip()), "")

    return last_line


def queue(path: Path, *, as_json: bool) -> int:
    """Print the merge queues in the order of landing."""
    return _table(path, as_json, "queue", views.queue, status_screen.queue_table)


def _table(
    path: Path,
    as_json: bool,  # noqa: FBT001  private
    name: str,
    told: Callable[[State], list[dict[str, Any]]],
    drawn: Callable[[State], RenderableType],
) -> int:
    state = Reader(log_repository(path)).read()
    rows = told(state)
    if as_json:
        print_document({"schema_version": views.SCHEMA_VERSION, name: rows})
    elif rows:
        out.print(drawn(state))
    else:
        say(f"no {name}")
    return OK


def _worded(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return "" if value is None else str(value)


def print_document(whole: dict[str, Any]) -> None:
    """Print a document for programs."""
    # Encoded in one go and then indented, both in C: a log may have many convoys.
    write(msgspec.json.format(json.dumps(whole), indent=2))
