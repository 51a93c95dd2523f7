"""Claude Code: one JSON object a line, each error with its HTTP status.

https://code.claude.com/docs/en/headless
"""

import json
import re
from collections.abc import Iterator, Mapping

from runner.engines import engine_events as events
from runner.engines.engine_events import Line, Said, at, counted, pick
from runner.engines.row import Call, Row, Vendor, provided

_SYNTHETIC = "<synthetic>"
"""The model name with which Claude Code marks its own messages."""


def _understood(line: Line) -> Iterator[Said]:
    match line:
        case {"type": "system", "subtype": "init"}:
            yield events.Session(id=pick(line, "session_id", ""))
        case {"type": "system", "subtype": "api_retry"}:
            said, status = pick(line, "error", ""), pick(line, "error_status", 0)
            # An error that never reached a server is called unknown.
            is_net = said == "unknown" and not status
            yield events.error("connection failed" if is_net else said, status or None)
        case {"type": "assistant"} if at(line, "message.model") != _SYNTHETIC:
            for block in pick(line, "message.content", events.EMPTY_LIST):
                if at(block, "type") == "tool_use":
                    yield events.tool(pick(block, "name", ""), at(block, "input"))
                elif at(block, "type") == "text":
                    yield from events.agent(pick(block, "text", ""))
        case {"type": "rate_limit_event", "rate_limit_info": {"status": "rejected"}}:
            until = pick(line, "rate_limit_info.resetsAt", 0.0)
            yield events.RateLimit(until=int(until) or None)
        case {"type": "result"}:
            yield from _ended(line)
        case _:
            return


def _ended(line: Line) -> Iterator[Said]:
    yield events.Session(id=pick(line, "session_id", ""))
    for model, used in pick(line, "modelUsage", events.EMPTY).items():
        yield counted(
            used,
            model,
            read="inputTokens cacheCreationInputTokens",
            cached="cacheReadInputTokens",
            written="outputTokens",
        )
    if cost := pick(line, "total_cost_usd", 0.0):
        yield events.Cost(usd=cost)
    for denial in pick(line, "permission_denials", events.EMPTY_LIST):
        yield events.tool(pick(denial, "tool_name", ""), refused=True)
    subtype, text = at(line, "subtype"), pick(line, "result", "")
    ok = not pick(line, "is_error", False) and subtype == "success"  # noqa: FBT003
    if not ok:
        reasons = map(str, pick(line, "errors", events.EMPTY_LIST))
        said = text or "; ".join(reasons) or pick(line, "subtype", "")
        kind = f"{subtype}: " if subtype != "success" else ""
        yield from events.errors(kind + said, pick(line, "api_error_status", 0) or None)
    yield events.Result(ok=ok, text=text if ok else "")


def _argv(call: Call) -> tuple[str, ...]:
    allowed: tuple[str, ...] = ("--dangerously-skip-permissions",)
    if tools := ",".join(call.spec.tools):  # else the box is the limit
        allowed = ("--permission-mode", "dontAsk", f"--allowedTools={tools}")
    model = call.model
    return (
        *("claude", "-p", "--output-format", "stream-json", "--verbose"),
        *(("--input-format", "stream-json") if call.steered else ()),
        *allowed,
        *(("--model", model) if model else ()),
        *call.spec.args,
    )


def _says(text: str) -> bytes:
    """Word a message of the user, which is read between two steps of the model."""
    message = {"role": "user", "content": text}
    return json.dumps({"type": "user", "message": message}).encode() + b"\n"


def _sets(call: Call) -> Mapping[str, str]:
    model = call.model
    region = re.search(r"\.([a-z0-9-]+)\.amazonaws\.", call.spec.url)
    others = () if not model or model in ROW.aliases else _LARGE
    return {
        **dict.fromkeys(others, model),
        # chooses among the names that Bedrock has for its own models
        **({"AWS_REGION": region[1]} if region else {}),
        "CLAUDE_CONFIG_DIR": str(call.home / ".claude"),
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "CLAUDE_CODE_MAX_RETRIES": "2",
        "API_TIMEOUT_MS": "300000",
        "IS_SANDBOX": "1",  # else it refuses to skip permissions as root
    }


_LARGE = (
    "ANTHROPIC_DEFAULT_OPUS_MODEL",
    "ANTHROPIC_DEFAULT_SONNET_MODEL",
    "ANTHROPIC_DEFAULT_FABLE_MODEL",
)
"""What its own agents ask for by short names: the session has one large model."""

_BEDROCK = Vendor(
    "bedrock",
    "AWS_BEARER_TOKEN_BEDROCK",
    "ANTHROPIC_BEDROCK_BASE_URL",
    sets={"CLAUDE_CODE_USE_BEDROCK": "1"},
)
_VERTEX = Vendor(
    "vertex",
    "ANTHROPIC_AUTH_TOKEN",
    "ANTHROPIC_VERTEX_BASE_URL",
    sets={
        "CLAUDE_CODE_USE_VERTEX": "1",
        "CLAUDE_CODE_SKIP_VERTEX_AUTH": "1",
        "ANTHROPIC_VERTEX_PROJECT_ID": "brat",  # the key proxy knows the real one
        "CLOUD_ML_REGION": "global",
    },
)
_FOUNDRY = Vendor(
    "anthropic",
    "ANTHROPIC_FOUNDRY_API_KEY",
    "ANTHROPIC_FOUNDRY_BASE_URL",
    sets={"CLAUDE_CODE_USE_FOUNDRY": "1"},
)

ROW = Row(
    name="claude-code",
    argv=_argv,
    read=events.of_lines(_understood),
    says=_says,
    vendors=(
        Vendor("anthropic", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"),
        provided("bedrock", _BEDROCK),
        provided("vertex", _VERTEX),
        provided("foundry", _FOUNDRY),
    ),
    also=("CLAUDE_CODE_OAUTH_TOKEN",),
    sets=_sets,
    aliases={
        **{name: f"*claude-*{name}*" for name in ("sonnet", "opus", "haiku")},
        **dict.fromkeys(("default", "best", "opusplan"), "*claude-*"),
    },
    helpers=("claude-*haiku*", "*anthropic.claude-*haiku*"),
    tools="Bash(git *), Edit, Write",
    install="npm install -g @anthropic-ai/claude-code",
    npm=("@anthropic-ai/claude-code", "@anthropic-ai/claude-code-*/claude"),
    sample_model="claude-sonnet-4-5",
)
