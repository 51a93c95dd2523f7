"""The read-only commands: they read refs, print a view, and need no bot.

`brat status --all-repos` and `brat top` find every repository below a folder that holds
a log: clones that have it, repositories that brat serves on this machine, and, in a
bot's own folder, the mirrors of all repositories that the bot serves.
"""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import msgspec
import pygit2
from msgspec import Struct
from rich.console import Group, RenderableType
from rich.text import Text

from bot import wall_clock
from brat.repository import checkout as checkouts
from brat.repository.log_reader import Reader, log_repository
from brat.repository.registration import REGISTRATION, STATE_FOLDER
from brat.status import status_screen
from brat.status.find_task import convoy_named, live_or_named, task_in
from brat.status.local_attention import here
from brat.status.status_screen import (
    cost_document,
    cost_table,
    one_line,
    plain_table,
    plan_screen,
)
from brat.terminal import live_screen
from brat.terminal.console import out, say, write
from brat.terminal.live_screen import View
from convoy import views
from convoy.model import ids
from convoy.model.session_result import usage_in_words
from convoy.model.state import Convoy, State, Task
from convoy.rules.landing import waiting_to_merge
from convoy.rules.starting import valid_leases
from convoy.text import counted, spoken_duration
from convoy.views.interventions import Intervention, interventions, needs_a_person
from grite.errors import BratError

DEPTH: Final = 5
_PASSED: Final = frozenset({"node_modules", "site-packages"})


def readers_below(path: Path) -> tuple[dict[str, Reader], dict[str, str]]:
    """Return a reader of each log, and why others cannot be read, by their paths."""
    root = folder_around(path.resolve())
    found: dict[str, Reader] = {}
    broken: dict[str, str] = {}
    for place in _repositories(root, DEPTH):
        name = str(place.relative_to(root))
        try:
            found[name] = Reader(log_repository(place))
        except BratError as error:
            if (place / ".git" / STATE_FOLDER / REGISTRATION).exists():
                broken[name] = str(error)
    return found, broken


def folder_around(path: Path) -> Path:
    """Return the folder to search: if in a repository, the repository's parent."""
    own = pygit2.discover_repository(str(path))
    if own is None:
        return path
    folder = Path(own)
    return folder.parent.parent if folder.name == ".git" else path


def _repositories(folder: Path, depth: int) -> Iterator[Path]:
    """Yield each repository below a folder, in order; nested ones are left out."""
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return  # we may not read it
    for entry in entries:
        if not entry.is_dir(follow_symlinks=False) or entry.name in _PASSED:
            continue
        path = Path(entry.path)
        if (path / ".git").exists() or (path / "HEAD").is_file():
            yield path
        elif depth and not entry.name.startswith("."):
            yield from _repositories(path, depth - 1)


def documents_of(found: dict[str, Reader]) -> list[dict[str, object]]:
    """Return each repository's path and status, for programs."""
    return [
        {
            "path": name,
            "status": views.state_document(reader.read(), wall_clock(), reader.faults),
        }
        for name, reader in found.items()
    ]


def headed(name: str, shown: RenderableType) -> Group:
    """Return one repository's view, with its path as a heading."""
    return Group(Text(name, style="bold underline"), shown)


def joined_view(views: Mapping[str, View], broken: Mapping[str, str]) -> View:
    """Return one view of several repositories; each item on top says whose it is."""
    return View(
        pinned=tuple(
            Group(Text(f"  {name}:", style="bold"), item)
            for name, view in views.items()
            for item in view.pinned
        ),
        rest=Group(
            *(headed(name, view.rest) for name, view in views.items()),
            *(headed(name, Text(why)) for name, why in broken.items()),
        ),
    )


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
    shown = _shown(state, convoy)
    if watch:
        pass  # the person has seen enough
    elif as_json:
        local = here(path, state)
        whole = views.state_document(state, wall_clock(), reader.faults, local)
        names = {each.name for each in shown}
        whole["convoys"] = [each for each in whole["convoys"] if each["name"] in names]
        print_document(whole)
    else:
        local = here(path, state)
        if (screen := looked(state, reader.faults, convoy, local)) != NOTHING_YET:
            out.print(screen)
        if not shown and not any(each.issue for each in local):
            say(NOTHING_YET)
    found = (*here(path, state), *interventions(state, wall_clock(), reader.faults))
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


def all_repositories(path: Path, *, as_json: bool, watch: bool) -> int:
    """Print every repository below a folder; return 1 while any waits for a person."""
    found, broken = readers_below(path)
    if not (found or broken):
        raise BratError(f"no repository below {path} holds a log; see: brat init")

    def seen() -> View:
        views = {name: watched(r.read(), r.faults) for name, r in found.items()}
        return joined_view(views, broken)

    if watch:
        live_screen.watch(seen, status_screen.WAITS, "brat status --all-repos")
    elif as_json:
        version = {"schema_version": views.SCHEMA_VERSION}
        told = {"repositories": documents_of(found), "broken": broken}
        print_document(version | told)
    else:
        for name, reader in found.items():
            out.print(headed(name, looked(reader.read(), reader.faults)))
        for name, why in broken.items():
            out.print(headed(name, Text(why)))
    waits = (
        needs_a_person(interventions(reader.read(), wall_clock(), reader.faults))
        for reader in found.values()
    )
    return BLOCKED if broken or any(waits) else OK


