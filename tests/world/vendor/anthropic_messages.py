"""Anthropic's messages.

https://docs.anthropic.com/en/api/messages-streaming
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
    event,
    halves,
    joined,
    tokens,
    tool,
)

_FAULTS: Final = {
    401: ("authentication_error", "invalid x-api-key"),
    429: ("rate_limit_error", "This request would exceed your account's rate limit."),
    529: ("overloaded_error", "Overloaded"),
}
_FAULT: Final = ("api_error", "Internal server error")


def read(body: Mapping[str, Any]) -> Asked:
    messages = [*_all(body.get("messages"))]
    by_model = [m for m in messages if m.get("role") == "assistant"]
    system = {"content": body.get("system")}
    blocks = (block for each in messages for block in _all(each.get("content")))
    return Asked(
        model=str(body.get("model", "")),
        text=joined((system, *messages)),
        said=joined(by_model),
        results=sum(block.get("type") == "tool_result" for block in blocks),
        tools=tuple(_tools(body)),
        stream=body.get("stream") is True,
    )


def _tools(body: Mapping[str, Any]) -> Iterator[Tool]:
    for each in _all(body.get("tools")):
        yield tool(each.get("name"), each.get("input_schema"))


def _all(value: object) -> Iterator[Mapping[str, Any]]:
    if isinstance(value, list):
        yield from (each for each in value if isinstance(each, dict))


def whole(asked: Asked, turn: Turn) -> dict[str, Any]:
    used = tokens(asked, turn)
    content: dict[str, Any]
    match turn:
        case Say(text):
            content = {"type": "text", "text": text}
        case _:
            content = {
                "type": "tool_use",
                "id": f"toolu_{turn.id}",
                "name": turn.name,
                "input": dict(turn.arguments),
            }
    return {
        "id": f"msg_{asked.results}",
        "type": "message",
        "role": "assistant",
        "model": asked.model,
        "content": [content],
        "stop_reason": "end_turn" if isinstance(turn, Say) else "tool_use",
        "stop_sequence": None,
        "usage": {
            "input_tokens": used.read,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
            "output_tokens": used.written,
        },
    }


def frames(asked: Asked, turn: Turn) -> Frames:
    message = whole(asked, turn)
    (content,) = message["content"]
    empty: dict[str, Any] = {"text": ""} if isinstance(turn, Say) else {"input": {}}
    begun = message | {"content": [], "stop_reason": None}
    ended = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    return Frames(
        head=(
            event({"type": "message_start", "message": begun}),
            _block("start", content_block=content | empty),
        ),
        body=tuple(_block("delta", delta=delta) for delta in _deltas(turn)),
        tail=(
            _block("stop"),
            event({"type": "message_delta", "delta": ended, "usage": message["usage"]}),
            event({"type": "message_stop"}),
        ),
    )


def _block(what: str, **more: object) -> bytes:
    return event({"type": f"content_block_{what}", "index": 0, **more})


def _deltas(turn: Turn) -> Iterator[dict[str, str]]:
    if isinstance(turn, Say):
        yield from ({"type": "text_delta", "text": part} for part in halves(turn.text))
    else:
        for part in halves(json.dumps(turn.arguments)):
            yield {"type": "input_json_delta", "partial_json": part}


def fault(status: int, _wait_s: int | None) -> dict[str, Any]:
    """Return an error's body. https://docs.anthropic.com/en/api/errors ."""
    kind, text = _FAULTS.get(status, _FAULT)
    return {"type": "error", "error": {"type": kind, "message": text}}
