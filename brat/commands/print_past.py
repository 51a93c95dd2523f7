"""Prints what a repository was like at a time that is past."""

from pathlib import Path

from brat.commands.print_views import BLOCKED, OK, looked, print_document
from brat.repository.log_location import log_repository
from brat.repository.log_reader import Reader
from brat.status.find_task import convoy_named
from brat.terminal.console import out, write
from convoy import views
from convoy.log.record import state_at
from convoy.model.state import State
from convoy.text import clock
from convoy.views.interventions import interventions, needs_a_person
from grite.errors import BratError
from grite.wal import Log


def status(path: Path, at: int, convoy: str | None, *, as_json: bool) -> int:
    """Print every convoy, or one, as the log had it; return 1 if it waited for anybody.

    Args:
        path: a folder of the repository.
        at: unix ms.
        convoy: its name; None: all of them.
        as_json: for programs.

    Raises:
        BratError: nothing had been logged by then, or there was no such convoy.
    """
    state = _state(path, at)
    if convoy is not None:
        convoy_named(state, convoy)
    if as_json:
        whole = views.state_document(state, at)
        named = [c for c in whole["convoys"] if convoy in (None, c["name"])]
        print_document(whole | {"convoys": named, "at": at})
    else:
        write(f"as it was at {clock(at)}")
        out.print(looked(state, convoy=convoy, now=at))
    waited = needs_a_person(interventions(state, at), convoy)
    return BLOCKED if waited else OK


def _state(path: Path, at: int) -> State:
    place = log_repository(path)
    reader = Reader(place)
    reader.read()
    state = state_at(Log(place), str(reader.reading.head), at)
    if not state.moment.at:
        raise BratError(f"nothing had been logged by {clock(at)}")
    return state
