"""The tools that only read: they answer with the documents of the HTTP API."""

from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta, Struct

from bot.mcp.backend import Backend
from bot.mcp.tool import (
    MOST_LINES,
    NoArguments,
    OfConvoy,
    OfTask,
    Tool,
    convoy_in,
    task_in,
)
from convoy import views
from convoy.rules.starting import valid_leases
from convoy.text import clean, redacted


class LogLines(Struct, forbid_unknown_fields=True):
    """How much of the log is asked for."""

    lines: Annotated[
        int, Meta(ge=1, le=MOST_LINES, description="How many lines at most.")
    ] = 50


async def status(backend: Backend, _: NoArguments) -> dict[str, Any]:
    """Return every convoy that has not ended whole, and the others by name."""
    seen = await backend.snapshot()
    whole = views.state_document(seen.state, seen.now, seen.faults, seen.here)
    live = {convoy.name for convoy in seen.state.live()}
    ended = [
        {"name": name, "state": known.state, "issue": known.issue}
        for name, known in seen.state.convoys.summaries()
        if name not in live
    ]
    shown = [each for each in whole["convoys"] if each["name"] in live]
    return whole | {"convoys": shown, "ended": ended}


async def convoy_show(backend: Backend, asked: OfConvoy) -> dict[str, Any]:
    """Return one convoy with its plan."""
    seen = await backend.snapshot()
    leases = valid_leases(seen.state, seen.now)
    convoy = convoy_in(seen.state, asked.convoy)
    version = {"schema_version": views.SCHEMA_VERSION}
    return version | views.planned_document(convoy, leases)


async def why(backend: Backend, asked: OfTask) -> dict[str, Any]:
    """Return one task whole, and why it is where it is."""
    seen = await backend.snapshot()
    convoy, task = task_in(seen.state, asked.convoy, asked.task)
    told = views.task_document(convoy, task, valid_leases(seen.state, seen.now))
    return told | views.why_document(seen.state, convoy, task, seen.now)


async def log(backend: Backend, asked: LogLines) -> dict[str, Any]:
    """Return the log's last lines."""
    lines = [msgspec.to_builtins(line) for line in await backend.log(asked.lines)]
    return {"schema_version": views.SCHEMA_VERSION, "lines": lines}


async def task_output(backend: Backend, asked: OfTask) -> dict[str, Any]:
    """Return the end of what a task's newest session printed."""
    seen = await backend.snapshot()
    convoy, task = task_in(seen.state, asked.convoy, asked.task)
    printed = await backend.output(convoy, task)
    version = {"schema_version": views.SCHEMA_VERSION}
    return version | {"output": redacted(clean(printed))}


READINGS: Final = (
    Tool(
        name="status",
        title="Status",
        help="Where everything stands: each convoy that has not ended with its tasks, "
        "the sessions that run, the merge queue, the locks, and under `interventions` "
        "what waits for a person, with the commands that help. Call it first.",
        takes=NoArguments,
        answer=status,
    ),
    Tool(
        name="convoy_show",
        title="One convoy",
        help="One convoy whole, also one that has ended: its tasks and its plan with "
        "paths, estimates, the order and what of the issue no task does.",
        takes=OfConvoy,
        answer=convoy_show,
    ),
    Tool(
        name="why",
        title="Why a task is where it is",
        help="One task whole, with `reasons`: why it is where it is and what it waits "
        "for, in order.",
        takes=OfTask,
        answer=why,
    ),
    Tool(
        name="log",
        title="The log",
        help="The last events of all convoys as sentences, oldest first; `at` is in "
        "unix milliseconds.",
        takes=LogLines,
        answer=log,
    ),
    Tool(
        name="task_output",
        title="What a session printed",
        help="The end of what the newest session of a task printed, without secrets "
        "and control codes; empty while there is none.",
        takes=OfTask,
        answer=task_output,
    ),
)
