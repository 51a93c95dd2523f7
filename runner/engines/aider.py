"""Aider: prose only, and exit status 0 whatever happened.

https://aider.chat/docs/scripting.html
"""

import re
from collections.abc import Iterator

from runner.box.supervisor import Stream
from runner.engines import engine_events as events
from runner.engines.engine_events import Said, at, counted, pick
from runner.engines.row import Call, Row, Vendor, provided

_LOG = "analytics.jsonl"
_ERROR = re.compile(r"litellm\.(\w+): (.*)")
_APPLIED = re.compile(r"Applied edit to (.+)")
_TOKENS = re.compile(r"Tokens: [0-9][0-9.,]*[kM]? sent\b")
_STATUS = {
    "AuthenticationError": 401,
    "PermissionDeniedError": 403,
    "NotFoundError": 404,
    "RateLimitError": 429,
    "InternalServerError": 500,
    "BadGatewayError": 502,
    "ServiceUnavailableError": 503,
    "APIConnectionError": 503,
    "APIError": 500,
    "Timeout": 504,
    "BadRequestError": 400,
    "ContextWindowExceededError": 400,
}


def read(stream: Stream, text: str) -> Iterator[Said]:
    if stream == "err":
        yield from events.program(text)
    elif found := _ERROR.match(text):
        yield events.error(text, _STATUS.get(found[1]))
    elif found := _APPLIED.fullmatch(text):
        yield events.ToolUse(name="edit", about=found[1][:200])
    elif _TOKENS.match(text):
        yield from events.program(text)
        yield events.Result(ok=True)
    else:
        yield from events.agent(text)


def recount(text: str) -> Iterator[Said]:
    """Understand the analytics log, which stays on this machine."""
    for line in text.splitlines():
        logged = events.parsed(line)
        if at(logged, "event") == "message_send":
            sent = at(logged, "properties")
            model = pick(sent, "main_model", "")
            yield counted(
                sent, model, read="prompt_tokens", written="completion_tokens"
            )
            if cost := pick(sent, "cost", 0.0):
                yield events.Cost(usd=cost)


def _argv(call: Call) -> tuple[str, ...]:
    home = call.home
    model = call.spec.model
    if model and call.vendor.secret:
        model = f"openai/{call.model}"  # in OpenAI's dialect
    return (
        *("aider", "--message-file", str(call.prompt)),
        *("--yes-always", "--no-auto-commits", "--no-dirty-commits"),
        *("--no-stream", "--no-pretty", "--edit-format", "diff"),
        *("--no-check-update", "--no-show-release-notes", "--no-gitignore"),
        *("--analytics-disable", "--analytics-log", str(home / _LOG)),
        *("--chat-history-file", str(home / "chat.md")),
        *("--input-history-file", str(home / "input")),
        *("--timeout", "300"),
        *(("--model", model) if model else ()),
        *call.spec.args,
    )


_SETS = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "PYTHONUNBUFFERED": "1"}
_FILES = {".aider/caches/model_prices_and_context_window.json": '{"none": {}}'}
"""A price list, for without one Aider waits for one from the network."""

_CHAT = Vendor("chat", "OPENAI_API_KEY", "OPENAI_API_BASE", path="/v1")

ROW = Row(
    name="aider",
    argv=_argv,
    read=read,
    prompt="argument",
    vendors=(
        _CHAT,
        Vendor(
            "anthropic",
            "ANTHROPIC_API_KEY",
            "ANTHROPIC_API_BASE",
            models=("anthropic/", "claude", "sonnet", "opus", "haiku"),
        ),
        Vendor(
            "gemini",
            "GEMINI_API_KEY",
            "GEMINI_API_BASE",
            path="/v1beta",
            models=("gemini",),
        ),
        provided("openrouter", _CHAT),
    ),
    sets=lambda _call: _SETS,
    files=lambda _call: _FILES,
    leaves=_LOG,
    aliases={
        **dict.fromkeys(("4", "4o", "4-turbo", "35turbo", "35-turbo", "3"), "gpt-*"),
        **{name: f"claude-*{name}*" for name in ("sonnet", "opus", "haiku")},
        "gemini": "gemini-*",
    },
    recount=recount,
    litter=(".aider*",),
    install="pipx install aider-chat",
    sample_model="openai/gpt-4o",
)
