"""OpenAI's responses: what brings the model's answer and nothing else.

Left out: tools that run at the vendor, answers, items, prompts and files that lie
there, work in the background, addresses that it would fetch, and dearer ways to be
served.
https://platform.openai.com/docs/api-reference/responses/create
"""

from typing import Literal

from runner.proxy.gateway.schemas.closed_object import Closed, DataUrl, Json, Typed


class _InputText(Typed, frozen=True, tag="input_text"):
    text: str


class _OutputText(Typed, frozen=True, tag="output_text"):
    text: str
    annotations: tuple[None, ...] = ()
    logprobs: list[None] | None = None


class _Refusal(Typed, frozen=True, tag="refusal"):
    refusal: str


class _Image(Typed, frozen=True, tag="input_image"):
    image_url: DataUrl
    detail: str | None = None


class _File(Typed, frozen=True, tag="input_file"):
    file_data: str
    filename: str | None = None


_Part = _InputText | _OutputText | _Refusal | _Image | _File


class _Item(Typed, frozen=True):
    id: str | None = None
    """A name within this request: without `store` the vendor keeps none."""
    status: str | None = None
    internal_chat_message_metadata_passthrough: Json = None
    """What Codex notes for itself."""


class _Message(_Item, frozen=True, kw_only=True, tag="message"):
    role: Literal["user", "assistant", "system", "developer"]
    content: str | list[_Part]
    phase: str | None = None


class _Function(_Item, frozen=True, kw_only=True, tag="function_call"):
    call_id: str
    name: str
    arguments: str
    namespace: str | None = None


class _FunctionOutput(_Item, frozen=True, kw_only=True, tag="function_call_output"):
    call_id: str
    output: str | list[_InputText | _Image | _File]


class _Custom(_Item, frozen=True, kw_only=True, tag="custom_tool_call"):
    call_id: str
    name: str
    input: str
    namespace: str | None = None


class _CustomOutput(_Item, frozen=True, kw_only=True, tag="custom_tool_call_output"):
    call_id: str
    output: str | list[_InputText | _Image | _File]
    name: str | None = None


class _Shell(_Item, frozen=True, kw_only=True, tag="local_shell_call"):
    call_id: str | None = None
    action: Json


class _ShellOutput(_Item, frozen=True, kw_only=True, tag="local_shell_call_output"):
    call_id: str | None = None
    output: str


class _Reasoning(_Item, frozen=True, kw_only=True, tag="reasoning"):
    summary: tuple[Json, ...] = ()
    content: list[Json] | None = None
    encrypted_content: str | None = None


class _Compaction(_Item, frozen=True, kw_only=True, tag="compaction"):
    encrypted_content: str


class _FunctionTool(Typed, frozen=True, tag="function"):
    name: str
    description: str | None = None
    parameters: Json = None
    strict: bool | None = None
    defer_loading: bool | None = None


class _CustomTool(Typed, frozen=True, tag="custom"):
    name: str
    description: str | None = None
    format: Json = None
    defer_loading: bool | None = None


class _Namespace(Typed, frozen=True, kw_only=True, tag="namespace"):
    name: str
    description: str | None = None
    tools: list[_FunctionTool | _CustomTool]


class _ToolSearch(Typed, frozen=True, tag="tool_search"):
    """A search among the agent's own tools, which the agent does."""

    execution: Literal["client"]
    description: str | None = None
    parameters: Json = None


class _LocalShell(Typed, frozen=True, tag="local_shell"):
    pass


_Tool = _FunctionTool | _CustomTool | _Namespace | _ToolSearch | _LocalShell


class _Search(_Item, frozen=True, kw_only=True, tag="tool_search_call"):
    call_id: str | None = None
    execution: Literal["client"]
    arguments: Json


class _Found(_Item, frozen=True, kw_only=True, tag="tool_search_output"):
    call_id: str | None = None
    execution: Literal["client"]
    tools: list[_Tool]


class _MoreTools(_Item, frozen=True, kw_only=True, tag="additional_tools"):
    role: str | None = None
    tools: list[_Tool]


_Listed = (
    _Message
    | _Function
    | _FunctionOutput
    | _Custom
    | _CustomOutput
    | _Shell
    | _ShellOutput
    | _Reasoning
    | _Compaction
    | _MoreTools
    | _Search
    | _Found
)


class _Reasons(Closed, frozen=True):
    effort: str | None = None
    summary: str | None = None
    generate_summary: str | None = None
    context: str | None = None


class _Form(Closed, frozen=True):
    verbosity: str | None = None
    format: Json = None


class _Choice(Closed, frozen=True):
    type: Literal["function", "custom"]
    name: str


class _StreamOptions(Closed, frozen=True):
    include_obfuscation: bool | None = None


class Responses(Closed, frozen=True):
    """`POST /v1/responses`."""

    model: str
    input: str | list[_Listed]
    instructions: str | None = None
    tools: list[_Tool] | None = None
    tool_choice: Literal["none", "auto", "required"] | _Choice | None = None
    parallel_tool_calls: bool | None = None
    reasoning: _Reasons | None = None
    text: _Form | None = None
    include: (
        list[Literal["reasoning.encrypted_content", "message.output_text.logprobs"]]
        | None
    ) = None
    stream: bool | None = None
    stream_options: _StreamOptions | None = None
    max_output_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    truncation: str | None = None
    user: str | None = None
    prompt_cache_key: str | None = None
    safety_identifier: str | None = None
    client_metadata: dict[str, str] | None = None
    service_tier: Literal["auto", "default", "flex"] | None = None
    previous_response_id: None = None
    store: bool | None = None
    background: bool | None = None

    def __post_init__(self) -> None:
        """Refuse what has the right type and the wrong value."""
        if self.store:
            raise ValueError("store=true")
        if self.background:
            raise ValueError("background=true")
