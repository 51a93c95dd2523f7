"""A step of the script as a call of one of the CLI's own tools.

The tool is chosen by its declared schema, not by the CLI's name, so that a new version
of a CLI may rename its tools.
"""

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from tests.world.vendor.conversation import Asked, Tool
from tests.world.vendor.script import Insist, Patch, Run, Step, Write

_PATHS: Final = ("file_path", "filePath", "filepath", "path")
_CONTENTS: Final = ("content", "contents", "file_text")
_COMMANDS: Final = ("command", "cmd")
_SHELL: Final = re.compile(r"bash|shell|exec|terminal|command", re.IGNORECASE)
_FOLDER: Final = re.compile(
    r"(?:working directory|working in the directory|workspace directories|cwd)"
    r"[:>*\s-]{1,12}(/[^\s<>\"'`,\\]+)",
    re.IGNORECASE,
)
_PATCH: Final = "fix.patch"
_FILLING: Final[dict[str, Any]] = {
    "string": "as scripted",
    "boolean": False,
    "integer": 1,
    "number": 1,
    "array": [],
    "object": {},
}


def folder(text: str) -> str | None:
    """Return the folder in which the CLI says it works."""
    found = _FOLDER.search(text)
    return found.group(1).rstrip(".") if found else None


def by_tools(steps: Iterable[Step]) -> Iterator[Write | Run | Insist]:
    """Yield steps that take one tool call each.

    A patch is written to a file and applied by git: most edit tools want a file to be
    read first, and some shells of CLIs refuse what looks like a substitution.
    """
    for step in steps:
        if isinstance(step, Patch):
            yield Write(path=_PATCH, content=step.diff)
            # Without context lines below it, a hunk needs --unidiff-zero to apply.
            yield Run(command=f"git apply --unidiff-zero {_PATCH} && rm {_PATCH}")
        else:
            yield step


def call(step: Write | Run | Insist, asked: Asked) -> tuple[str, dict[str, Any]] | None:
    """Return the tool and its arguments; None: no tool on offer can do it."""
    if isinstance(step, Insist):
        return step.tool, dict(step.arguments)
    if isinstance(step, Write):
        return _write(step, asked) or _run(_as_command(step), asked.tools)
    return _run(step, asked.tools)


def _write(step: Write, asked: Asked) -> tuple[str, dict[str, Any]] | None:
    where = folder(asked.text)
    path = f"{where.rstrip('/')}/{step.path}" if where else step.path
    for tool in asked.tools:
        path_key, content_key = _key(tool, _PATHS), _key(tool, _CONTENTS)
        if path_key and content_key:
            given = {path_key: path, content_key: step.content}
            return tool.name, _filled(tool, given)
    return None


def _run(step: Run, tools: tuple[Tool, ...]) -> tuple[str, dict[str, Any]] | None:
    for tool in tools:
        key = _key(tool, _COMMANDS)
        if key and _SHELL.search(tool.name):
            listed = tool.properties[key].get("type") == "array"
            command = ["sh", "-c", step.command] if listed else step.command
            return tool.name, _filled(tool, {key: command})
    return None


def _as_command(step: Write) -> Run:
    path = shlex.quote(step.path)
    return Run(
        command=f'mkdir -p "$(dirname {path})" && '
        f"printf %s {shlex.quote(step.content)} > {path}"
    )


def _key(tool: Tool, names: tuple[str, ...]) -> str | None:
    return next((name for name in names if name in tool.properties), None)


def _filled(tool: Tool, given: dict[str, Any]) -> dict[str, Any]:
    """Add the other arguments that the tool requires."""
    missing = (name for name in tool.required if name not in given)
    return given | {name: _fill(tool.properties.get(name, {})) for name in missing}


def _fill(schema: Mapping[str, Any]) -> Any:  # noqa: ANN401  any JSON
    if schema.get("enum"):
        return schema["enum"][0]
    kind = schema.get("type")
    kind = kind[0] if isinstance(kind, list) else kind
    return _FILLING.get(str(kind), "as scripted")
