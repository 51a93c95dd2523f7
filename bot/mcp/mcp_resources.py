"""What can be read by an address: the documents of the tools that only read."""

import re
from typing import Any, Final
from urllib.parse import quote, unquote

from msgspec import Struct

from bot.mcp.backend import Backend
from bot.mcp.reading_tools import READINGS
from bot.mcp.tool import Refused, Tool

_TOOLS: Final = {tool.name: tool for tool in READINGS}
_FIELD: Final = re.compile(r"\{(\w+)\}")


class Resource(Struct, frozen=True, kw_only=True):
    """An address, or a form of addresses, and the tool that reads what is there."""

    name: str
    uri: str
    """With a `{field}` for each argument of the tool."""
    tool: Tool

    @property
    def is_form(self) -> bool:
        """Whether the address has fields to fill in."""
        return "{" in self.uri

    def arguments(self, uri: str) -> dict[str, Any] | None:
        """Return the tool's arguments in an address; None: it is of another form."""
        pattern = _FIELD.sub(r"(?P<\1>[^/]+)", self.uri)
        found = re.fullmatch(pattern, uri)
        if found is None:
            return None
        given: dict[str, Any] = {k: unquote(v) for k, v in found.groupdict().items()}
        number = given.get("task", "1")
        if not re.fullmatch(r"\d{1,9}", number, re.ASCII):
            return None
        return given | ({"task": int(number)} if "task" in given else {})


_TASK: Final = "brat://convoys/{convoy}/tasks/{task}"
RESOURCES: Final = (
    Resource(name="status", uri="brat://status", tool=_TOOLS["status"]),
    Resource(name="log", uri="brat://log", tool=_TOOLS["log"]),
    Resource(name="convoy", uri="brat://convoys/{convoy}", tool=_TOOLS["convoy_show"]),
    Resource(name="task", uri=_TASK, tool=_TOOLS["why"]),
    Resource(name="output", uri=f"{_TASK}/output", tool=_TOOLS["task_output"]),
)


async def live_convoys(backend: Backend) -> tuple[tuple[str, str], ...]:
    """Return the name and the address of each convoy that has not ended."""
    live = (await backend.snapshot()).state.live()
    return tuple((each.name, f"brat://convoys/{quote(each.name)}") for each in live)


async def read(backend: Backend, uri: str) -> dict[str, Any]:
    """Return the document at an address.

    Raises:
        BratError: there is none, or it cannot be read.
    """
    for resource in RESOURCES:
        arguments = resource.arguments(uri)
        if arguments is not None:
            return await resource.tool.call(backend, arguments)
    forms = ", ".join(each.uri for each in RESOURCES)
    raise Refused(f"there is no resource {uri[:80]}; there are {forms}")