def looked(
    state: State,
    faults: tuple[str, ...] = (),
    convoy: str | None = None,
    local: tuple[Intervention, ...] = (),
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
    faults: tuple[str, ...] = (),
    convoy: str | None = None,
    local: tuple[Intervention, ...] = (),
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


def sessions(path: Path, *, as_json: bool) -> int:
    """Print the sessions that have not ended, a line each."""
    return _table(
        path, as_json, "sessions", views.sessions, status_screen.sessions_table
    )


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


LastLine = Callable[[Convoy, Task], str]
"""Returns what a running session printed last; empty: that is not known here."""


class Place(Struct, frozen=True):
    """A repository of the fleet."""

    reader: Reader
    last_line: LastLine


class Agent(Struct, frozen=True, kw_only=True):
    """One session that runs."""

    place: str
    """Its repository; empty: there is only one."""
    session: str
    engine: str
    seconds: int
    """Since it was started."""
    title: str
    last_line: str


def place_of(path: Path, reader: Reader) -> Place:
    """Return a repository; where its sessions run here, with their output."""
    from brat.status import task_output  # loads the forge's own records

    try:
        folder = checkouts.find(path).folder
    except BratError:  # a bare repository: its sessions run elsewhere
        return Place(reader, lambda _convoy, _task: "")

    def last_line(convoy: Convoy, task: Task) -> str:
        said = task_output.of(folder, convoy, task).last(running=True)
        return next((line for line in reversed(said.splitlines()) if line.strip()), "")

    return Place(reader, last_line)


def fleet_view(places: Mapping[str, Place], now: int) -> View:
    """Return the screen."""
    states = {name: place.reader.read() for name, place in places.items()}
    agents = sorted(
        (
            agent
            for name, state in states.items()
            for agent in _agents(name, state, places[name].last_line, now)
        ),
        key=lambda agent: (-agent.seconds, agent.place, agent.session),
    )
    waits = sum(len(interventions(state, now)) for state in states.values())
    return View(
        Group(Text(_summary(states.values(), len(agents), waits)), _fleet_table(agents))
    )


def _agents(name: str, state: State, last_line: LastLine, now: int) -> Iterator[Agent]:
    for convoy, task in state.running():
        begun = task.attempt.at if task.attempt else now
        yield Agent(
            place=name,
            session=ids.session_name(convoy.name, task.number, task.started),
            engine=task.spec.engine,
            seconds=max(0, now - begun) // 1000,
            title=one_line(task.spec.title),
            last_line=one_line(last_line(convoy, task)),
        )


def _summary(states: Iterable[State], agents: int, waits: int) -> str:
    live = [convoy for state in states for convoy in state.live()]
    queued = sum(task.state == "queued" for convoy in live for task in convoy.tasks)
    merging = sum(len(waiting_to_merge(convoy)) for convoy in live)
    parts = (
        f"{counted(agents, 'agent')} at work",
        f"{counted(queued, 'task')} queued",
        f"{merging} in merge queues",
        f"{waits} waiting for you" + (" (see: brat status)" if waits else ""),
    )
    return ", ".join(parts)


def _fleet_table(agents: list[Agent]) -> Group | Text:
    if not agents:
        return Text("")
    several = any(agent.place for agent in agents)
    heads = ("session", "engine", "for", "task", "prints")
    table = plain_table(*(("repository",) if several else ()), *heads)
    for one in agents:
        cells = (
            one.session,
            one.engine,
            spoken_duration(one.seconds),
            one.title,
            one.last_line,
        )
        table.add_row(
            *(Text(cell) for cell in ((one.place,) if several else ()) + cells)
        )
    return Group(table)


def top(path: Path, *, everywhere: bool, once: bool) -> int:
    """Show the agents at work until `q` is pressed, or `once`."""
    places = _everywhere(path) if everywhere else _here(path)

    def seen() -> View:
        return fleet_view(places, wall_clock())

    if once:
        out.print(seen().rest)
    else:
        live_screen.watch(seen, "agents at work", "brat top")
    return OK


def _here(path: Path) -> dict[str, Place]:
    return {"": place_of(path, Reader(log_repository(path)))}


def _everywhere(path: Path) -> dict[str, Place]:
    found, _ = readers_below(path)
    if not found:
        raise BratError(f"no repository below {path} holds a log; see: brat init")
    root = folder_around(path.resolve())
    return {name: place_of(root / name, reader) for name, reader in found.items()}
