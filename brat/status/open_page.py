"""The page that shows a convoy or a task: its address, and a browser on it.

The dashboard's address holds a token. Everybody on a machine may read what programs
were started with, so the browser gets a file that leads there, which only we may read.
"""

import webbrowser
from html import escape
from pathlib import Path
from typing import Final

from brat.local import other_processes
from brat.repository import checkout as checkouts, registration as registrations
from brat.repository.checkout import Checkout
from brat.repository.log_reader import Reader, log_repository
from brat.repository.remote_forge import origin_of
from brat.status.find_task import live_or_named, task_in
from brat.terminal.console import say, write
from convoy.model.state import Convoy, State
from grite.errors import BratError

FILE: Final = "open.html"
_LEADS: Final = '<!doctype html><meta http-equiv="refresh" content="0; url={there}">\n'


def open_page(path: Path, about: str | None, convoy: str | None) -> int:
    """Show a page in the system's browser; print its address where there is none.

    `about` is a task's number (of the live convoy unless one is named) or a convoy's
    name; None: everything, or the live convoy where only the forge has pages.
    """
    log = log_repository(path)
    state = Reader(log).read()
    checkout = _checkout(path)
    daemon = None if checkout is None else other_processes.known_daemon(checkout.folder)
    if checkout and daemon and daemon.alive and daemon.url:
        address = _at_dashboard(daemon.url, state, about, convoy)
        file = checkout.folder / FILE
        file.unlink(missing_ok=True)
        file.touch(0o600)
        file.write_text(_LEADS.format(there=escape(address)), encoding="utf-8")
        return _shown(address, file.as_uri())
    if checkout and registrations.known(checkout.folder):
        raise BratError("no page shows it yet: brat daemon start serves the dashboard")
    address = _at_forge(log, *_subject(state, about, convoy))
    return _shown(address, address)


def _shown(address: str, opened: str) -> int:
    try:
        is_open = webbrowser.get().open(opened)
    except webbrowser.Error:
        is_open = False
    if is_open:
        say("opened in your browser; the address is:")
    write(address)
    return 0


def _checkout(path: Path) -> Checkout | None:
    try:
        return checkouts.find(path)
    except BratError:
        return None  # a clone without a checkout


def _subject(state: State, about: str | None, convoy: str | None) -> tuple[Convoy, int]:
    """Return the convoy, and the number of its task that is meant; 0: none."""
    if about is None or about in state.convoys:
        return live_or_named(state, about or convoy), 0
    number = about.removeprefix("task-")
    if not number.isdecimal():
        raise BratError(f"{about!r} is neither a task's number nor a convoy's name")
    found = live_or_named(state, convoy)
    return found, task_in(found, int(number)).number


def _at_dashboard(url: str, state: State, about: str | None, convoy: str | None) -> str:
    root, _, token = url.partition("/?")
    if about is None and convoy is None:
        return url
    found, number = _subject(state, about, convoy)
    page = f"{root}/convoys/{found.name}" + (f"/tasks/{number}" if number else "")
    return f"{page}?{token}" if token else page


def _at_forge(log: Path, convoy: Convoy, number: int) -> str:
    """Return the pull request's page, or the issue's where there is none yet."""
    task = convoy.task(number)
    pull = task.pull if task else convoy.pull
    page = f"pull/{pull}" if pull else f"issues/{convoy.issue}"
    return f"{origin_of(log).web}/{page}"
