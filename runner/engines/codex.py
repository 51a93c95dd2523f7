"""Codex: one JSON object a line; errors are prose, without a status of their own.

https://developers.openai.com/codex/noninteractive
"""

import json
from collections.abc import Iterator, Mapping

from msgspec import Struct

from runner.box.supervisor import Stream
from runner.engines.engine_events import (
    Result,
    Said,
    Session,
    Usage,
    agent,
    decoded,
    error,
    errors,
    program,
    tool,
)
from runner.engines.row import Abilities, Call, Row, Vendor, server, vendor_of


class _Item(Struct, frozen=True):
    type: str = ""
    text: str | None = None
    command: str | None = None
    message: str | None = None


class _Tokens(Struct, frozen=True):
    input_tokens: int = 0
    cached_input_tokens: int = 0
    output_tokens: int = 0


class _Failure(Struct, frozen=True):
    message: str = ""


class _Line(Struct, frozen=True):
    type: str
    thread_id: str = ""
    item: _Item | None = None
    usage: _Tokens | None = None
    message: str | None = None
    error: _Failure | None = None


def read(stream: Stream, text: str) -> Iterator[Said]:
    """Understand one line."""
    line = decoded(text, _Line) if stream == "out" else None
    match line:
        case None:
            yield from program(text)
        case _Line(type="thread.started"):
            yield Session(id=line.thread_id)
        case _Line(type="item.started" | "item.completed", item=_Item() as item):
            yield from _item(item, begins=line.type == "item.started")
        case _Line(type="error"):
            yield error(line.message or "")
        case _Line(type="turn.failed"):
            yield from errors(line.error.message if line.error else "")
            yield Result(ok=False)
        case _Line(type="turn.completed"):
            yield from _used(line.usage)
            yield Result(ok=True)
        case _:
            return


def _item(item: _Item, *, begins: bool) -> Iterator[Said]:
    match item.type:
        case "agent_message" if not begins:
            yield from agent(item.text)
        case "error":  # only a warning
            yield from program(item.message or "")
        case "agent_message" | "reasoning":
            return
        case kind:
            if begins:
                yield tool(kind, item.command)


def _used(tokens: _Tokens | None) -> Iterator[Said]:
    if tokens:
        yield Usage(
            input_tokens=max(0, tokens.input_tokens - tokens.cached_input_tokens),
            cached_tokens=tokens.cached_input_tokens,
            output_tokens=tokens.output_tokens,
        )


def _argv(call: Call) -> tuple[str, ...]:
    settings = (
        word
        for key, value in _provider(call).items()
        for word in ("-c", f"{key}={json.dumps(value)}")  # JSON of these is TOML
    )
    model = ("-m", call.spec.model) if call.spec.model else ()
    return (
        *("codex", "exec", "--json", "--ignore-user-config", "--skip-git-repo-check"),
        "--dangerously-bypass-approvals-and-sandbox",  # the box is the limit
        *("--disable", "plugins", "--disable", "apps"),
        *("--disable", "unbounded_connection_retries"),
        *settings,
        *model,
        *call.spec.args,
        "-",
    )


def _provider(call: Call) -> Mapping[str, str | int | bool]:
    """Return its settings with our own provider: only such ones can retry less."""
    vendor = vendor_of(ROW, call) or _VENDOR
    ours = "model_providers.brat"
    return {
        "analytics.enabled": False,
        "web_search": "disabled",  # it would run at the vendor
        "model_provider": "brat",
        f"{ours}.name": "brat",
        f"{ours}.base_url": server(vendor, call),
        f"{ours}.env_key": vendor.key,
        f"{ours}.wire_api": "responses",
        f"{ours}.request_max_retries": 1,
        f"{ours}.stream_max_retries": 1,
    }


def _sets(call: Call) -> Mapping[str, str]:
    return {"CODEX_HOME": str(call.home / ".codex")}


def _files(_call: Call) -> Mapping[str, str]:
    return {".codex/config.toml": ""}  # it wants the folder


_VENDOR = Vendor("responses", "OPENAI_API_KEY", writes="-c", path="/v1")

ROW = Row(
    name="codex",
    argv=_argv,
    read=read,
    vendors=(_VENDOR,),
    sets=_sets,
    files=_files,
    can=Abilities(
        resume="resume ID",
        usage="output",
        limits="Needs an API key: a ChatGPT login is not used. It sleeps through a "
        "server that never answers.",
    ),
    install="npm install -g @openai/codex",
    sample_model="gpt-5",
)
