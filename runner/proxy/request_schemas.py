"""What a request to each vendor may hold: what brings the model's answer, nothing else.

Each object holds the fields listed and no others. Left out is what runs or lies at the
vendor or is fetched by it, and what costs more than the answer:

- Anthropic's messages: tools that run there, MCP servers, containers, files, addresses,
  other models to fall back to, dearer ways to be served.
  https://platform.claude.com/docs/en/api/messages
- OpenAI's chat completions: searches and tools there, stored answers, files and sounds,
  addresses, more than one answer, dearer ways to be served.
  https://platform.openai.com/docs/api-reference/chat/create
- OpenAI's responses: tools that run there, answers, items, prompts and files that lie
  there, work in the background, addresses, dearer ways to be served.
  https://platform.openai.com/docs/api-reference/responses/create
- Gemini's generateContent: searches, maps, addresses and code there, files and contents
  that lie there, more than one answer. The API takes names as in JSON and as in
  protobuf; of the latter, those are here that engines send.
  https://ai.google.dev/api/generate-content
"""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, field

Json = Any
"""Any JSON: what the vendor only hands back or reads as text, such as the arguments of
a tool or the schema of an answer."""
DataUrl = Annotated[str, Meta(pattern=r"\Adata:")]
"""The content itself, in place of an address from which the vendor would fetch it."""
One = Annotated[int, Meta(ge=1, le=1)]


