"""The differences of vendors: how they take a key, and how they word an error."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

from runner.proxy.proxy_protocol import Dialect, Model

KEY_HEADERS: Final = ("authorization", "x-api-key", "api-key", "x-goog-api-key")
_OPENAI: Final = "authorization"
_HEADERS: Final[Mapping[Dialect, str]] = {
    "anthropic": "x-api-key",
    "chat": _OPENAI,
    "responses": _OPENAI,
    "gemini": "x-goog-api-key",
}
"""https://platform.claude.com/docs/en/api/overview
https://platform.openai.com/docs/api-reference/authentication
https://ai.google.dev/api"""


def key_header(model: Model) -> tuple[str, str]:
    """Return the header that carries the real key."""
    name = _OPENAI if model.bearer else _HEADERS[model.dialect]
    return name, f"Bearer {model.key}" if name == _OPENAI else model.key


def said_no(dialect: Dialect, status: HTTPStatus, why: str) -> dict[str, Any]:
    """Return the body of an error, in the vendor's own form."""
    match dialect:
        case "anthropic":
            kind = _ANTHROPIC_KINDS.get(status, "api_error")
            return {"type": "error", "error": {"type": kind, "message": why}}
        case "gemini":
            kind = _GEMINI_KINDS.get(status, "UNKNOWN")
            return {"error": {"code": status, "message": why, "status": kind}}
        case _:
            kind = _OPENAI_KINDS.get(status, "server_error")
            error = {"message": why, "type": kind, "param": None, "code": kind}
            return {"error": error}


_ANTHROPIC_KINDS: Final[Mapping[int, str]] = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    404: "not_found_error",
    413: "request_too_large",
}
_OPENAI_KINDS: Final[Mapping[int, str]] = {
    400: "invalid_request_error",
    401: "invalid_api_key",
    402: "insufficient_quota",
    404: "invalid_request_error",
    413: "invalid_request_error",
}
_GEMINI_KINDS: Final[Mapping[int, str]] = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    402: "RESOURCE_EXHAUSTED",
    404: "NOT_FOUND",
    413: "INVALID_ARGUMENT",
    502: "UNAVAILABLE",
}
