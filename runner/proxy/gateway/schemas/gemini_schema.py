"""Gemini's generateContent: what brings the model's answer and nothing else.

Left out: searches, maps, addresses and code at the vendor, files and contents that lie
there, and more than one answer. The API takes names as in JSON and as in protobuf; of
the latter, those are here that engines send.
https://ai.google.dev/api/generate-content
"""

from typing import Literal

from msgspec import field

from runner.proxy.gateway.schemas.closed_object import Closed, Json, One


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


class _Part(Closed, frozen=True, rename="camel"):
    text: str | None = None
    thought: bool | None = None
    thought_signature: str | None = None
    inline_data: _Data | None = None
    protobuf_data: _ProtobufData | None = field(default=None, name="inline_data")
    function_call: _Call | None = None
    function_response: _Response | None = None


class _Content(Closed, frozen=True):
    parts: tuple[_Part, ...] = ()
    role: str | None = None


class _Declared(Closed, frozen=True, rename="camel"):
    name: str
    description: str | None = None
    behavior: str | None = None
    parameters: Json = None
    parameters_json_schema: Json = None
    response: Json = None
    response_json_schema: Json = None


class _Tool(Closed, frozen=True, rename="camel"):
    function_declarations: list[_Declared] | None = None


class _Calling(Closed, frozen=True, rename="camel"):
    mode: str | None = None
    allowed_function_names: list[str] | None = None


class _ToolConfig(Closed, frozen=True, rename="camel"):
    function_calling_config: _Calling | None = None


class _Safety(Closed, frozen=True):
    category: str
    threshold: str


class _Thinking(Closed, frozen=True, rename="camel"):
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
    thinking_config: _Thinking | None = None


class GenerateContent(Closed, frozen=True, rename="camel"):
    """`POST /v1beta/models/MODEL:generateContent` and `:streamGenerateContent`."""

    contents: list[_Content]
    system_instruction: _Content | None = None
    protobuf_instruction: _Content | None = field(
        default=None, name="system_instruction"
    )
    tools: list[_Tool] | None = None
    tool_config: _ToolConfig | None = None
    safety_settings: list[_Safety] | None = None
    generation_config: _Generation | None = None


class CountTokens(Closed, frozen=True):
    """`POST /v1beta/models/MODEL:countTokens`."""

    contents: list[_Content]