class Closed(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An object that holds the fields listed and no others."""


class Typed(Closed, frozen=True, kw_only=True, tag_field="type"):
    """One of several objects, told apart by `type`."""


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


class _AnthropicText(Typed, frozen=True, tag="text"):
    text: str
    cache_control: _Cache | None = None
    citations: None = None


class _AnthropicImage(Typed, frozen=True, tag="image"):
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
    content: (
        str | list[_AnthropicText | _AnthropicImage | _Document | _Reference] | None
    ) = None
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


class _AnthropicThinking(Typed, frozen=True, tag="thinking"):
    thinking: str
    signature: str


class _Redacted(Typed, frozen=True, tag="redacted_thinking"):
    data: str


class _AnthropicCompaction(Typed, frozen=True, tag="compaction"):
    content: str | None = None
    cache_control: _Cache | None = None


class _AnthropicTool(Closed, frozen=True):
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
    definition: _AnthropicTool


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
    _AnthropicText
    | _AnthropicImage
    | _Document
    | _Result
    | _Use
    | _AnthropicThinking
    | _Redacted
    | _AnthropicCompaction
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


class _AnthropicMessage(Closed, frozen=True):
    role: Literal["user", "assistant", "system"]
    content: str | list[_Block]
    output_config: _Output | None = None


class _AnthropicChoice(Closed, frozen=True):
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


class AnthropicCountTokens(Closed, frozen=True):
    """`POST /v1/messages/count_tokens`."""

    model: str
    messages: list[_AnthropicMessage]
    system: str | list[_AnthropicText] | None = None
    tools: list[_AnthropicTool] | None = None
    tool_choice: _AnthropicChoice | None = None
    thinking: _Thought | None = None
    context_management: _Management | None = None
    output_config: _Output | None = None
    cache_control: _Cache | None = None


class Messages(AnthropicCountTokens, frozen=True, kw_only=True):
    """`POST /v1/messages`."""

    max_tokens: int
    stream: bool | None = None
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    stop_sequences: list[str] | None = None
    metadata: _Metadata | None = None
    service_tier: Literal["auto", "standard_only"] | None = None


class _ChatText(Typed, frozen=True, tag="text"):
    text: str
    cache_control: Json = None


class _ChatRefusal(Typed, frozen=True, tag="refusal"):
    refusal: str


class _ChatImage(Closed, frozen=True):
    url: DataUrl
    detail: str | None = None


class _ImageUrl(Typed, frozen=True, tag="image_url"):
    image_url: _ChatImage


class _ChatContent(Closed, frozen=True):
    file_data: str
    filename: str | None = None


class _ChatFile(Typed, frozen=True, tag="file"):
    file: _ChatContent


class _Called(Closed, frozen=True):
    name: str
    arguments: str


class _ChatFunction(Typed, frozen=True, tag="function"):
    id: str
    function: _Called
    index: int | None = None


class _Input(Closed, frozen=True):
    name: str
    input: str


class _ChatCustom(Typed, frozen=True, tag="custom"):
    id: str
    custom: _Input
    index: int | None = None


class _ChatMessage(Closed, frozen=True):
    role: Literal["system", "developer", "user", "assistant", "tool"]
    content: str | list[_ChatText | _ChatRefusal | _ImageUrl | _ChatFile] | None = None
    name: str | None = None
    refusal: str | None = None
    tool_calls: list[_ChatFunction | _ChatCustom] | None = None
    tool_call_id: str | None = None
    reasoning: str | None = None
    reasoning_content: str | None = None
    reasoning_opaque: str | None = None
    reasoning_text: str | None = None


class _ChatDeclared(Closed, frozen=True):
    name: str
    description: str | None = None
    parameters: Json = None
    strict: bool | None = None


class _ChatFunctionTool(Typed, frozen=True, tag="function"):
    function: _ChatDeclared
    cache_control: Json = None


class _CustomDeclared(Closed, frozen=True):
    name: str
    description: str | None = None
    format: Json = None


class _ChatCustomTool(Typed, frozen=True, tag="custom"):
    custom: _CustomDeclared


class _Name(Closed, frozen=True):
    name: str


class _ChatChoice(Closed, frozen=True):
    type: Literal["function", "custom"]
    function: _Name | None = None
    custom: _Name | None = None


class _ChatStreamOptions(Closed, frozen=True):
    include_usage: bool | None = None
    include_obfuscation: bool | None = None


class _Prediction(Closed, frozen=True):
    type: Literal["content"]
    content: str | list[_ChatText]


class ChatCompletions(Closed, frozen=True):
    """`POST /v1/chat/completions`."""

    model: str
    messages: list[_ChatMessage]
    tools: list[_ChatFunctionTool | _ChatCustomTool] | None = None
    tool_choice: Literal["none", "auto", "required"] | _ChatChoice | None = None
    parallel_tool_calls: bool | None = None
    stream: bool | None = None
    stream_options: _ChatStreamOptions | None = None
    max_tokens: int | None = None
    max_completion_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    frequency_penalty: float | None = None
    presence_penalty: float | None = None
    stop: str | list[str] | None = None
    seed: int | None = None
    n: One | None = None
    reasoning_effort: str | None = None
    verbosity: str | None = None
    response_format: Json = None
    prediction: _Prediction | None = None
    user: str | None = None
    prompt_cache_key: str | None = None
    safety_identifier: str | None = None
    service_tier: Literal["auto", "default", "flex"] | None = None
    store: bool | None = None

    def __post_init__(self) -> None:
        """Refuse what has the right type and the wrong value."""
        if self.store:
            raise ValueError("store=true")


class _InputText(Typed, frozen=True, tag="input_text"):
    text: str


class _OutputText(Typed, frozen=True, tag="output_text"):
    text: str
    annotations: tuple[None, ...] = ()
    logprobs: list[None] | None = None


class _ResponsesRefusal(Typed, frozen=True, tag="refusal"):
    refusal: str


class _ResponsesImage(Typed, frozen=True, tag="input_image"):
    image_url: DataUrl
    detail: str | None = None


class _ResponsesFile(Typed, frozen=True, tag="input_file"):
    file_data: str
    filename: str | None = None


_ResponsesPart = (
    _InputText | _OutputText | _ResponsesRefusal | _ResponsesImage | _ResponsesFile
)


class _Item(Typed, frozen=True):
    id: str | None = None
    """A name within this request: without `store` the vendor keeps none."""
    status: str | None = None
    internal_chat_message_metadata_passthrough: Json = None
    """What Codex notes for itself."""


class _ResponsesMessage(_Item, frozen=True, kw_only=True, tag="message"):
    role: Literal["user", "assistant", "system", "developer"]
    content: str | list[_ResponsesPart]
    phase: str | None = None


class _ResponsesFunction(_Item, frozen=True, kw_only=True, tag="function_call"):
    call_id: str
    name: str
    arguments: str
    namespace: str | None = None


class _FunctionOutput(_Item, frozen=True, kw_only=True, tag="function_call_output"):
    call_id: str
    output: str | list[_InputText | _ResponsesImage | _ResponsesFile]


class _ResponsesCustom(_Item, frozen=True, kw_only=True, tag="custom_tool_call"):
    call_id: str
    name: str
    input: str
    namespace: str | None = None


class _CustomOutput(_Item, frozen=True, kw_only=True, tag="custom_tool_call_output"):
    call_id: str
    output: str | list[_InputText | _ResponsesImage | _ResponsesFile]
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


class _ResponsesCompaction(_Item, frozen=True, kw_only=True, tag="compaction"):
    encrypted_content: str


class _ResponsesFunctionTool(Typed, frozen=True, tag="function"):
    name: str
    description: str | None = None
    parameters: Json = None
    strict: bool | None = None
    defer_loading: bool | None = None


class _ResponsesCustomTool(Typed, frozen=True, tag="custom"):
    name: str
    description: str | None = None
    format: Json = None
    defer_loading: bool | None = None


class _Namespace(Typed, frozen=True, kw_only=True, tag="namespace"):
    name: str
    description: str | None = None
    tools: list[_ResponsesFunctionTool | _ResponsesCustomTool]


class _ToolSearch(Typed, frozen=True, tag="tool_search"):
    """A search among the agent's own tools, which the agent does."""

    execution: Literal["client"]
    description: str | None = None
    parameters: Json = None


class _LocalShell(Typed, frozen=True, tag="local_shell"):
    pass


_ResponsesTool = (
    _ResponsesFunctionTool
    | _ResponsesCustomTool
    | _Namespace
    | _ToolSearch
    | _LocalShell
)


class _Search(_Item, frozen=True, kw_only=True, tag="tool_search_call"):
    call_id: str | None = None
    execution: Literal["client"]
    arguments: Json


class _Found(_Item, frozen=True, kw_only=True, tag="tool_search_output"):
    call_id: str | None = None
    execution: Literal["client"]
    tools: list[_ResponsesTool]


class _MoreTools(_Item, frozen=True, kw_only=True, tag="additional_tools"):
    role: str | None = None
    tools: list[_ResponsesTool]


_Listed = (
    _ResponsesMessage
    | _ResponsesFunction
    | _FunctionOutput
    | _ResponsesCustom
    | _CustomOutput
    | _Shell
    | _ShellOutput
    | _Reasoning
    | _ResponsesCompaction
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


class _ResponsesChoice(Closed, frozen=True):
    type: Literal["function", "custom"]
    name: str


class _ResponsesStreamOptions(Closed, frozen=True):
    include_obfuscation: bool | None = None


class Responses(Closed, frozen=True):
    """`POST /v1/responses`."""

    model: str
    input: str | list[_Listed]
    instructions: str | None = None
    tools: list[_ResponsesTool] | None = None
    tool_choice: Literal["none", "auto", "required"] | _ResponsesChoice | None = None
    parallel_tool_calls: bool | None = None
    reasoning: _Reasons | None = None
    text: _Form | None = None
    include: (
        list[Literal["reasoning.encrypted_content", "message.output_text.logprobs"]]
        | None
    ) = None
    stream: bool | None = None
    stream_options: _ResponsesStreamOptions | None = None
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


class _Data(Closed, frozen=True, rename="camel"):
    mime_type: str
    data: str
    display_name: str | None = None


class _ProtobufData(Closed, frozen=True):
    mime_type: str
    data: str


class _Call(Closed, frozen=True):
    name: str
    args: Json = None
    id: str | None = None


class _Attached(Closed, frozen=True, rename="camel"):
    inline_data: _Data


class _Response(Closed, frozen=True):
    name: str
    response: Json = None
    id: str | None = None
    parts: list[_Attached] | None = None


class _GeminiPart(Closed, frozen=True, rename="camel"):
    text: str | None = None
    thought: bool | None = None
    thought_signature: str | None = None
    inline_data: _Data | None = None
    protobuf_data: _ProtobufData | None = field(default=None, name="inline_data")
    function_call: _Call | None = None
    function_response: _Response | None = None


class _GeminiContent(Closed, frozen=True):
    parts: tuple[_GeminiPart, ...] = ()
    role: str | None = None


class _GeminiDeclared(Closed, frozen=True, rename="camel"):
    name: str
    description: str | None = None
    behavior: str | None = None
    parameters: Json = None
    parameters_json_schema: Json = None
    response: Json = None
    response_json_schema: Json = None


class _GeminiTool(Closed, frozen=True, rename="camel"):
    function_declarations: list[_GeminiDeclared] | None = None


class _Calling(Closed, frozen=True, rename="camel"):
    mode: str | None = None
    allowed_function_names: list[str] | None = None


class _ToolConfig(Closed, frozen=True, rename="camel"):
    function_calling_config: _Calling | None = None


class _Safety(Closed, frozen=True):
    category: str
    threshold: str


class _GeminiThinking(Closed, frozen=True, rename="camel"):
    include_thoughts: bool | None = None
    thinking_budget: int | None = None
    thinking_level: str | None = None


class _Generation(Closed, frozen=True, rename="camel"):
    temperature: float | None = None
    top_p: float | None = None
    top_k: float | None = None
    max_output_tokens: int | None = None
    stop_sequences: list[str] | None = None
    candidate_count: One | None = None
    seed: int | None = None
    presence_penalty: float | None = None
    frequency_penalty: float | None = None
    response_mime_type: str | None = None
    response_schema: Json = None
    response_json_schema: Json = None
    response_modalities: list[Literal["TEXT"]] | None = None
    thinking_config: _GeminiThinking | None = None


class GenerateContent(Closed, frozen=True, rename="camel"):
    """`POST /v1beta/models/MODEL:generateContent` and `:streamGenerateContent`."""

    contents: list[_GeminiContent]
    system_instruction: _GeminiContent | None = None
    protobuf_instruction: _GeminiContent | None = field(
        default=None, name="system_instruction"
    )
    tools: list[_GeminiTool] | None = None
    tool_config: _ToolConfig | None = None
    safety_settings: list[_Safety] | None = None
    generation_config: _Generation | None = None


class GeminiCountTokens(Closed, frozen=True):
    """`POST /v1beta/models/MODEL:countTokens`."""

    contents: list[_GeminiContent]
