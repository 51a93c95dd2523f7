"""One session that has ended: what the log says of it, and what it printed last."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import Struct

from brat.repository import (
    checkout as checkouts,
    log_export,
    registration as registrations,
)
from brat.repository.remote_forge import origin_of
from brat.status import task_output
from convoy.events.forge_actions import ActionDone
from convoy.model import ids
from convoy.model.session_result import usage_in_words
from convoy.model.state import State
from convoy.text import clock, spoken_duration as length
from convoy.views.history import PastSession, bot_facts, past_sessions
from grite.errors import BratError

LAST_LINES: Final = 20
"""Of its output people see so many lines."""


class EndedSession(Struct, frozen=True, kw_only=True):
    """A session that has ended."""

    name: str
    convoy: str
    past: PastSession
    run: int
    """Of the forge; 0: it is not known."""
    output: str
    """The end of what it printed; empty: it is not kept here."""
    page: str
    """Where the forge keeps that; empty: nowhere that is known."""

    def document(self) -> dict[str, Any]:
        """Return what `--json` says of it."""
        told: dict[str, Any] = msgspec.to_builtins(self.past)
        times = {f"{key}_ms": told.pop(key) for key in ("begun", "ended", "landed")}
        own = {"name": self.name, "convoy": self.convoy, "run": self.run or None}
        return own | told | times | {"output": self.output, "page": self.page}

    def lines(self) -> Iterator[tuple[str, str]]:
        """Yield what people are told: a word, and what it is."""
        one = self.past
        yield "name", self.name
        yield "engine", one.engine
        yield "began", clock(one.begun)
        yield "took", length(round(one.took_s)) if one.ended else ""
        yield "outcome", one.how + (f" at {clock(one.landed)}" if one.landed else "")
        yield "why", one.why
        yield "judged by", ", ".join(one.judged)
        yield "used", usage_in_words(one.usage)
        if self.output:
            shown = self.output.rstrip("\n").split("\n")[-LAST_LINES:]
            yield "output", "\n".join(("its last lines:", *shown))
        elif self.page:
            yield "output", self.page


def ended_session(
    path: Path, log: Path, state: State, name: str
) -> EndedSession | None:
    """Return the session of that name; None: there was none.

    Args:
        path: a folder of the repository.
        log: the repository with the log.
        state: what the log says.
        name: the session's.
    """
    try:
        convoy, task, attempt = ids.parse_session(name)
    except ValueError:
        return None
    known = tuple(bot_facts(log_export.entries(log), state.bots))
    found = [
        one
        for one in past_sessions(convoy, known)
        if (one.task, one.attempt) == (task, attempt)
    ]
    if not found:
        return None
    key = ids.dispatch_key(name)
    done = (fact for _, fact in known if isinstance(fact, ActionDone))
    run = next((fact.number for fact in done if fact.key == key), 0)
    output, page = _output(path, log, name, run)
    return EndedSession(
        name=name, convoy=convoy, past=found[0], run=run, output=output, page=page
    )


def _output(path: Path, log: Path, name: str, run: int) -> tuple[str, str]:
    """Return the end of what a session printed, or the forge's page of its run."""
    try:
        folder = checkouts.find(path).folder
        if registrations.known(folder) is None:
            page = f"{origin_of(log).web}/actions/runs/{run}" if run else ""
            return "", page
    except BratError:
        return "", ""
    return task_output.of_session(folder, name, run).last(running=False), ""
