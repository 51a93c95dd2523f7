"""Gemini's generateContent.

https://ai.google.dev/api/generate-content
"""

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
    tokens,
    tool,
)

_FAULTS: Final = {
    401: ("UNAUTHENTICATED", "Request had invalid authentication credentials."),
    429: ("RESOURCE_EXHAUSTED", "Resource has been exhausted (e.g. check quota)."),
}
_FAULT: Final = ("INTERNAL", "An internal error has occurred. Please retry.")
_RETRY: Final = "type.googleapis.com/google.rpc.RetryInfo"


def read(body: Mapping[str, Any]) -> Asked:
    """Read a request; the URL, not the body, names the model and the streaming."""
    contents = [each for each in body.get("contents") or () if isinstance(each, dict)]
    system = body.get("systemInstruction")
    turns = [system, *contents] if isinstance(system, dict) else contents
    by_model = [turn for turn in contents if turn.get("role") == "model"]
    parts = [part for turn in contents for part in _parts(turn)]
    return Asked(
        model="",
        text="\n".join(text for turn in turns for text in _texts(turn)),
        said="\n".join(text for turn in by_model for text in _texts(turn)),
        results=sum("functionResponse" in part for part in parts),
        tools=tuple(_tools(body)),
    )


def _parts(turn: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    parts = turn.get("parts") or ()
    yield from (part for part in parts if isinstance(part, dict))


def _texts(turn: Mapping[str, Any]) -> Iterator[str]:
    for part in _parts(turn):
        if "text" in part:
            yield str(part["text"])
        if "functionResponse" in part:
            yield str(part["functionResponse"].get("response", ""))


def _tools(body: Mapping[str, Any]) -> Iterator[Tool]:
    for group in body.get("tools") or ():
        for each in group.get("functionDeclarations") or ():
            schema = each.get("parametersJsonSchema") or each.get("parameters")
            yield tool(each.get("name"), schema)


def whole(asked: Asked, turn: Turn) -> dict[str, Any]:
    return _piece(asked, _part(turn), turn)


def frames(asked: Asked, turn: Turn) -> Frames:
    """Return an answer as events; a tool call is one piece, as at Google."""
    parts: list[dict[str, Any]]
    match turn:
        case Say(text):
            parts = [{"text": part} for part in halves(text)]
        case _:
            parts = [_part(turn)]
    body = tuple(data(_piece(asked, part, None)) for part in parts)
    return Frames((), body, (data(_piece(asked, {"text": ""}, turn)),))


def _part(turn: Turn) -> dict[str, Any]:
    match turn:
        case Say(text):
            return {"text": text}
        case _:
            call = {"id": turn.id, "name": turn.name, "args": dict(turn.arguments)}
            return {"functionCall": call}


def _piece(asked: Asked, part: object, ended: Turn | None) -> dict[str, Any]:
    candidate: dict[str, Any] = {
        "index": 0,
        "content": {"role": "model", "parts": [part]},
    }
    if ended is None:
        return {"candidates": [candidate]}
    used = tokens(asked, ended)
    return {
        "candidates": [candidate | {"finishReason": "STOP"}],
        "usageMetadata": {
            "promptTokenCount": used.read,
            "candidatesTokenCount": used.written,
            "totalTokenCount": used.total,
        },
    }


def fault(status: int, wait_s: int | None) -> dict[str, Any]:
    kind, text = _FAULTS.get(status, _FAULT)
    error: dict[str, Any] = {"code": status, "message": text, "status": kind}
    if wait_s is not None:
        error["details"] = [{"@type": _RETRY, "retryDelay": f"{wait_s}s"}]
    return {"error": error}
