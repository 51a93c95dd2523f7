"""`brat top`: every agent at work, live, in one repository or in many.

The one that works longest comes first.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from msgspec import Struct
from rich.console import Group
from rich.text import Text

from bot import wall_clock
from brat.commands import print_views
from brat.repository import checkout as checkouts
from brat.repository.log_reader import Reader, log_repository
from brat.status import task_output
from brat.status.status_screen import one_line, plain_table
from brat.terminal import live_screen
from brat.terminal.console import out
from brat.terminal.live_screen import View
from convoy.model import ids
from convoy.model.state import Convoy, State, Task
from convoy.rules.landing import waiting_to_merge
from convoy.text import counted, spoken_duration
from convoy.views.interventions import interventions
from grite.errors import BratError

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
        Group(Text(_summary(states.values(), len(agents), waits)), _table(agents))
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


def _table(agents: list[Agent]) -> Group | Text:
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


OK: Final = 0


def top(path: Path, *, everywhere: bool, once: bool) -> int:
    """Show the agents at work until `q` is pressed.

    Args:
        path: a folder of the repository, or one that holds repositories.
        everywhere: of every repository below the folder.
        once: print them and end.
    """
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
    found, _ = print_views.readers_below(path)
    if not found:
        raise BratError(f"no repository below {path} holds a log; see: brat init")
    root = print_views.folder_around(path.resolve())
    return {name: place_of(root / name, reader) for name, reader in found.items()}
