"""The names that a shell completes: convoys, tasks and sessions, from the log.

Only what a shell leaves alone is given: a name that somebody else chose is never read
as a command. A fault gives no names, and is not told: somebody is in the middle of a
line.
"""

import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from brat.status.find_task import session_names
from convoy.model.state import Convoy, State

MOST: Final = 500
_PLAIN: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]*")


def tell_values(asked: Sequence[str]) -> None:
    """Print the names, a line each.

    Args:
        asked: what is wanted, a folder of the repository, and a convoy; the last two
            may be empty or missing.
    """
    kind, repo, convoy, *_ = (*asked, "", "", "")
    with suppress(Exception):  # a line is being typed
        from brat.repository.log_location import log_repository
        from brat.repository.log_reader import Reader

        state = Reader(log_repository(Path(repo or ".").expanduser())).read()
        names = dict.fromkeys(_KINDS[kind](state, convoy))
        plain = [name for name in names if _PLAIN.fullmatch(name)]
        sys.stdout.write("".join(f"{name}\n" for name in plain[:MOST]))


def _convoys(state: State, _convoy: str) -> Iterator[str]:
    """Yield every convoy, the newest first."""
    return reversed(state.convoys)


def _meant(state: State, convoy: str) -> Iterator[Convoy]:
    """Yield the named convoy; without a name, those that have not ended."""
    if convoy:
        return (each for each in state.convoys.values() if each.name == convoy)
    return state.live()


def _tasks(state: State, convoy: str) -> Iterator[str]:
    return (str(task.number) for each in _meant(state, convoy) for task in each.tasks)


def _subjects(state: State, convoy: str) -> Iterator[str]:
    yield from _tasks(state, convoy)
    yield from _convoys(state, convoy)


_KINDS: Final[Mapping[str, Callable[[State, str], Iterator[str]]]] = {
    "convoys": _convoys,
    "tasks": _tasks,
    "sessions": lambda state, _: session_names(state),
    "subjects": _subjects,
}
