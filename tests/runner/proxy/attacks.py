"""Requests by which an agent would use its vendor as a way out, or its key for more.

Each is one that a vendor's API takes.
"""

from typing import Any, Final

from runner.proxy.proxy_protocol import Dialect

MODEL: Final = "pinned-1"
URL: Final = "https://evil.example/secret"

_USER: Final = {"role": "user", "content": "hello"}
_MESSAGES: Final = {"model": MODEL, "max_tokens": 9, "messages": [_USER]}
_HOSTED: Final = {"max_tokens": 9, "messages": [_USER]}
_CHAT: Final = {"model": MODEL, "messages": [_USER]}
_RESPONSES: Final = {"model": MODEL, "input": "hello", "store": False}
_GEMINI: Final = {"contents": [{"role": "user", "parts": [{"text": "hello"}]}]}

BODIES: Final[dict[Dialect, dict[str, Any]]] = {
    "anthropic": _MESSAGES,
    "bedrock": {**_HOSTED, "anthropic_version": "bedrock-2023-05-31"},
    "vertex": {**_HOSTED, "anthropic_version": "vertex-2023-10-16"},
    "chat": _CHAT,
    "responses": _RESPONSES,
    "gemini": _GEMINI,
    "gemini-vertex": _GEMINI,
    "code-assist": {"model": MODEL, "project": "acme", "request": _GEMINI},
}
"""The smallest call of each dialect; it is let through."""

PATHS: Final[dict[Dialect, str]] = {
    "anthropic": "/v1/messages",
    "bedrock": f"/model/{MODEL}/invoke-with-response-stream",
    "vertex": "/projects/any/locations/any/publishers/anthropic/models/"
    f"{MODEL}:streamRawPredict",
    "chat": "/v1/chat/completions",
    "responses": "/v1/responses",
    "gemini": f"/v1beta/models/{MODEL}:generateContent",
    "gemini-vertex": f"/v1beta1/publishers/google/models/{MODEL}:generateContent",
    "code-assist": "/v1internal:generateContent",
}


def _said(*blocks: dict[str, Any], role: str = "user") -> dict[str, Any]:
    return {"messages": [{"role": role, "content": list(blocks)}]}


def _input(*items: dict[str, Any]) -> dict[str, Any]:
    return {"input": list(items)}


def _parts(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"contents": [{"role": "user", "parts": list(parts)}]}


def _image(**source: str) -> dict[str, Any]:
    return {"type": "image", "source": source}


_RESULT: Final = {"type": "tool_result", "tool_use_id": "a"}

