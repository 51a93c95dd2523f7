"""The subject of `brat why`: a convoy, a task, a pull request, or a task's wait."""

import re
from typing import Final

from msgspec import Struct

from brat.status.find_task import live_or_named, task_in
from convoy.model.state import Convoy, State
from convoy.rules.starting import valid_leases
from convoy.text import did_you_mean
from convoy.views.reasons import convoy_reasons, edge_reasons, pull_reasons, reasons
from grite.errors import BratError

_TASK: Final = re.compile(r"(?:task-)?(\d{1,9})", re.ASCII)
_PULL: Final = re.compile(r"(?:#|pull-)(\d{1,9})", re.ASCII)
_EDGE: Final = re.compile(r"(?:task-)?(\d{1,9})->(?:task-)?(\d{1,9})", re.ASCII)


class Explained(Struct, frozen=True, kw_only=True):
    """The subject of the question, and the reasons in order."""

    convoy: str
    task: int = 0
    """The task's number; 0: the subject is not a single task."""
    about: str
    """The subject in words for people."""
    state: str
    reasons: tuple[str, ...]
    story: tuple[str, ...] = ()
    """What each attempt at the task came to, in order."""


def explained(state: State, asked: str, convoy: str | None, now: int) -> Explained:
    """Return the reasons for the present state of a subject.

    Args:
        state: what the log says.
        asked: `3` or `task-3`; `#12` or `pull-12`; `1->3`; a convoy's name.
        convoy: whose task; None: the live one's. A pull request needs none.
        now: unix ms.

    Raises:
        BratError: the subject does not exist, or `asked` cannot be understood.
    """
    if found := _PULL.fullmatch(asked):
        return _of_pull(state, int(found[1]), now)
    if found := _EDGE.fullmatch(asked):
        whose = live_or_named(state, convoy)
        first, then = (task_in(whose, int(each)) for each in found.groups())
        return Explained(
            convoy=whose.name,
            task=then.number,
            about=f"{whose.name}, task {then.number} after task {first.number}",
            state=then.state,
            reasons=edge_reasons(whose, first, then),
        )
    if found := _TASK.fullmatch(asked):
        return _of_task(state, live_or_named(state, convoy), int(found[1]), now)
    if asked in state.convoys:
        return _of_convoy(state, state.convoys[asked], now)
    raise BratError(
        f"{asked!r} cannot be explained: give a task (3), a pull request (pull-12), "
        f"one task's wait for another ('1->3') or a convoy{_nearest(asked, state)}"
    )


def _nearest(asked: str, state: State) -> str:
    return did_you_mean(asked, state.convoys) or "'s name"


def _of_convoy(state: State, convoy: Convoy, now: int) -> Explained:
    return Explained(
        convoy=convoy.name,
        about=f"{convoy.name}: {convoy.title}",
        state=convoy.state,
        reasons=convoy_reasons(convoy, valid_leases(state, now)),
    )


def _of_task(state: State, convoy: Convoy, number: int, now: int) -> Explained:
    task = task_in(convoy, number)
    return Explained(
        convoy=convoy.name,
        task=number,
        about=f"{convoy.name}, task {number}: {task.spec.title}",
        state=task.state,
        reasons=reasons(state, convoy, task, now),
    )


def _of_pull(state: State, pull: int, now: int) -> Explained:
    for convoy in reversed(state.convoys.values()):
        for task in convoy.tasks:
            if task.pull == pull:
                return _of_task(state, convoy, task.number, now)
        if convoy.pull == pull:
            return Explained(
                convoy=convoy.name,
                about=f"{convoy.name}, pull request #{pull}",
                state=convoy.state,
                reasons=pull_reasons(convoy),
            )
    raise BratError(f"pull request #{pull} belongs to no convoy")
