"""The tool that begins a convoy."""

from typing import Annotated, Any, Final

from msgspec import Meta, Struct

from bot.mcp.backend import Backend
from bot.mcp.tool import MOST_TEXT, Refused, Tool


class Wanted(Struct, forbid_unknown_fields=True):
    """What a new convoy is to do."""

    text: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=MOST_TEXT,
            description="What is to be done: the text of an issue, whose first line is "
            "its title. A list of `- [ ] item` lines becomes a task each, with "
            "`(paths: src/a.py)` and `(after: 1)`; prose is planned by the engine of "
            "`[mayor]`, where one is configured.",
        ),
    ]
    plan_only: Annotated[
        bool,
        Meta(description="Nothing starts before a person approves the plan."),
    ] = False


async def _start(backend: Backend, wanted: Wanted) -> dict[str, Any]:
    if not wanted.text.strip():
        raise Refused("start: the text is empty: say what is to be done")
    return await backend.start(wanted.text, plan_only=wanted.plan_only)


START: Final = Tool(
    name="start",
    title="Start a convoy",
    help="Opens an issue and lets a convoy be planned for it; the same words again go "
    "on with the issue that is open. With `plan_only` the plan waits for `approve`: "
    "use it unless your user asked for the work to begin at once. Agents work where "
    "brat runs: in `brat up` or `brat daemon`, or on the forge.",
    takes=Wanted,
    answer=_start,
    writes=True,
)
