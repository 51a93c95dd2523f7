"""A row of the table of tools: its name, its arguments, its help, its answer."""

from collections.abc import Awaitable, Callable
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta, Struct

from bot.mcp.backend import Backend
from convoy.model.state import Convoy, State, Task
from convoy.text import did_you_mean
from grite.errors import BratError

MOST_LINES: Final = 500
MOST_TEXT: Final = 30_000
"""How many characters a text may have: a command's argument has 128 KiB at most."""

ConvoyName = Annotated[
    str, Meta(max_length=200, description="The convoy's name, as `status` gives it.")
]
TaskNumber = Annotated[
    int, Meta(ge=1, le=999_999_999, description="The task's number in its convoy.")
]


class NoArguments(Struct, forbid_unknown_fields=True):
    """A tool that takes nothing."""


class OfConvoy(Struct, forbid_unknown_fields=True):
    """A tool about one convoy."""

    convoy: ConvoyName


class OfTask(Struct, forbid_unknown_fields=True):
    """A tool about one task."""

    convoy: ConvoyName
    task: TaskNumber


class Refused(BratError):
    """The call is refused; the message is one sentence for the caller."""


class Tool(Struct, frozen=True, kw_only=True):
    """One tool."""

    name: str
    title: str
    help: str
    """What it does and gives, for the model that may call it."""
    takes: type[Struct]
    """The arguments' form."""
    answer: Callable[[Backend, Any], Awaitable[dict[str, Any]]]
    """Takes the backend and the arguments; may raise `BratError`."""
    writes: bool = False
    """Whether it changes anything."""
    ends: bool = False
    """Whether it ends or gives up what cannot be taken back."""

    @property
    def schema(self) -> dict[str, Any]:
        """The arguments' JSON schema, an object."""
        _, parts = msgspec.json.schema_components([self.takes])
        whole = dict(parts[self.takes.__name__])
        return {key: whole[key] for key in whole if key not in {"title", "description"}}

    async def call(self, backend: Backend, given: dict[str, Any]) -> dict[str, Any]:
        """Return the tool's answer.

        Raises:
            BratError: the arguments are wrong, or the answer is a refusal.
        """
        try:
            arguments = msgspec.convert(given, self.takes, strict=False)
        except msgspec.ValidationError as error:
            raise Refused(f"{self.name}: {error}") from error
        return await self.answer(backend, arguments)


def convoy_in(state: State, name: str) -> Convoy:
    """Return the convoy of this name.

    Raises:
        Refused: there is none.
    """
    if name not in state.convoys:
        near = did_you_mean(name, state.convoys)
        raise Refused(f"there is no convoy {name[:80]}{near or '; see status'}")
    return state.convoys[name]


def task_in(state: State, convoy: str, number: int) -> tuple[Convoy, Task]:
    """Return a task, and its convoy.

    Raises:
        Refused: there is no such convoy, or it has no such task.
    """
    found = convoy_in(state, convoy)
    task = found.task(number)
    if task is None:
        raise Refused(f"{found.name} has no task {number}")
    return found, task
