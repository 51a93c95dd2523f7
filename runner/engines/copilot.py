"""GitHub Copilot CLI: one JSON object a line; the form is not documented.

https://docs.github.com/en/copilot/concepts/agents/about-copilot-cli
"""

import re
from collections.abc import Iterator, Mapping

from runner.engines import engine_events as events
from runner.engines.engine_events import Line, Said, at, counted, pick
from runner.engines.row import Call, Row, Vendor

_USAGE = "usage.json"
_UNKNOWN = re.compile(r"Tool '([^']{1,100})' does not exist")


def _understood(line: Line) -> Iterator[Said]:
    status = pick(line, "data.statusCode", 0) or None
    match line:
        case {"type": "assistant.message"}:
            yield from events.agent(pick(line, "data.content", ""))
        case {"type": "tool.execution_start"}:
            name = pick(line, "data.toolName", "")
            yield events.tool(name, at(line, "data.arguments"))
        case {"type": "tool.execution_complete"}:
            unknown = _UNKNOWN.match(pick(line, "data.error.message", ""))
            if unknown or at(line, "data.error.code") == "denied":
                name = pick(line, "data.toolName", "") or "tool"
                yield events.tool(unknown[1] if unknown else name, refused=True)
        case {"type": "model.call_failure"}:
            is_down = at(line, "data.failureKind") == "transport"
            down = "connection: " if is_down else ""
            yield events.error(down + pick(line, "data.errorMessage", ""), status)
        case {"type": "session.error"}:
            kind = pick(line, "data.errorType", "")
            said = pick(line, "data.message", "")
            yield from events.errors(f"{kind}: {said}", status)
        case {"type": "result"}:
            yield events.Session(id=pick(line, "sessionId", ""))
            yield events.Result(ok=line.get("exitCode") == 0)
        case _:
            return


def recount(text: str) -> Iterator[Said]:
    """Understand the file of `--usage-output-file`."""
    metrics = pick(events.parsed(text), "modelMetrics", events.EMPTY)
    for model, metric in metrics.items():
        yield counted(
            at(metric, "usage"),
            model,
            read="inputTokens -cacheReadTokens",
            cached="cacheReadTokens",
            written="outputTokens",
        )


def _argv(call: Call) -> tuple[str, ...]:
    tools = call.spec.tools
    if call.vendor.dialect != "copilot" and not call.spec.model:
        raise ValueError(
            'The engine copilot needs a model, such as model = "openai/gpt-5", unless '
            "it uses GitHub's models."
        )
    model = ("--model", call.model) if call.spec.model else ()
    return (
        "copilot",
        *("--allow-all", "--no-ask-user"),  # the box is the limit, not the question
        *((f"--available-tools={','.join(tools)}",) if tools else ()),
        *("--output-format", "json", "--no-color"),
        *("--usage-output-file", str(call.home / _USAGE)),
        *model,
        *call.spec.args,
    )


def _sets(call: Call) -> Mapping[str, str]:
    common = {
        "COPILOT_HOME": str(call.home / ".copilot"),
        "COPILOT_CACHE_HOME": str(call.home / ".cache"),
        "COPILOT_AUTO_UPDATE": "false",
    }
    vendor = call.vendor
    if vendor.dialect == "copilot":
        return common
    return {
        **common,
        "COPILOT_OFFLINE": "true",
        "COPILOT_MODEL": call.model,
        _URL: call.server,
        "COPILOT_PROVIDER_API_KEY": call.key.value if call.key else "",
        "COPILOT_PROVIDER_TYPE": (
            "anthropic" if vendor.dialect == "anthropic" else "openai"
        ),
    }


_URL = "COPILOT_PROVIDER_BASE_URL"

ROW = Row(
    name="copilot",
    argv=_argv,
    read=events.of_lines(_understood),
    vendors=(
        Vendor("copilot", "COPILOT_GITHUB_TOKEN"),
        Vendor("chat", "OPENAI_API_KEY", _URL, path="/v1", models=("openai/",)),
        Vendor("anthropic", "ANTHROPIC_API_KEY", _URL, models=("anthropic/",)),
    ),
    sets=_sets,
    leaves=_USAGE,
    recount=recount,
    tools="bash, view, apply_patch",
    install="npm install -g @github/copilot",
    npm=("@github/copilot", "@github/copilot-*/copilot"),
    sample_model="openai/gpt-4o",
)
