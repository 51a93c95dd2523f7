"""Anthropic's messages: what brings the model's answer and nothing else.

Left out: tools that run at the vendor, MCP servers, containers, files, addresses that
the vendor would fetch, other models to fall back to, and dearer ways to be served.
https://platform.claude.com/docs/en/api/messages
"""

from typing import Literal

from runner.proxy.gateway.schemas.closed_object import Closed, Json, Typed


class _Cache(Closed, frozen=True):
    type: Literal["ephemeral"]
    ttl: str | None = None
    scope: str | None = None


class _Base64(Typed, frozen=True, tag="base64"):
    media_type: str
    data: str


class _Plain(Typed, frozen=True, tag="text"):
    media_type: Literal["text/plain"]
    data: str


class _Text(Typed, frozen=True, tag="text"):
    text: str
    cache_control: _Cache | None = None
    citations: None = None


class _Image(Typed, frozen=True, tag="image"):
    source: _Base64 | None = None
    cache_control: _Cache | None = None


class _Document(Typed, frozen=True, tag="document"):
    source: _Base64 | _Plain | None = None
    title: str | None = None
    context: str | None = None
    cache_control: _Cache | None = None


class _Reference(Typed, frozen=True, tag="tool_reference"):
    """The name of a tool of this very request."""

    tool_name: str
    cache_control: _Cache | None = None


class _Result(Typed, frozen=True, tag="tool_result"):
    tool_use_id: str
    content: str | list[_Text | _Image | _Document | _Reference] | None = None
    is_error: bool | None = None
    cache_control: _Cache | None = None


class _Caller(Closed, frozen=True):
    type: Literal["direct"]


class _Use(Typed, frozen=True, tag="tool_use"):
    id: str
    name: str
    input: Json
    caller: _Caller | None = None
    cache_control: _Cache | None = None


class _Thinking(Typed, frozen=True, tag="thinking"):
    thinking: str
    signature: str


class _Redacted(Typed, frozen=True, tag="redacted_thinking"):
    data: str


class _Compaction(Typed, frozen=True, tag="compaction"):
    content: str | None = None
    cache_control: _Cache | None = None


class _Tool(Closed, frozen=True):
    """A tool that the agent's own machine runs."""

    name: str
    type: (
        Literal[
            "custom",
            "bash_20250124",
            "memory_20250818",
            "text_editor_20250124",
            "text_editor_20250429",
            "text_editor_20250728",
        ]
        | None
    ) = None
    description: str | None = None
    input_schema: Json = None
    input_examples: Json = None
    max_characters: int | None = None
    strict: bool | None = None
    defer_loading: bool | None = None
    eager_input_streaming: bool | None = None
    allowed_callers: list[Literal["direct"]] | None = None
    cache_control: _Cache | None = None


class _Definition(Typed, frozen=True, tag="tool_definition"):
    definition: _Tool


class _Named(Typed, frozen=True, tag="tool_reference"):
    name: str


class _Addition(Typed, frozen=True, tag="tool_addition"):
    """A tool that is offered from this message on."""

    tool: _Definition | _Named
    cache_control: _Cache | None = None


class _Removal(Typed, frozen=True, tag="tool_removal"):
    tool: _Named
    cache_control: _Cache | None = None


_Block = (
    _Text
    | _Image
    | _Document
    | _Result
    | _Use
    | _Thinking
    | _Redacted
    | _Compaction
    | _Addition
    | _Removal
    | _Reference
)


class _Format(Closed, frozen=True):
    type: Literal["json_schema"]
    schema: Json


class _Output(Closed, frozen=True):
    effort: str | None = None
    format: _Format | None = None


class _Message(Closed, frozen=True):
    role: Literal["user", "assistant", "system"]
    content: str | list[_Block]
    output_config: _Output | None = None


class _Choice(Closed, frozen=True):
    type: Literal["auto", "any", "tool", "none"]
    name: str | None = None
    disable_parallel_tool_use: bool | None = None


class _Thought(Closed, frozen=True):
    type: Literal["enabled", "disabled", "adaptive"]
    budget_tokens: int | None = None
    display: str | None = None


class _Edit(Closed, frozen=True):
    """What the vendor leaves out of a long conversation."""

    type: Literal[
        "clear_thinking_20251015", "clear_tool_uses_20250919", "compact_20260112"
    ]
    keep: Json = None
    trigger: Json = None
    clear_at_least: Json = None
    clear_tool_inputs: Json = None
    exclude_tools: list[str] | None = None
    instructions: str | None = None
    pause_after_compaction: bool | None = None


class _Management(Closed, frozen=True):
    edits: tuple[_Edit, ...] = ()


class _Metadata(Closed, frozen=True):
    user_id: str | None = None


class CountTokens(Closed, frozen=True):
    """`POST /v1/messages/count_tokens`."""

    model: str
    messages: list[_Message]
    system: str | list[_Text] | None = None
    tools: list[_Tool] | None = None
    tool_choice: _Choice | None = None
    thinking: _Thought | None = None
    context_management: _Management | None = None
    output_config: _Output | None = None
    cache_control: _Cache | None = None


class Messages(CountTokens, frozen=True, kw_only=True):
    """`POST /v1/messages`."""

    max_tokens: int
    stream: bool | None = None
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    stop_sequences: list[str] | None = None
    metadata: _Metadata | None = None
    service_tier: Literal["auto", "standard_only"] | None = None
