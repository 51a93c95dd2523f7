"""One conversation as each dialect sends it: a tool was called once."""

from typing import Any, Final

ANTHROPIC: Final[dict[str, Any]] = {
    "model": "m", "stream": True,
    "system": [{"type": "text", "text": "Be good."}],
    "messages": [
        {"role": "user", "content": "Fix it"},
        {"role": "assistant", "content": [{"type": "text", "text": "I will"},
            {"type": "tool_use", "id": "1", "name": "Bash", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "content": "ok"}]},
    ],
    "tools": [{"name": "Bash", "input_schema": {"properties": {"command": {}}}}],
}  # fmt: skip
CHAT: Final[dict[str, Any]] = {
    "model": "m", "stream": True,
    "messages": [
        {"role": "system", "content": "Be good."},
        {"role": "user", "content": [{"type": "text", "text": "Fix it"}]},
        {"role": "assistant", "content": "I will", "tool_calls": []},
        {"role": "tool", "tool_call_id": "1", "content": "ok"},
    ],
    "tools": [{"function": {"name": "Bash",
        "parameters": {"properties": {"command": {}}}}}],
}  # fmt: skip
RESPONSES: Final[dict[str, Any]] = {
    "model": "m", "stream": True, "instructions": "Be good.",
    "input": [
        {"type": "message", "role": "user",
            "content": [{"type": "input_text", "text": "Fix it"}]},
        {"type": "message", "role": "assistant",
            "content": [{"type": "output_text", "text": "I will"}]},
        {"type": "function_call", "call_id": "1", "name": "Bash", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "1", "output": "ok"},
    ],
    "tools": [{"type": "function", "name": "Bash",
        "parameters": {"properties": {"command": {}}}}],
}  # fmt: skip
GEMINI: Final[dict[str, Any]] = {
    "systemInstruction": {"parts": [{"text": "Be good."}]},
    "contents": [
        {"role": "user", "parts": [{"text": "Fix it"}]},
        {"role": "model", "parts": [{"text": "I will"}, {"functionCall": {}}]},
        {"role": "user", "parts": [{"functionResponse": {"response": {"out": "ok"}}}]},
    ],
    "tools": [{"functionDeclarations": [
        {"name": "Bash", "parametersJsonSchema": {"properties": {"command": {}}}}]}],
}  # fmt: skip