ATTACKS: Final[dict[Dialect, dict[str, dict[str, Any]]]] = {
    "anthropic": {
        "mcp_servers": {"mcp_servers": [{"type": "url", "url": URL, "name": "a"}]},
        "web_fetch": {"tools": [{"type": "web_fetch_20250910", "name": "web_fetch"}]},
        "web_search": {"tools": [{"type": "web_search_20250305", "name": "a"}]},
        "code_execution": {"tools": [{"type": "code_execution_20250825", "name": "a"}]},
        "mcp_toolset": {"tools": [{"type": "mcp_toolset", "mcp_server_name": "a"}]},
        "allowed_callers": {
            "tools": [
                {
                    "name": "a",
                    "input_schema": {},
                    "allowed_callers": ["code_execution_20250825"],
                }
            ]
        },
        "url image": _said(_image(type="url", url=URL)),
        "file image": _said(_image(type="file", file_id="file_1")),
        "url document": _said(
            {"type": "document", "source": {"type": "url", "url": URL}}
        ),
        "url image in a result": _said(
            {**_RESULT, "content": [_image(type="url", url=URL)]}
        ),
        "container_upload": _said({"type": "container_upload", "file_id": "file_1"}),
        "server_tool_use": _said(
            {"type": "server_tool_use", "id": "a", "name": "web_fetch", "input": {}},
            role="assistant",
        ),
        "container": {"container": "container_1"},
        "skills": {"container": {"skills": [{"type": "custom", "skill_id": "a"}]}},
        "fast": {"speed": "fast"},
        "another model": {"model": "dearest-1"},
        "fallback model": {"fallbacks": [{"model": "dearest-1"}]},
        "priority": {"service_tier": "priority"},
        "unknown": {"made_up": 1},
        "unknown in a message": {"messages": [{**_USER, "made_up": 1}]},
    },
    "chat": {
        "url image": _said({"type": "image_url", "image_url": {"url": URL}}),
        "file": _said({"type": "file", "file": {"file_id": "file_1"}}),
        "web_search_options": {"web_search_options": {}},
        "mcp": {"tools": [{"type": "mcp", "server_label": "a", "server_url": URL}]},
        "store": {"store": True},
        "another model": {"model": "dearest-1"},
        "priority": {"service_tier": "priority"},
        "many answers": {"n": 100},
        "audio": {"audio": {"voice": "a", "format": "wav"}},
        "audio of another": {
            "messages": [{"role": "assistant", "audio": {"id": "audio_1"}}]
        },
        "unknown": {"made_up": 1},
    },
    "responses": {
        "background": {"background": True},
        "store": {"store": True},
        "web_search": {"tools": [{"type": "web_search"}]},
        "web_search_preview": {"tools": [{"type": "web_search_preview"}]},
        "mcp": {"tools": [{"type": "mcp", "server_label": "a", "server_url": URL}]},
        "file_search": {"tools": [{"type": "file_search", "vector_store_ids": ["a"]}]},
        "code_interpreter": {
            "tools": [{"type": "code_interpreter", "container": {"type": "auto"}}]
        },
        "image_generation": {"tools": [{"type": "image_generation"}]},
        "within a namespace": {
            "tools": [{"type": "namespace", "name": "a", "tools": [{"type": "mcp"}]}]
        },
        "within the input": _input(
            {"type": "additional_tools", "tools": [{"type": "web_search"}]}
        ),
        "url image": _input(
            {"role": "user", "content": [{"type": "input_image", "image_url": URL}]}
        ),
        "file of another": _input(
            {"role": "user", "content": [{"type": "input_file", "file_id": "file_1"}]}
        ),
        "url file": _input(
            {"role": "user", "content": [{"type": "input_file", "file_url": URL}]}
        ),
        "answer of another": {"previous_response_id": "resp_1"},
        "conversation": {"conversation": "conv_1"},
        "prompt of the account": {"prompt": {"id": "pmpt_1"}},
        "item of another": _input({"type": "item_reference", "id": "msg_1"}),
        "search results": {"include": ["file_search_call.results"]},
        "another model": {"model": "dearest-1"},
        "priority": {"service_tier": "priority"},
        "unknown": {"made_up": 1},
    },
    "gemini": {
        "google_search": {"tools": [{"googleSearch": {}}]},
        "google_search, as protobuf has it": {"tools": [{"google_search": {}}]},
        "url_context": {"tools": [{"urlContext": {}}]},
        "code_execution": {"tools": [{"codeExecution": {}}]},
        "file_search": {"tools": [{"fileSearch": {"fileSearchStoreNames": ["a"]}}]},
        "mcp": {"tools": [{"mcpServers": [{"name": "a"}]}]},
        "file by address": _parts({"fileData": {"fileUri": URL}}),
        "file by address, as protobuf has it": _parts({"file_data": {"file_uri": URL}}),
        "file in a result": _parts(
            {
                "functionResponse": {
                    "name": "a",
                    "response": {},
                    "parts": [{"fileData": {"fileUri": URL}}],
                }
            }
        ),
        "cached content": {"cachedContent": "cachedContents/1"},
        "another model": {"model": "models/dearest-1"},
        "many answers": {"generationConfig": {"candidateCount": 8}},
        "unknown": {"madeUp": 1},
    },
}
"""What is added to the smallest call, by dialect and name."""
ATTACKS["bedrock"] = ATTACKS["vertex"] = ATTACKS["anthropic"]
ATTACKS["gemini-vertex"] = ATTACKS["gemini"]
ATTACKS["code-assist"] = {
    **{
        name: {"request": {**_GEMINI, **attack}}
        for name, attack in ATTACKS["gemini"].items()
    },
    "another model outside": {"model": "dearest-1"},
    "paid with credits": {"enabled_credit_types": ["GOOGLE_ONE_AI"]},
}
