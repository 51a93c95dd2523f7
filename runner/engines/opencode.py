"""OpenCode: one JSON object a line, the best typed errors of all, no closing line.

https://opencode.ai/docs/cli/#run
"""

import json
import re
from collections.abc import Iterator, Mapping

from runner.engines import engine_events as events
from runner.engines.engine_events import Line, Said, at, counted, pick
from runner.engines.row import Call, Row, Vendor, provided
from runner.proxy.proxy_protocol import Dialect

_RETRY = 'message="stream error" '
_CAUSE = re.compile(r'\berror\.error="([^"]*)')
_REFUSED = re.compile("rejected permission|unavailable tool")


def _understood(line: Line) -> Iterator[Said]:
    match line:
        case {"type": "step_start"}:
            yield events.Session(id=pick(line, "sessionID", ""))
        case {"type": "text"}:
            yield from events.agent(pick(line, "part.text", ""))
        case {"type": "tool_use", "part": {}}:
            refused = _REFUSED.search(pick(line, "part.state.error", "")) is not None
            given = at(line, "part.state.input")
            yield events.tool(pick(line, "part.tool", ""), given, refused=refused)
        case {"type": "step_finish", "part": {} as part}:
            yield counted(
                at(part, "tokens"),
                read="input cache.write",
                cached="cache.read",
                written="output reasoning",
            )
            if cost := pick(part, "cost", 0.0):
                yield events.Cost(usd=cost)
            if at(part, "reason") == "stop":
                yield events.Result(ok=True)
        case {"type": "error", "error": {} as found}:
            yield events.Session(id=pick(line, "sessionID", ""))
            said = pick(found, "data.message", "") or pick(found, "name", "")
            yield events.error(said, pick(found, "data.statusCode", 0) or None)
            wait = pick(found, "data.responseHeaders.retry-after", "")
            if wait.isascii() and wait.isdigit():
                yield events.RateLimit(wait_s=float(wait[:9]))
            yield events.Result(ok=False)
        case _:
            return


def _prose(text: str) -> Iterator[Said]:
    """Understand a line of its log, the only place that mentions its retries."""
    told = text.partition(_RETRY)[2] if "level=ERROR" in text[:99] else ""
    found = _CAUSE.search(told)
    if found:
        yield events.error(found[1])
    else:
        yield from events.program(text)


def _argv(call: Call) -> tuple[str, ...]:
    name = f"{_PROVIDERS[call.vendor.dialect]}/{call.model}"
    return (
        *("opencode", "run", "--format", "json", "--title", "brat"),
        *("--print-logs", "--log-level", "ERROR"),
        *(("-m", name) if call.spec.model else ()),
        *call.spec.args,
    )


def _sets(call: Call) -> Mapping[str, str]:
    return {
        "OPENCODE_CONFIG_CONTENT": json.dumps(_configuration(call)),
        "OPENCODE_DISABLE_PROJECT_CONFIG": "1",  # the repository's may run plugins
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
        "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
        "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",  # logins to vendors, which it has not
        "OPENCODE_EXPERIMENTAL_DISABLE_FILEWATCHER": "1",
    }


def _files(_call: Call) -> Mapping[str, str]:
    """Mark its plugin library as installed: else it is fetched from npm each time."""
    lock = {"packages": {"": {"dependencies": {"@opencode-ai/plugin": "*"}}}}
    return {
        ".config/opencode/package-lock.json": json.dumps(lock),
        ".config/opencode/node_modules/.keep": "",
    }


def _configuration(call: Call) -> Mapping[str, object]:
    # Without a list of tools the box is the limit, not the question.
    allowed = dict.fromkeys(call.spec.tools or ("*",), "allow")
    common: dict[str, object] = {
        "permission": {"*": "deny"} | allowed,
        "autoupdate": False,
        "share": "disabled",
        "snapshot": False,  # a second repository of the checkout, to undo in
    }
    vendor = call.vendor
    if not call.endpoint:
        return common
    name = _PROVIDERS[vendor.dialect]
    options = {"baseURL": call.server, "apiKey": f"{{env:{vendor.key}}}"}
    provider: dict[str, object] = {"options": options}
    if vendor.dialect == "chat":
        provider["npm"] = "@ai-sdk/openai-compatible"
        provider["models"] = {call.model: {"tool_call": True}}
    model = call.model
    small = {"small_model": f"{name}/{model}"} if model else {}
    found = {"provider": {name: provider}, "enabled_providers": [name]}
    return {**common, **small, **found}


_PROVIDERS = {"anthropic": "anthropic", "responses": "openai", "chat": "compatible"}


def _vendor(dialect: Dialect, key: str, models: str) -> Vendor:
    where = "OPENCODE_CONFIG_CONTENT"
    return Vendor(dialect, key, writes=where, path="/v1", models=(models,))


ROW = Row(
    name="opencode",
    argv=_argv,
    read=events.of_lines(_understood, _prose),
    vendors=(
        _vendor("anthropic", "ANTHROPIC_API_KEY", "anthropic/"),
        _vendor("responses", "OPENAI_API_KEY", "openai/"),
        _vendor("chat", "OPENAI_API_KEY", "compatible/"),
        provided("openrouter", _vendor("chat", "OPENAI_API_KEY", "")),
    ),
    sets=_sets,
    files=_files,
    tools="bash, edit, read",
    install="npm install -g opencode-ai",
    npm=(
        "opencode-linux-x64-baseline",
        "opencode-linux-x64-baseline/bin/opencode",
    ),
    sample_model="openai/gpt-4o",
)
