"""Requests by which an agent would use its vendor as a way out, or its key for more.

Each is one that a vendor's API takes.
"""

from copy import deepcopy
from functools import reduce
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


_IN_A_MESSAGE: Final = "messages[].content[]"
_IMAGE: Final = f"; {_IN_A_MESSAGE}.type=image"
_DOCUMENT: Final = f"; {_IN_A_MESSAGE}.type=document"
_RESULT: Final = (
    f"; {_IN_A_MESSAGE}.type=tool_result; {_IN_A_MESSAGE}.content[].type=image"
)
_FILE: Final = f"; {_IN_A_MESSAGE}.type=file"
_PICTURE: Final = f"; {_IN_A_MESSAGE}.type=image_url"
_INPUT: Final = "; input[].role=user; input[].content[].type="

ATTACKS: Final[dict[Dialect, tuple[str, ...]]] = {
    "anthropic": (
        *("mcp_servers", "container", "speed", "fallbacks", "service_tier=priority"),
        *("made_up", "messages[].made_up", "model=dearest-1"),
        *("tools[].type=web_fetch_20250910", "tools[].type=web_search_20250305"),
        *("tools[].type=code_execution_20250825", "tools[].type=mcp_toolset"),
        "tools[].allowed_callers[]=code_execution_20250825",
        f"{_IN_A_MESSAGE}.source.type=url{_IMAGE}",
        f"{_IN_A_MESSAGE}.source.type=file{_IMAGE}",
        f"{_IN_A_MESSAGE}.source.type=url{_DOCUMENT}",
        f"{_IN_A_MESSAGE}.content[].source.type=url{_RESULT}",
        f"{_IN_A_MESSAGE}.type=container_upload",
        f"{_IN_A_MESSAGE}.type=server_tool_use; messages[].role=assistant",
    ),
    "chat": (
        *("web_search_options", "store=true", "service_tier=priority", "n=100"),
        *("audio", "messages[].audio", "tools[].type=mcp", "made_up"),
        *("model=dearest-1", f"{_IN_A_MESSAGE}.file.file_id{_FILE}"),
        f"{_IN_A_MESSAGE}.image_url.url={URL}{_PICTURE}",
    ),
    "responses": (
        *("background=true", "store=true", "conversation", "prompt", "made_up"),
        *("service_tier=priority", "previous_response_id=resp_1", "model=dearest-1"),
        *("tools[].type=web_search", "tools[].type=web_search_preview"),
        *("tools[].type=mcp", "tools[].type=file_search"),
        *("tools[].type=code_interpreter", "tools[].type=image_generation"),
        "tools[].tools[].type=mcp; tools[].type=namespace",
        "input[].tools[].type=web_search; input[].type=additional_tools",
        *("input[].type=item_reference", "include[]=file_search_call.results"),
        f"input[].content[].image_url={URL}{_INPUT}input_image",
        f"input[].content[].file_id{_INPUT}input_file",
        f"input[].content[].file_url{_INPUT}input_file",
    ),
    "gemini": (
        *("tools[].googleSearch", "tools[].google_search", "tools[].urlContext"),
        *("tools[].codeExecution", "tools[].fileSearch", "tools[].mcpServers"),
        *("contents[].parts[].fileData", "contents[].parts[].file_data"),
        "contents[].parts[].functionResponse.parts[].fileData",
        *("cachedContent", "model", "generationConfig.candidateCount=8", "madeUp"),
    ),
}
"""What is added to the smallest call: a field, as the refusal names it, and after `;`
what must stand beside it."""
ATTACKS["bedrock"] = ATTACKS["vertex"] = ATTACKS["anthropic"]
ATTACKS["gemini-vertex"] = ATTACKS["gemini"]
ATTACKS["code-assist"] = (
    *(f"request.{each}" for each in ATTACKS["gemini"]),
    *("model=dearest-1", "enabled_credit_types"),
)


def attacked(dialect: Dialect, attack: str) -> dict[str, Any]:
    """Return the smallest call with an attack in it."""
    body = deepcopy(BODIES[dialect])
    for each in attack.split("; "):
        path, _, value = each.partition("=")
        *steps, last = path.split(".")
        at = reduce(_within, steps, body)
        worth: object = int(value) if value.isdigit() else value == "true" or value
        at[last.removesuffix("[]")] = [worth] if last.endswith("[]") else worth
    return body


def _within(node: dict[str, Any], step: str) -> dict[str, Any]:
    """Return the object at a step, which is made where there is none."""
    name, is_list = step.removesuffix("[]"), step.endswith("[]")
    if not isinstance(node.get(name), list if is_list else dict):
        node[name] = [{}] if is_list else {}
    found: dict[str, Any] = node[name][0] if is_list else node[name]
    return found
