"""Codex: one JSON object a line; errors are prose, without a status of their own.

https://developers.openai.com/codex/noninteractive
"""

import json
from collections.abc import Iterator
from itertools import chain

from runner.engines import engine_events as events
from runner.engines.engine_events import Line, Said, at, counted, pick
from runner.engines.row import Call, Row, Vendor, provided


def _understood(line: Line) -> Iterator[Said]:
    match line:
        case {"type": "thread.started"}:
            yield events.Session(id=pick(line, "thread_id", ""))
        case {"type": "item.completed", "item": {"type": "agent_message"}}:
            yield from events.agent(pick(line, "item.text", ""))
        case {"type": "item.started" | "item.completed", "item": {"type": "error"}}:
            yield from events.program(pick(line, "item.message", ""))  # only a warning
        case {"item": {"type": "agent_message" | "reasoning"}}:
            return
        case {"type": "item.started", "item": {}}:
            yield events.tool(pick(line, "item.type", ""), at(line, "item.command"))
        case {"type": "error"}:
            yield events.error(pick(line, "message", ""))
        case {"type": "turn.failed"}:
            yield from events.errors(pick(line, "error.message", ""))
            yield events.Result(ok=False)
        case {"type": "turn.completed"}:
            if isinstance(used := line.get("usage"), dict):
                yield counted(
                    used,
                    read="input_tokens -cached_input_tokens",
                    cached="cached_input_tokens",
                    written="output_tokens",
                )
            yield events.Result(ok=True)
        case _:
            return


def _argv(call: Call) -> tuple[str, ...]:
    ours = "model_providers.brat"
    settings = {
        "analytics.enabled": False,
        "web_search": "disabled",  # it would run at the vendor
        "model_provider": "brat",  # of its own it would retry more
        f"{ours}.name": "brat",
        f"{ours}.base_url": call.server,
        f"{ours}.env_key": call.vendor.key,
        f"{ours}.wire_api": "responses",
        f"{ours}.request_max_retries": 1,
        f"{ours}.stream_max_retries": 1,
    }
    words = (("-c", f"{key}={json.dumps(value)}") for key, value in settings.items())
    model = ("-m", call.model) if call.model else ()
    return (
        *("codex", "exec", "--json", "--ignore-user-config", "--skip-git-repo-check"),
        "--dangerously-bypass-approvals-and-sandbox",  # the box is the limit
        *("--disable", "plugins", "--disable", "apps"),
        *("--disable", "unbounded_connection_retries"),
        *chain(*words),  # JSON of these is TOML
        *model,
        *call.spec.args,
        "-",
    )


_VENDOR = Vendor("responses", "OPENAI_API_KEY", writes="-c", path="/v1")
ROW = Row(
    name="codex",
    argv=_argv,
    read=events.of_lines(_understood),
    vendors=(_VENDOR, provided("chatgpt", _VENDOR)),
    sets=lambda call: {"CODEX_HOME": str(call.home / ".codex")},
    files=lambda _call: {".codex/config.toml": ""},  # it wants the folder
    install="npm install -g @openai/codex",
    npm=("@openai/codex", "@openai/codex-*/vendor/*/bin/codex"),
    sample_model="gpt-5",
)
