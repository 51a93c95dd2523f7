"""OpenAI's chat completions: what brings the model's answer and nothing else.

Left out: searches and tools at the vendor, stored answers, files and sounds that lie
there, addresses that it would fetch, more than one answer, and dearer ways to be
served.
https://platform.openai.com/docs/api-reference/chat/create
"""

from typing import Literal

from runner.proxy.gateway.schemas.closed_object import Closed, DataUrl, Json, One, Typed


class _Text(Typed, frozen=True, tag="text"):
    text: str
    cache_control: Json = None


class _Refusal(Typed, frozen=True, tag="refusal"):
    refusal: str


class _Image(Closed, frozen=True):
    url: DataUrl
    detail: str | None = None


class _ImageUrl(Typed, frozen=True, tag="image_url"):
    image_url: _Image


class _Content(Closed, frozen=True):
    file_data: str
    filename: str | None = None


class _File(Typed, frozen=True, tag="file"):
    file: _Content


class _Called(Closed, frozen=True):
    name: str
    arguments: str


class _Function(Typed, frozen=True, tag="function"):
    id: str
    function: _Called
    index: int | None = None


class _Input(Closed, frozen=True):
    name: str
    input: str


class _Custom(Typed, frozen=True, tag="custom"):
    id: str
    custom: _Input
    index: int | None = None


class _Message(Closed, frozen=True):
    role: Literal["system", "developer", "user", "assistant", "tool"]
    content: str | list[_Text | _Refusal | _ImageUrl | _File] | None = None
    name: str | None = None
    refusal: str | None = None
    tool_calls: list[_Function | _Custom] | None = None
    tool_call_id: str | None = None
    reasoning: str | None = None
    reasoning_content: str | None = None
    reasoning_opaque: str | None = None
    reasoning_text: str | None = None


class _Declared(Closed, frozen=True):
    name: str
    description: str | None = None
    parameters: Json = None
    strict: bool | None = None


class _FunctionTool(Typed, frozen=True, tag="function"):
    function: _Declared
    cache_control: Json = None


class _CustomDeclared(Closed, frozen=True):
    name: str
    description: str | None = None
    format: Json = None


class _CustomTool(Typed, frozen=True, tag="custom"):
    custom: _CustomDeclared


class _Name(Closed, frozen=True):
    name: str


class _Choice(Closed, frozen=True):
    type: Literal["function", "custom"]
    function: _Name | None = None
    custom: _Name | None = None


class _StreamOptions(Closed, frozen=True):
    include_usage: bool | None = None
    include_obfuscation: bool | None = None


class _Prediction(Closed, frozen=True):
    type: Literal["content"]
    content: str | list[_Text]


class ChatCompletions(Closed, frozen=True):
    """`POST /v1/chat/completions`."""

    model: str
    messages: list[_Message]
    tools: list[_FunctionTool | _CustomTool] | None = None
    tool_choice: Literal["none", "auto", "required"] | _Choice | None = None
    parallel_tool_calls: bool | None = None
    stream: bool | None = None
    stream_options: _StreamOptions | None = None
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
