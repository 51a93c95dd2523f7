"""The addresses that an agent may ask its vendor for, each built here anew.

An agent may only call a model. The same key also opens files, batches, fine-tuning and
the account's administration, and their use would not be counted. Nothing of what was
asked reaches the vendor as it was written, so no reading of it can lead elsewhere.
"""

import re
from collections.abc import Mapping
from typing import Final, Literal

from msgspec import Struct

from runner.proxy.proxy_protocol import Dialect

KEY_IN_QUERY: Final = "key"
"""The parameter in which Gemini's API takes its key, too."""

Purpose = Literal["answer", "count", "opened"]
"""A model's answer, the count of a request's tokens, or what the configuration opened,
which is not looked into."""


class Route(Struct, frozen=True):
    """An allowed request."""

    purpose: Purpose
    path: str
    """The path, in characters that need no escape."""
    query: str = ""
    model: str = ""
    """The model, where the path names it."""


class _Template(Struct, frozen=True):
    asked: re.Pattern[str]
    """Method and path."""
    purpose: Purpose
    query: frozenset[str] = frozenset()
    """The parameters that may be given, with their values."""


def _template(asked: str, purpose: Purpose, *query: str) -> _Template:
    return _Template(re.compile(asked), purpose, frozenset(query))


_GEMINI: Final = r"POST /v1(?:alpha|beta)?/models/(?P<model>\w[\w.-]*)"
_TEMPLATES: Final[Mapping[Dialect, tuple[_Template, ...]]] = {
    "anthropic": (
        _template(r"POST /v1/messages", "answer", "beta=true"),
        _template(r"POST /v1/messages/count_tokens", "count", "beta=true"),
    ),
    "chat": (_template(r"POST /v1/chat/completions", "answer"),),
    "responses": (_template(r"POST /v1/responses", "answer"),),
    "gemini": (
        _template(_GEMINI + ":generateContent", "answer", "alt=json"),
        _template(_GEMINI + ":streamGenerateContent", "answer", "alt=sse", "alt=json"),
        _template(_GEMINI + ":countTokens", "count", "alt=json"),
    ),
}
"""https://platform.claude.com/docs/en/api/overview
https://platform.openai.com/docs/api-reference
https://ai.google.dev/api"""

_TARGET: Final = re.compile(r"(?P<path>(?:/[\w:@-][\w.:@-]*)+)(?:\?(?P<query>.*))?")
"""A path in plain ASCII, none of whose parts is empty or begins with a dot."""


def route(
    dialect: Dialect, method: str, target: str, opened: frozenset[str] = frozenset()
) -> Route | None:
    """Return what a request is for; None: no agent may ask for it.

    Args:
        dialect: the vendor's API.
        method: the request's method.
        target: the request's target as it was written, which should be a path.
        opened: further methods and paths, such as `GET /v1/models`.
    """
    found = _TARGET.fullmatch(target) if target.isascii() else None
    if found is None:
        return None
    asked = f"{method} {found['path']}"
    given = [each for each in (found["query"] or "").split("&") if each]
    query = [each for each in given if not each.startswith(f"{KEY_IN_QUERY}=")]
    for each in _TEMPLATES.get(dialect, ()):
        if (fits := each.asked.fullmatch(asked)) and each.query.issuperset(query):
            model = fits.groupdict().get("model", "")
            return Route(each.purpose, found["path"], "&".join(query), model)
    return Route("opened", found["path"]) if asked in opened and not query else None
