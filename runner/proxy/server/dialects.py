"""The differences of vendors: how they take a key, allowed paths, error bodies.

An agent may only call a model. The same key also opens files, batches, fine-tuning and
the account's administration, and their use would not be counted.
"""

import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

from msgspec import Struct

from runner.proxy.proxy_protocol import Dialect, Model

KEY_HEADERS: Final = ("authorization", "x-api-key", "api-key", "x-goog-api-key")
KEY_IN_QUERY: Final = "key"
"""The parameter in which Gemini's API takes its key, too."""
_MODELS: Final = r"GET /v1/models(?:/[\w.:@-]+)*"
_GEMINI: Final = r"/v1(?:alpha|beta)?/models"


class DialectRules(Struct, frozen=True):
    """The rules of one dialect."""

    header: str
    asked: re.Pattern[str]
    """Method and path of the allowed requests."""


_OPENAI: Final = "authorization"
SPEECHES: Final[Mapping[Dialect, DialectRules]] = {
    "anthropic": DialectRules(
        "x-api-key", re.compile(rf"POST /v1/messages(?:/count_tokens)?|{_MODELS}")
    ),
    "chat": DialectRules(_OPENAI, re.compile(rf"POST /v1/chat/completions|{_MODELS}")),
    "responses": DialectRules(_OPENAI, re.compile(rf"POST /v1/responses|{_MODELS}")),
    "gemini": DialectRules(
        "x-goog-api-key",
        re.compile(
            rf"POST {_GEMINI}/[\w.-]+:(?:generateContent|streamGenerateContent"
            rf"|countTokens)|GET {_GEMINI}(?:/[\w.-]+)?"
        ),
    ),
}
"""https://platform.claude.com/docs/en/api/overview
https://platform.openai.com/docs/api-reference/authentication
https://ai.google.dev/api"""


def may_ask(dialect: Dialect, method: str, path: str) -> bool:
    """Whether an agent may ask for a path, decoded; no segment of it may be `..`.

    A vendor would resolve `/v1/models/../files` to a path that is not listed here.
    """
    climbs = any(each in ("", ".", "..") for each in path[1:].split("/"))
    asked = SPEECHES[dialect].asked.fullmatch(f"{method} {path}")
    return asked is not None and not climbs


def key_header(model: Model) -> tuple[str, str]:
    """Return the header that carries the real key."""
    name = _OPENAI if model.bearer else SPEECHES[model.dialect].header
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
    401: "authentication_error",
    402: "billing_error",
    404: "not_found_error",
    413: "request_too_large",
}
_OPENAI_KINDS: Final[Mapping[int, str]] = {
    401: "invalid_api_key",
    402: "insufficient_quota",
    404: "invalid_request_error",
    413: "invalid_request_error",
}
_GEMINI_KINDS: Final[Mapping[int, str]] = {
    401: "UNAUTHENTICATED",
    402: "RESOURCE_EXHAUSTED",
    404: "NOT_FOUND",
    413: "INVALID_ARGUMENT",
    502: "UNAVAILABLE",
}
