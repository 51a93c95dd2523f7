"""`brat session tail`: the output of a task's session, here or at a bot elsewhere."""

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from brat.repository import checkout as checkouts, registration as registrations
from brat.repository.log_location import log_repository
from brat.repository.log_reader import Reader
from brat.repository.remote_forge import origin_of
from brat.status import task_output
from brat.status.find_task import live_or_named, run_of, task_in
from brat.status.remote_output import RemoteOutput
from brat.terminal.console import write
from grite.errors import BratError

OK: Final = 0


def tail(
    path: Path, number: int, convoy: str | None, bot: str | None, *, following: bool
) -> int:
    """Print the output of a task's newest session, with `following` until its end.

    Args:
        path: a folder of the repository, or of a clone of it.
        number: the task's number.
        convoy: the task's convoy; None: the live convoy.
        bot: the bot to ask; None: the session ran on this machine's forge.
        following: stay until the session has ended.

    Raises:
        BratError: there is no such task, it has had no session, or that ran elsewhere.
    """
    if bot is not None:
        return _from_afar(path, number, convoy, bot, following=following)
    try:
        folder = checkouts.find(path).folder
    except BratError:
        raise _on_the_forge(path, number, convoy) from None
    known = registrations.known(folder)
    if known is None:
        raise _on_the_forge(path, number, convoy)
    reader = Reader(registrations.bare_path(folder, known))
    found = live_or_named(reader.read(), convoy)
    task = task_in(found, number)
    run = run_of(task)
    printed = task_output.of(folder, found, task)

    def running() -> bool:
        now = reader.read().convoys[found.name].task(number)
        return now is not None and now.attempt is not None and now.attempt.run == run

    if following:
        return _shown(printed.follow(running))
    return _shown((printed.last(running=running()),))


def _on_the_forge(path: Path, number: int, convoy: str | None) -> BratError:
    """Return an error with the forge's address of a session's output.

    Raises:
        BratError: there is no such task, or no session of it.
    """
    log = log_repository(path)
    found = live_or_named(Reader(log).read(), convoy)
    run = run_of(task_in(found, number))
    origin = origin_of(log)
    there = f"{origin.web}/actions/runs/{run}"
    return BratError(
        f"the session of task {number} ran on the forge, and its output is there: "
        f"{there}; a bot that receives it shows it with --bot"
    )


def _from_afar(
    path: Path, number: int, convoy: str | None, bot: str, *, following: bool
) -> int:
    log = log_repository(path)
    far = RemoteOutput.of(bot, log)
    found = live_or_named(Reader(log).read(), convoy)
    task = task_in(found, number)
    return _shown(far.follow(found, task) if following else (far.last(found, task),))


def _shown(texts: Iterable[str]) -> int:
    for text in texts:
        write(text.rstrip("\n"))
    return OK
