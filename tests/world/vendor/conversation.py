"""What a scripted model was asked, what it does then, and how its answers are framed.

The tool is chosen by its declared schema, not by the CLI's name, so that a new version
of a CLI may rename its tools.

https://html.spec.whatwg.org/multipage/server-sent-events.html
https://aider.chat/docs/more/edit-formats.html
"""

import json
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from tests.world.vendor.script import Case, Insist, Loop, Patch, Run, Step, Write


def data(value: Mapping[str, Any]) -> bytes:
    """Return an event without a name."""
    return b"data: " + json.dumps(value).encode() + b"\n\n"


def event(value: Mapping[str, Any]) -> bytes:
    """Return an event named by the value's own `type`."""
    return f"event: {value['type']}\n".encode() + data(value)


def texts(content: object) -> Iterator[str]:
    """Give the texts of a message's content, and of the tools' results in it."""
    if isinstance(content, str):
        yield content
    for part in content if isinstance(content, list) else ():
        if part.get("type") == "tool_result":
            yield from texts(part.get("content"))
        elif "text" in part:
            yield str(part["text"])


def joined(messages: Iterable[Mapping[str, Any]]) -> str:
    return "\n".join(text for each in messages for text in texts(each.get("content")))


CHARS_PER_TOKEN: Final = 4


@dataclass(frozen=True, slots=True)
class Tool:
    name: str
    properties: Mapping[str, Mapping[str, Any]]
    """The JSON schema of each argument."""
    required: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One request. The whole conversation is in it, so nothing has to be remembered."""

    model: str
    text: str
    """The whole conversation, with the system prompt and the tools' results."""
    said: str
    """The part of the conversation that the model wrote."""
    results: int
    """How many tool calls were answered."""
    tools: tuple[Tool, ...] = ()
    stream: bool = False


@dataclass(frozen=True, slots=True)
class Say:
    """The model ends its turn with a text."""

    text: str


@dataclass(frozen=True, slots=True)
class Use:
    """The model calls a tool."""

    id: str
    name: str
    arguments: Mapping[str, Any]


Turn = Say | Use


@dataclass(frozen=True, slots=True)
class Frames:
    """A streamed answer: server-sent events, in three parts."""

    head: tuple[bytes, ...]
    body: tuple[bytes, ...]
    """The frames that extend the answer; they may be repeated without end."""
    tail: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class Tokens:
    """The token counts that are reported for a call."""

    read: int
    written: int = field(default=1)

    @property
    def total(self) -> int:
        """The sum of both counts."""
        return self.read + self.written


def tool(name: object, schema: object) -> Tool:
    """Read one tool's declaration; missing parts get defaults."""
    found = schema if isinstance(schema, dict) else {}
    properties = found.get("properties") or {}
    return Tool(
        str(name),
        {key: value for key, value in properties.items() if isinstance(value, dict)},
        tuple(map(str, found.get("required") or ())),
    )


def tokens(asked: Asked, turn: Turn) -> Tokens:
    """Count tokens roughly as vendors do."""
    written = turn.text if isinstance(turn, Say) else str(turn.arguments)
    return Tokens(
        len(asked.text) // CHARS_PER_TOKEN + 1, len(written) // CHARS_PER_TOKEN + 1
    )


def halves(text: str) -> tuple[str, str]:
    """Split a streamed text in two, so that a fault can strike in the middle."""
    middle = len(text) // 2
    return text[:middle], text[middle:]


_FORMAT: Final = "<<<<<<< SEARCH"
_GONE: Final = "# gone\n"
"""Aider neither removes a file nor empties it."""
_READ_NOW: Final = "I added these files to the chat:"


def reply(case: Case, asked: Asked) -> str | None:
    """Return all edits of the case as one text; None: not wanted, or made already."""
    blocks = [block for step in case.steps for block in _blocks(step)]
    if not blocks or _FORMAT not in asked.text:
        return None
    # Aider makes no edits of files that it has not read: it reads them and asks again.
    if asked.said.count(blocks[0]) > asked.text.count(_READ_NOW):
        return None
    return "\n\n".join([*blocks, case.closing])


def _blocks(step: Step) -> Iterator[str]:
    match step:
        case Write():
            yield _block(step.path, "", step.content)
        case Patch():
            yield from _of_diff(step.diff)
        case Run() | Insist():
            return


def _of_diff(diff: str) -> Iterator[str]:
    """Turn each hunk into a block; a removed file keeps one line."""
    for file in f"\n{diff}".split("\n--- a/")[1:]:
        header, *hunks = file.split("\n@@ ")
        path = header.partition("\n")[0]
        for hunk in hunks:
            lines = hunk.splitlines(keepends=True)[1:]
            yield _block(path, _side(lines, "-"), _side(lines, "+") or _GONE)


def _side(lines: list[str], sign: str) -> str:
    return "".join(line[1:] for line in lines if line[0] in (" ", sign))


def _block(path: str, old: str, new: str) -> str:
    edit = f"{_FORMAT}\n{_ended(old)}=======\n{_ended(new)}>>>>>>> REPLACE"
    return f"{path}\n```\n{edit}\n```"


def _ended(text: str) -> str:
    return text if not text or text.endswith("\n") else f"{text}\n"


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


_AGAIN: Final = Run(command="true")


def answer(case: Case, asked: Asked) -> Turn:
    """Return the model's next turn.

    The number of tool results in the conversation tells which step is next, so a CLI's
    extra calls (titles, retries) skip no step.
    """
    if not asked.tools:
        return Say(reply(case, asked) or case.closing)
    if isinstance(case.fault, Loop):
        return _use(call(_AGAIN, asked), asked) or Say(case.closing)
    steps = tuple(by_tools(case.steps))
    if asked.results < len(steps):
        step = steps[asked.results]
        return _use(call(step, asked), asked) or Say(
            f"I have no tool for this: {type(step).__name__.lower()}."
        )
    return Say(case.closing)


def _use(found: tuple[str, dict[str, object]] | None, asked: Asked) -> Use | None:
    if found is None:
        return None
    name, arguments = found
    return Use(f"call_{asked.results + 1}", name, arguments)
