"""OpenAI's responses.

https://platform.openai.com/docs/api-reference/responses
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
    texts,
    tokens,
    tool,
)
from tests.world.vendor.openai_chat import fault

__all__ = ["fault", "frames", "read", "whole"]

_RESULTS: Final = {"function_call_output", "custom_tool_call_output"}


def read(body: Mapping[str, Any]) -> Asked:
    items = _items(body)
    by_model = [item for item in items if item.get("role") == "assistant"]
    texts = [text for item in items for text in _texts(item)]
    return Asked(
        model=str(body.get("model", "")),
        text="\n".join([str(body.get("instructions") or ""), *texts]),
        said="\n".join(text for item in by_model for text in _texts(item)),
        results=sum(item.get("type") in _RESULTS for item in items),
        tools=tuple(_tools(body)),
        stream=body.get("stream") is True,
    )


def _items(body: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    given = body.get("input")
    if isinstance(given, str):
        return [{"role": "user", "content": given}]
    return [item for item in given or () if isinstance(item, dict)]


def _texts(item: Mapping[str, Any]) -> Iterator[str]:
    yield from texts(item.get("content"))
    yield from texts(item.get("output"))


def _tools(body: Mapping[str, Any]) -> Iterator[Tool]:
    for each in body.get("tools") or ():
        if each.get("type") == "function":
            yield tool(each.get("name"), each.get("parameters"))


def whole(asked: Asked, turn: Turn) -> dict[str, Any]:
    used = tokens(asked, turn)
    return _response(asked, "completed") | {
        "output": [_item(asked, turn, "completed")],
        "usage": {
            "input_tokens": used.read,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": used.written,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": used.total,
        },
    }


def frames(asked: Asked, turn: Turn) -> Frames:
    item = _item(asked, turn, "completed")
    begun = _item(asked, turn, "in_progress")
    head = [
        event({"type": "response.created", "response": _response(asked)}),
        _of_item("response.output_item.added", item=begun),
    ]
    tail = [
        _of_item("response.output_item.done", item=item),
        event({"type": "response.completed", "response": whole(asked, turn)}),
    ]
    match turn:
        case Say(text):
            (part,) = item["content"]
            kind = "response.output_text"
            opened = part | {"text": ""}
            head.append(_of_part("response.content_part.added", item, part=opened))
            done = _of_part(f"{kind}.done", item, text=text)
            tail = [
                done,
                _of_part("response.content_part.done", item, part=part),
                *tail,
            ]
            body = [_of_part(f"{kind}.delta", item, delta=d) for d in halves(text)]
        case _:
            kind, of = "response.function_call_arguments", {"item_id": item["id"]}
            tail = [_of_item(f"{kind}.done", **of, arguments=item["arguments"]), *tail]
            body = [
                _of_item(f"{kind}.delta", **of, delta=delta)
                for delta in halves(item["arguments"])
            ]
    return Frames(tuple(head), tuple(body), tuple(tail))


def _response(asked: Asked, status: str = "in_progress") -> dict[str, Any]:
    return {
        "id": f"resp_{asked.results}",
        "object": "response",
        "created_at": 0,
        "model": asked.model,
        "status": status,
        "error": None,
        "incomplete_details": None,
        "output": [],
        "usage": None,
    }


def _item(asked: Asked, turn: Turn, status: str) -> dict[str, Any]:
    complete = status == "completed"
    identity = f"item_{asked.results}"
    if isinstance(turn, Say):
        part = {"type": "output_text", "text": turn.text, "annotations": []}
        content = [part] if complete else []
        return {
            "id": identity,
            "type": "message",
            "role": "assistant",
            "status": status,
            "content": content,
        }
    return {
        "id": identity,
        "type": "function_call",
        "call_id": turn.id,
        "name": turn.name,
        "arguments": json.dumps(turn.arguments) if complete else "",
        "status": status,
    }


def _of_item(kind: str, **more: object) -> bytes:
    return event({"type": kind, "output_index": 0, **more})


def _of_part(kind: str, item: Mapping[str, Any], **more: object) -> bytes:
    return _of_item(kind, item_id=item["id"], content_index=0, **more)
