"""Gemini CLI: one JSON object a line; retries and reasons are prose on standard error.

https://google-gemini.github.io/gemini-cli/docs/cli/headless.html
"""

import json
import re
from collections.abc import Iterator, Mapping

from runner.engines import engine_events as events
from runner.engines.engine_events import Line, Said, at, counted, pick
from runner.engines.row import Call, Row, Vendor, provided

_RETRY = re.compile(r"Attempt [0-9]+ failed(?: with status ([0-9]{3})\b)?")


def _understood(line: Line) -> Iterator[Said]:
    match line:
        case {"type": "init"}:
            yield events.Session(id=pick(line, "session_id", ""))
        case {"type": "message", "role": "assistant"}:
            if piece := pick(line, "content", ""):
                yield events.Text(text=piece, goes_on=True)
        case {"type": "tool_use"}:
            yield events.tool(pick(line, "tool_name", ""), at(line, "parameters"))
        case {"type": "tool_result", "error": {"type": "tool_not_registered"}}:
            name = pick(line, "tool_id", "").partition("__")[0]
            yield events.tool(name, refused=True)
        case {"type": "error", "severity": "error"}:
            yield events.error(pick(line, "message", ""))
        case {"type": "result"}:
            yield from _ended(line)
        case _:
            return


def _prose(text: str) -> Iterator[Said]:
    found = _RETRY.match(text)
    if found is None:
        yield from events.program(text)
        return
    yield events.error(text[:200], int(found[1]) if found[1] else None)


def _ended(line: Line) -> Iterator[Said]:
    for model, used in pick(line, "stats.models", events.EMPTY).items():
        found = counted(
            used,
            model,
            read="input_tokens -cached",
            cached="cached",
            written="output_tokens",
        )
        if found != events.Usage(model=found.model):
            yield found
    if isinstance(line.get("error"), dict):
        yield events.error(pick(line, "error.message", ""))
    yield events.Result(ok=line.get("status") == "success")


def _argv(call: Call) -> tuple[str, ...]:
    model = ("-m", call.model) if call.model else ()
    # --yolo: the box is the limit, not the question.
    return ("gemini", "-o", "stream-json", "--yolo", *model, *call.spec.args)


def _files(call: Call) -> Mapping[str, str]:
    signs_in = _SIGNS_IN.get(call.vendor.dialect, "gemini-api-key")
    settings: dict[str, object] = {
        "security": {
            "auth": {"selectedType": signs_in},
            "folderTrust": {"enabled": False},  # else --yolo is silently dropped
        },
        "general": {"maxAttempts": 2, "enableAutoUpdate": False},
        "privacy": {"usageStatisticsEnabled": False},
    }
    if call.spec.tools:
        settings["tools"] = {"core": call.spec.tools}
    return {".gemini/settings.json": json.dumps(settings)}


_SIGNS_IN: Mapping[str, str] = {
    "gemini-vertex": "vertex-ai",
    "code-assist": "oauth-personal",
}
_VERTEX = Vendor(
    "gemini-vertex",
    "GOOGLE_API_KEY",  # so that it signs in to nothing
    "GOOGLE_VERTEX_BASE_URL",
    sets={"GOOGLE_GENAI_USE_VERTEXAI": "true"},
)
_LOGIN = Vendor(
    "code-assist",
    "GOOGLE_CLOUD_ACCESS_TOKEN",
    "CODE_ASSIST_ENDPOINT",
    sets={"GOOGLE_GENAI_USE_GCA": "true"},
)

ROW = Row(
    name="gemini",
    argv=_argv,
    read=events.of_lines(_understood, _prose),
    vendors=(
        Vendor("gemini", "GEMINI_API_KEY", "GOOGLE_GEMINI_BASE_URL"),
        provided("vertex", _VERTEX),
        provided("code-assist", _LOGIN),
    ),
    sets=lambda call: {
        "GEMINI_CLI_HOME": str(call.home),
        "GEMINI_CLI_NO_RELAUNCH": "true",  # else it ignores SIGTERM
    },
    files=_files,
    aliases=dict.fromkeys(("auto", "pro", "flash", "flash-lite"), "gemini-*"),
    helpers=("gemini-*flash*",),
    tools="run_shell_command(git), write_file",
    install="npm install -g @google/gemini-cli",
    npm=("@google/gemini-cli", ".bin/gemini"),
    sample_model="gemini-2.5-flash",
)
