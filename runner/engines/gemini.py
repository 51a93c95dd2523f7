"""Gemini CLI: one JSON object a line; retries and reasons are prose on standard error.

https://google-gemini.github.io/gemini-cli/docs/cli/headless.html
"""

import json
import re
from collections.abc import Iterator, Mapping

from msgspec import Struct

from runner.box.supervisor import Stream
from runner.engines.engine_events import (
    Error,
    Result,
    Said,
    Session,
    Text,
    Usage,
    decoded,
    error,
    kind_of,
    program,
    tool,
)
from runner.engines.row import Abilities, Call, Row, Vendor

_RETRY = re.compile(r"Attempt [0-9]+ failed(?: with status ([0-9]{3})\b)?")


class _Tokens(Struct, frozen=True):
    input_tokens: int = 0
    output_tokens: int = 0
    cached: int = 0


class _Stats(Struct, frozen=True):
    models: dict[str, _Tokens] = {}


class _Failure(Struct, frozen=True):
    type: str = ""
    message: str = ""


class _Line(Struct, frozen=True):
    type: str
    session_id: str = ""
    role: str = ""
    content: str | None = None
    tool_name: str = ""
    tool_id: str = ""
    parameters: object = None
    severity: str = ""
    message: str | None = None
    status: str = ""
    error: _Failure | str | None = None
    stats: _Stats = _Stats()


def read(stream: Stream, text: str) -> Iterator[Said]:
    """Understand one line."""
    line = decoded(text, _Line) if stream == "out" else None
    match line:
        case None:
            yield from _prose(text)
        case _Line(type="init"):
            yield Session(id=line.session_id)
        case _Line(type="message", role="assistant"):
            yield from _piece(line.content)
        case _Line(type="tool_use"):
            yield tool(line.tool_name, line.parameters)
        case _Line(type="tool_result", error=_Failure("tool_not_registered")):
            yield tool(line.tool_id.partition("__")[0], refused=True)
        case _Line(type="error", severity="error"):
            yield error(line.message or "")
        case _Line(type="result"):
            yield from _ended(line)
        case _:
            return


def _piece(text: str | None) -> Iterator[Said]:
    if text:
        yield Text(text=text, goes_on=True)


def _prose(text: str) -> Iterator[Said]:
    found = _RETRY.match(text)
    if found is None:
        yield from program(text)
        return
    status = int(found[1]) if found[1] else None
    yield Error(kind=kind_of(status, text), message=text[:200], status=status)


def _ended(line: _Line) -> Iterator[Said]:
    for model, used in line.stats.models.items():
        if used.input_tokens or used.output_tokens:
            yield Usage(
                model=model,
                input_tokens=max(0, used.input_tokens - used.cached),
                cached_tokens=used.cached,
                output_tokens=used.output_tokens,
            )
    if isinstance(line.error, _Failure):
        yield error(line.error.message)
    yield Result(ok=line.status == "success")


def _argv(call: Call) -> tuple[str, ...]:
    model = ("-m", call.spec.model) if call.spec.model else ()
    # --yolo: the box is the limit, not the question.
    return ("gemini", "-o", "stream-json", "--yolo", *model, *call.spec.args)


def _sets(call: Call) -> Mapping[str, str]:
    return {
        "GEMINI_CLI_HOME": str(call.home),
        "GEMINI_CLI_NO_RELAUNCH": "true",  # else it ignores SIGTERM
    }


def _files(call: Call) -> Mapping[str, str]:
    settings: dict[str, object] = {
        "security": {
            "auth": {"selectedType": "gemini-api-key"},
            "folderTrust": {"enabled": False},  # else --yolo is silently dropped
        },
        "general": {"maxAttempts": 2, "enableAutoUpdate": False},
        "privacy": {"usageStatisticsEnabled": False},
    }
    if call.spec.tools:
        settings["tools"] = {"core": call.spec.tools}
    return {".gemini/settings.json": json.dumps(settings)}


ROW = Row(
    name="gemini",
    argv=_argv,
    read=read,
    vendors=(Vendor("gemini", "GEMINI_API_KEY", "GOOGLE_GEMINI_BASE_URL"),),
    sets=_sets,
    files=_files,
    aliases=dict.fromkeys(("auto", "pro", "flash", "flash-lite"), "gemini-*"),
    helpers=("gemini-*flash*",),
    can=Abilities(
        resume="--resume ID",
        usage="output",
        tools="run_shell_command(git), write_file",
        limits="Needs an API key: a Google login is not used. Its exit status may be "
        "an HTTP status less 256.",
    ),
    install="npm install -g @google/gemini-cli",
    sample_model="gemini-2.5-flash",
)
