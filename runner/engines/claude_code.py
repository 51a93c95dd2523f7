"""Claude Code: one JSON object a line, each error with its HTTP status.

https://code.claude.com/docs/en/headless
"""

import json
from collections.abc import Iterator, Mapping

from msgspec import Struct

from runner.box.supervisor import Stream
from runner.engines.engine_events import (
    Cost,
    RateLimit,
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
from runner.engines.row import Abilities, Call, Row, Vendor

_SYNTHETIC = "<synthetic>"
"""The model name with which Claude Code marks its own messages."""


class _Block(Struct, frozen=True):
    type: str = ""
    text: str | None = None
    name: str = ""
    input: object = None


class _Message(Struct, frozen=True):
    content: str | list[_Block] = ""
    model: str | None = None


class _Limit(Struct, frozen=True):
    status: str = ""
    resetsAt: float | None = None  # noqa: N815  theirs


class _Tokens(Struct, frozen=True):
    inputTokens: int = 0  # noqa: N815  theirs
    outputTokens: int = 0  # noqa: N815  theirs
    cacheReadInputTokens: int = 0  # noqa: N815  theirs
    cacheCreationInputTokens: int = 0  # noqa: N815  theirs


class _Denial(Struct, frozen=True):
    tool_name: str = ""


class _Line(Struct, frozen=True):
    type: str
    subtype: str | None = None
    session_id: str = ""
    message: _Message | str | None = None
    error: str | None = None
    error_status: int | None = None
    rate_limit_info: _Limit | None = None
    is_error: bool = False
    api_error_status: int | None = None
    result: str | None = None
    errors: list[str] | None = None
    total_cost_usd: float | None = None
    modelUsage: dict[str, _Tokens] | None = None  # noqa: N815  theirs
    permission_denials: list[_Denial] | None = None


def read(stream: Stream, text: str) -> Iterator[Said]:
    """Understand one line."""
    line = decoded(text, _Line) if stream == "out" else None
    match line:
        case None:
            yield from program(text)
        case _Line(type="system", subtype="init"):
            yield Session(id=line.session_id)
        case _Line(type="system", subtype="api_retry"):
            # An error that never reached a server is called unknown.
            is_net = line.error == "unknown" and line.error_status is None
            said = "connection failed" if is_net else line.error or ""
            yield error(said, line.error_status)
        case _Line(type="assistant", message=_Message() as message):
            yield from _spoken(message)
        case _Line(type="rate_limit_event", rate_limit_info=_Limit() as limit):
            if limit.status == "rejected":
                until = None if limit.resetsAt is None else int(limit.resetsAt)
                yield RateLimit(until=until)
        case _Line(type="result"):
            yield from _ended(line)
        case _:
            return


def _spoken(message: _Message) -> Iterator[Said]:
    if message.model == _SYNTHETIC or isinstance(message.content, str):
        return
    for block in message.content:
        if block.type == "tool_use":
            yield tool(block.name, block.input)
        elif block.type == "text":
            yield from agent(block.text)


def _ended(line: _Line) -> Iterator[Said]:
    yield Session(id=line.session_id)
    for model, used in (line.modelUsage or {}).items():
        yield Usage(
            model=model,
            input_tokens=used.inputTokens + used.cacheCreationInputTokens,
            cached_tokens=used.cacheReadInputTokens,
            output_tokens=used.outputTokens,
        )
    if line.total_cost_usd:
        yield Cost(usd=line.total_cost_usd)
    for denial in line.permission_denials or ():
        yield tool(denial.tool_name, refused=True)
    ok = not line.is_error and line.subtype == "success"
    if not ok:
        said = line.result or "; ".join(line.errors or ()) or line.subtype or ""
        kind = f"{line.subtype}: " if line.subtype != "success" else ""
        yield from errors(kind + said, line.api_error_status)
    yield Result(ok=ok, text=(line.result or "") if ok else "")


def _argv(call: Call) -> tuple[str, ...]:
    model = ("--model", call.spec.model) if call.spec.model else ()
    return (
        *("claude", "-p", "--output-format", "stream-json", "--verbose"),
        *(("--input-format", "stream-json") if call.steered else ()),
        *_allowed(call.spec.tools),
        *model,
        *call.spec.args,
    )


def _says(text: str) -> bytes:
    """Word a message of the user, which is read between two steps of the model."""
    message = {"role": "user", "content": text}
    return json.dumps({"type": "user", "message": message}).encode() + b"\n"


def _allowed(tools: tuple[str, ...]) -> tuple[str, ...]:
    if not tools:  # the box is the limit, not the question
        return ("--dangerously-skip-permissions",)
    return ("--permission-mode", "dontAsk", f"--allowedTools={','.join(tools)}")


def _sets(call: Call) -> Mapping[str, str]:
    model = call.spec.model or ""
    others = () if not model or model in ROW.aliases else _LARGE
    return {
        **dict.fromkeys(others, model),
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

ROW = Row(
    name="claude-code",
    argv=_argv,
    read=read,
    says=_says,
    vendors=(Vendor("anthropic", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"),),
    also=("CLAUDE_CODE_OAUTH_TOKEN",),
    sets=_sets,
    aliases={
        **{name: f"claude-*{name}*" for name in ("sonnet", "opus", "haiku")},
        **dict.fromkeys(("default", "best", "opusplan"), "claude-*"),
    },
    helpers=("claude-*haiku*",),
    can=Abilities(
        resume="--resume ID",
        usage="output",
        cost="output",
        tools="Bash(git *), Edit, Write",
        limits="Its cost is made up for models that it does not know.",
    ),
    install="npm install -g @anthropic-ai/claude-code",
    sample_model="claude-sonnet-4-5",
)
