"""The state and the log, told to people and programs; here as JSON documents. Pure.

`schema_version` goes up when a field changes its meaning or goes away; a new field does
not change it. docs/status.md describes every field, and a test compares.
"""

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from convoy.model import ids
from convoy.model.session_result import dollars
from convoy.model.state import Convoy, State, Task, TaskState
from convoy.rules.landing import waiting_to_merge
from convoy.rules.starting import Moment, moment
from convoy.text import rough
from convoy.views.interventions import Intervention, interventions
from convoy.views.plan import plan_document
from convoy.views.reasons import landing_document, reasons, waits_for

SCHEMA_VERSION: Final = 1


def state_document(
    state: State,
    now: int,
    faults: tuple[str, ...] = (),
    here: tuple[Intervention, ...] = (),
) -> dict[str, Any]:
    """Return what `brat status --json` prints.

    `here` is what waits for a person beside what the log says.
    """
    found = (*here, *interventions(state, now, faults))
    return {
        "schema_version": SCHEMA_VERSION,
        "wal_head": state.moment.commit or None,
        "convoys": convoys(state, now),
        "sessions": sessions(state),
        "queue": queue(state),
        "locks": [msgspec.to_builtins(lease) for lease in state.leases.values()],
        "interventions": [msgspec.to_builtins(each) for each in found],
    }


def convoys(state: State, now: int) -> list[dict[str, Any]]:
    """Return all convoys, oldest first; `now` (unix ms) tells which locks hold."""
    at = moment(state, now)
    return [convoy_document(convoy, at) for convoy in state.convoys.values()]


def sessions(state: State) -> list[dict[str, Any]]:
    return [
        {
            "name": ids.session_name(convoy.name, task.number, task.started),
            "convoy": convoy.name,
            "task": task.number,
            "attempt": task.started,
            "engine": task.spec.engine,
            "run": task.attempt.run if task.attempt else None,
            "since_ms": task.attempt.at if task.attempt else None,
        }
        for convoy, task in state.running()
    ]


def convoy_document(convoy: Convoy, at: Moment | None = None) -> dict[str, Any]:
    return {
        "name": convoy.name,
        "title": convoy.title,
        "issue": convoy.issue,
        "state": convoy.shown_state,
        "why": convoy.why,
        "pull_request": convoy.pull,
        "landing": landing_document(convoy),
        "landed_commit": convoy.landed,
        "worked_s": worked_s(convoy),
        "saved_s": saved_s(convoy),
        "usage": msgspec.to_builtins(convoy.used),
        "pattern": convoy.pattern,
        "warnings": list(convoy.warnings),
        "estimate": msgspec.to_builtins(convoy.estimate),
        "tasks": [task_document(convoy, task, at) for task in convoy.tasks],
    }


def planned_document(convoy: Convoy, at: Moment | None = None) -> dict[str, Any]:
    """Return a convoy with its plan, which takes too long for lists of them."""
    plan = {"plan": msgspec.to_builtins(plan_document(convoy))}
    return convoy_document(convoy, at) | plan


def task_document(
    convoy: Convoy, task: Task, at: Moment | None = None
) -> dict[str, Any]:
    return {
        "number": task.number,
        "title": task.spec.title,
        "kind": task.spec.kind,
        "report": msgspec.to_builtins(task.report),
        "state": task.state,
        "attempts": task.started,
        "usage": msgspec.to_builtins(task.used),
        "after": list(task.spec.after),
        "after_why": [task.spec.because(number) for number in task.spec.after],
        "engine": task.spec.engine,
        "branch": ids.task_branch(convoy.name, task.number),
        "pull_request": task.pull,
        "landed_commit": task.landed,
        "waits_for": waits_for(convoy, task, at),
        "why": task.why,
    }


def queue(state: State) -> list[dict[str, Any]]:
    """Return the merge queues of all live convoys, each in the order of landing."""
    return [
        {
            "convoy": convoy.name,
            "task": task.number,
            "place": place,
            "pull_request": task.pull,
            "candidate": task.candidate.commit if task.candidate else None,
            "waits_for": waits_for(convoy, task),
        }
        for convoy in state.live()
        for place, task in enumerate(waiting_to_merge(convoy), 1)
    ]


def explained_task(
    state: State, convoy: Convoy, task: Task, now: int
) -> dict[str, Any]:
    return task_document(convoy, task, moment(state, now)) | {
        "schema_version": SCHEMA_VERSION,
        "convoy": convoy.name,
        "task": task.number,
        "reasons": list(reasons(state, convoy, task, now)),
    }


def worked_s(convoy: Convoy) -> float:
    """Return how long the convoy's sessions took one after the other, in seconds."""
    return sum(task.worked_ms for task in convoy.tasks) / 1000


def progress_words(convoy: Convoy, now: int) -> str:
    merged = sum(task.state == "merged" for task in convoy.tasks)
    took = rough(max(0, (convoy.ended_at or now) - convoy.requested_at) / 1000)
    most = convoy.settings.budget.convoy
    of_all = "" if most is None else f" of {dollars(most)}"
    said = (
        f"{merged} of {len(convoy.tasks)} merged" if convoy.tasks else "",
        f"took {took}" if convoy.ended else f"{took} so far",
        f"{dollars(convoy.used.usd)}{of_all}" if convoy.used.usd else "",
    )
    return " · ".join(filter(None, said))


STATE_ORDER: Final[tuple[TaskState, ...]] = (
    "merged",
    "needs-review",
    "running",
    "queued",
    "blocked",
    "dropped",
)


def strip(convoy: Convoy, width: int) -> Iterator[tuple[TaskState, int]]:
    """Give each state, in one order everywhere, with its share of `width` places."""
    seen = 0
    for state in STATE_ORDER:
        begun = seen
        seen += sum(task.state == state for task in convoy.tasks)
        most = max(1, len(convoy.tasks))
        yield state, seen * width // most - begun * width // most


def saved_s(convoy: Convoy) -> float:
    """Return how much shorter the convoy's sessions were side by side, in seconds.

    Counted from the first start to the last end of those that have ended; never less
    than 0.
    """
    ended = [task for task in convoy.tasks if task.begun_at and task.ended_at]
    if not ended:
        return 0.0
    first = min(task.begun_at for task in ended)
    last = max(task.ended_at for task in ended)
    worked_ms = sum(task.worked_ms for task in ended)
    return max(0, worked_ms - (last - first)) / 1000
