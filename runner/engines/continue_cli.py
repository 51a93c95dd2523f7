"""Continue (`cn`): one JSON object at the end, on standard error when it failed.

https://docs.continue.dev/cli/overview
"""

import json
from collections.abc import Iterator, Mapping

from runner.box.supervisor import Stream
from runner.engines import engine_events as events
from runner.engines.engine_events import Said, at, counted, pick
from runner.engines.row import Call, Row, Vendor
from runner.proxy.proxy_protocol import Dialect

_CONFIG, _FOLDER, _SESSION = ".continue/brat.yaml", ".continue", "brat"


def read(stream: Stream, text: str) -> Iterator[Said]:
    """Understand one line; JSON without a status is the model's own."""
    line = events.decoded(text, "status")
    match line:
        case None if stream == "out" and text.strip():
            yield from events.agent(text)
            yield events.Result(ok=True, text=text)
        case None:
            yield from events.program(text)
        case {"status": "success"}:
            said = pick(line, "response", "")
            yield from events.agent(said)
            yield events.Result(ok=bool(said))
        case {"status": "error"}:
            yield from events.errors(pick(line, "message", ""))
            yield events.Result(ok=False)
        case _:
            yield from events.agent(text)


def recount(text: str) -> Iterator[Said]:
    left = events.parsed(text)
    if left is None:
        return
    if name := pick(left, "sessionId", ""):
        yield events.Session(id=name)
    for turn in pick(left, "history", events.EMPTY_LIST):
        for state in pick(turn, "toolCallStates", events.EMPTY_LIST):
            # Canceled by its permissions, for nobody else is there.
            if at(state, "status") == "canceled":
                asked = at(state, "toolCall.function")
                given = pick(asked, "arguments", "")
                yield events.tool(pick(asked, "name", ""), given, refused=True)
    yield counted(left, read="usage.promptTokens", written="usage.completionTokens")
    if cost := pick(left, "usage.totalCost", 0.0):
        yield events.Cost(usd=cost)


def _argv(call: Call) -> tuple[str, ...]:
    if not call.spec.model:
        needs = 'The engine continue needs a model, such as model = "openai/gpt-5".'
        raise ValueError(needs)
    config = str(call.home / _CONFIG)
    # These tools, in spite of the file that forbids all; --auto allows all.
    tools = (word for each in call.spec.tools for word in ("--allow", each))
    options = (*(tuple(tools) or ("--auto",)), "--format", "json")
    # Whatever follows -p is the prompt.
    return ("cn", "--config", config, *options, *call.spec.args, "-p")


def _sets(call: Call) -> Mapping[str, str]:
    return {
        "CONTINUE_GLOBAL_DIR": str(call.home / _FOLDER),
        "CONTINUE_CLI_TEST_SESSION_ID": _SESSION,  # so that we find its file
    }


def _files(call: Call) -> Mapping[str, str]:
    model = {
        "name": "brat",
        "provider": _PROVIDERS[call.vendor.dialect],
        "model": call.model,
        "apiKey": call.key.value if call.key else "",
        "apiBase": call.server,
        "roles": ["chat", "edit", "apply"],
        "capabilities": ["tool_use"],
    }
    config = {"name": "brat", "version": "1.0.0", "schema": "v1", "models": [model]}
    files = {_CONFIG: json.dumps(config)}  # JSON is YAML
    if call.spec.tools:
        files[f"{_FOLDER}/permissions.yaml"] = json.dumps({"exclude": ["*"]})
    return files


_PROVIDERS = {"chat": "openai", "anthropic": "anthropic", "gemini": "gemini"}


def _vendor(dialect: Dialect, key: str, path: str, models: str) -> Vendor:
    return Vendor(dialect, key, writes="--config", path=path, models=(models,))


ROW = Row(
    name="continue",
    argv=_argv,
    read=read,
    vendors=(
        _vendor("chat", "OPENAI_API_KEY", "/v1", "openai/"),
        _vendor("anthropic", "ANTHROPIC_API_KEY", "/v1", "anthropic/"),
        Vendor(
            "gemini",
            "GEMINI_API_KEY",
            "GOOGLE_GEMINI_BASE_URL",  # its file's apiBase is not heard
            models=("gemini/",),
        ),
    ),
    sets=_sets,
    files=_files,
    leaves=f"{_FOLDER}/sessions/{_SESSION}.json",
    recount=recount,
    is_quiet=True,
    tools="Bash(git *), Edit, Write",
    install="npm install -g @continuedev/cli",
    npm=("@continuedev/cli", ".bin/cn"),
    sample_model="openai/gpt-4o",
)
