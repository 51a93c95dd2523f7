"""OpenAI's chat completions.

https://platform.openai.com/docs/api-reference/chat
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from tests.world.vendor.conversation import (
    Asked,
    Frames,
    Say,
    Tool,
    Turn,
    data,
    halves,
    joined,
    tokens,
    tool,
)

_DONE: Final = b"data: [DONE]\n\n"
_FAULTS: Final = {
    401: ("invalid_request_error", "invalid_api_key", "Incorrect API key provided."),
    429: ("requests", "rate_limit_exceeded", "Rate limit reached for requests."),
}
_FAULT: Final = (
    "server_error",
    None,
    "The server had an error while processing your request. Sorry about that!",
)


def read(body: Mapping[str, Any]) -> Asked:
    messages = [each for each in body.get("messages") or () if isinstance(each, dict)]
    by_model = [m for m in messages if m.get("role") == "assistant"]
    return Asked(
        model=str(body.get("model", "")),
        text=joined(messages),
        said=joined(by_model),
        results=sum(message.get("role") == "tool" for message in messages),
        tools=tuple(_tools(body)),
        stream=body.get("stream") is True,
    )


def _tools(body: Mapping[str, Any]) -> Iterator[Tool]:
    for each in body.get("tools") or ():
        function = each.get("function") or {}
        yield tool(function.get("name"), function.get("parameters"))


def whole(asked: Asked, turn: Turn) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": None}
    match turn:
        case Say(text):
            message["content"] = text
        case _:
            message["tool_calls"] = [_call(turn.id, turn.name, _arguments(turn))]
    choice = {"index": 0, "message": message, "finish_reason": _end(turn)}
    return {
        **_frame(asked, "chat.completion", choice),
        "usage": _usage(asked, turn),
    }


def frames(asked: Asked, turn: Turn) -> Frames:
    begun: dict[str, Any] = {"role": "assistant", "content": ""}
    bodies: list[dict[str, Any]] = []
    match turn:
        case Say(text):
            bodies = [{"content": part} for part in halves(text)]
        case _:
            begun["tool_calls"] = [{"index": 0, **_call(turn.id, turn.name, "")}]
            for part in halves(_arguments(turn)):
                function = {"arguments": part}
                bodies.append({"tool_calls": [{"index": 0, "function": function}]})
    used = _frame(asked, "chat.completion.chunk") | {"usage": _usage(asked, turn)}
    return Frames(
        head=(_chunk(asked, begun),),
        body=tuple(_chunk(asked, delta) for delta in bodies),
        tail=(_chunk(asked, {}, _end(turn)), data(used), _DONE),
    )


def _chunk(asked: Asked, delta: Mapping[str, Any], end: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": end}
    return data(_frame(asked, "chat.completion.chunk", choice))


def _frame(asked: Asked, kind: str, *choices: object) -> dict[str, Any]:
    return {
        "id": f"chatcmpl-{asked.results}",
        "object": kind,
        "created": 0,
        "model": asked.model,
        "choices": choices,
    }


def _call(identity: str, name: str, arguments: str) -> dict[str, Any]:
    function = {"name": name, "arguments": arguments}
    return {"id": identity, "type": "function", "function": function}


def _arguments(turn: Turn) -> str:
    return "" if isinstance(turn, Say) else json.dumps(turn.arguments)


def _end(turn: Turn) -> str:
    return "stop" if isinstance(turn, Say) else "tool_calls"


def _usage(asked: Asked, turn: Turn) -> dict[str, Any]:
    used = tokens(asked, turn)
    return {
        "prompt_tokens": used.read,
        "completion_tokens": used.written,
        "total_tokens": used.total,
        "prompt_tokens_details": {"cached_tokens": 0},
    }


def fault(status: int, wait_s: int | None) -> dict[str, Any]:
    """Return an error's body; OpenAI's responses have the same."""
    kind, code, text = _FAULTS.get(status, _FAULT)
    if wait_s is not None:
        text += f" Please try again in {wait_s}s."
    return {"error": {"message": text, "type": kind, "param": None, "code": code}}
