"""The attempts at a task as its page tells them: outcome, cost, walls. Pure."""

from collections.abc import Iterable
from typing import Final

from msgspec import Struct

from bot.dashboard.dashboard_source import Session
from convoy.model import ids
from convoy.model.session_result import usage_in_words
from convoy.text.project_tests import compiler_errors, failing_tests
from convoy.views.history import PastSession

_ACCEPTED: Final = ("handed in", "landed", "sent back")


class Attempt(Struct, frozen=True, kw_only=True):
    """One attempt, in words."""

    past: PastSession
    used: str
    why: str
    """Why its work did not land, in a line."""
    told: str
    """The rest of that, with its line breaks."""
    acceptance: str
    walls: str


def attempts(sessions: Iterable[PastSession], task: int) -> tuple[Attempt, ...]:
    """Return the attempts at a task, the newest first."""
    found = [_attempt(one) for one in sessions if one.task == task]
    return tuple(reversed(found))


def _attempt(one: PastSession) -> Attempt:
    why, _, told = one.why.partition("\n")
    return Attempt(
        past=one,
        used=usage_in_words(one.usage),
        why=why,
        told=told.strip(),
        acceptance=_acceptance(one),
        walls=_walls(one),
    )


def _acceptance(one: PastSession) -> str:
    if not one.acceptance:
        return "it has no command for it"
    if one.how in _ACCEPTED:
        return f"{one.acceptance}: passed"
    said = "runs at the end" if one.how == "running" else "not passed"
    return f"{one.acceptance}: {said}"


def _walls(one: PastSession) -> str:
    if one.walls is None:
        return ""
    return f"all but {', '.join(one.walls)}" if one.walls else "all"


def session_of(convoy: str, one: PastSession) -> Session:
    """Return the session of an attempt, to read its output."""
    name = ids.session_name(convoy, one.task, one.attempt)
    return Session(name=name, run=one.run, running=not one.ended)


def failing_part(output: str) -> tuple[str, ...]:
    """Return the lines of an output that say what failed, to stand first."""
    clean = (*failing_tests(output), *compiler_errors(output))
    return tuple(dict.fromkeys(clean))
